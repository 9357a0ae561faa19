// One reading of a journal in a process of its own: `node journal-child.ts <open|read> <path>`. Prints JSON.

import { readTotals } from '../src/record/read-totals.ts'

export interface Reading {
  readonly seconds: number
  /** Bytes of the process at its largest. */
  readonly peak: number
}

if (import.meta.main) {
  const [what, path = ''] = process.argv.slice(2)
  const start = performance.now()
  if (what === 'read') {
    const { totals, bad } = await readTotals(path)
    if (bad > 0 || Object.keys(totals.models).length === 0) throw new Error('the journal was not read')
  }
  const seconds = (performance.now() - start) / 1000
  console.log(JSON.stringify({ seconds, peak: process.resourceUsage().maxRSS * 1024 } satisfies Reading))
}
