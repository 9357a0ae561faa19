/** Folders of a test's own, gone after it. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export function testFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'advisor-record-')))
  onTestFinished(() => { rmSync(folder, { recursive: true, force: true }) })
  return folder
}
