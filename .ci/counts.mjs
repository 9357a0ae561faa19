// Turns the test runner's report and exit code into the line `N passed, N failed`.

import { readFileSync } from 'node:fs'

const [path, status] = process.argv.slice(2)
const report = JSON.parse(readFileSync(path, 'utf8'))
const passed = report.numPassedTests
// A file that could not be loaded has no test to count, and a skipped test proves nothing.
const broken = report.testResults.filter(file => file.status === 'failed' && file.assertionResults.length === 0).length
let failed = report.numFailedTests + broken + report.numPendingTests + report.numTodoTests
if (failed === 0 && (status !== '0' || passed === 0)) failed = 1
console.log(`${passed} passed, ${failed} failed`)
