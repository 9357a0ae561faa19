// The journal: what an append costs the one who appends, what writing costs the event loop later, and how long a resumed
// session waits for the sums of a large one. The baseline is rendering a line on the spot.

import { execFile } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { systemClock } from '../src/clock.ts'
import { Journal, type ReviewRecord } from '../src/record/journal.ts'
import { QUEUE_LIMIT } from '../src/record/lines.ts'
import { Ledger } from '../src/record/ledger.ts'
import type { BudgetRow } from './budget.ts'
import type { Reading } from './journal-child.ts'
import { collectGarbage, median, percentile } from './measure.ts'
import { number, printTable } from './table.ts'

const CHILD = fileURLToPath(new URL('journal-child.ts', import.meta.url))
const MODEL = 'deepseek-official/deepseek-v4-flash'
const ROUNDS = 40
/** Characters of one delta, and of one result the reviewer looked up. */
const [DELTA, RESULT] = [12_000, 8_000]
const MB = 1_000_000
const FILE_SIZE = 200 * MB

export async function journal(): Promise<readonly BudgetRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-journal-'))
  try {
    const { appends, rendered, line } = await append(folder)
    printTable('one review of 20 kB, µs', ['', 'median', 'p99'], [
      ['append, all that the reviewer waits for', number(median(appends), 2), number(percentile(appends, 99), 2)],
      ['rendering the same line on the spot', number(median(rendered), 2), number(percentile(rendered, 99), 2)],
    ])
    const path = fill(folder, line)
    const [opening, read] = [await child('open', path), await child('read', path)]
    printTable(`a journal of ${number(statSync(path).size / MB)} MB`, ['', 'seconds', 'MB at the peak'], [
      ['a process that reads nothing', number(opening.seconds, 2), number(opening.peak / MB)],
      ['readTotals', number(read.seconds, 2), number(read.peak / MB)],
    ])
    return [
      { what: 'journal, append', bound: 'nothing to wait for', measured: `${number(median(appends), 2)} µs`, met: median(appends) < 20 },
      {
        what: 'journal of 200 MB, read on resume', bound: 'seconds, bounded memory', met: read.seconds < 5 && read.peak - opening.peak < 64 * MB,
        measured: `${number(read.seconds, 2)} s, ${number((read.peak - opening.peak) / MB)} MB more than nothing`,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Microseconds of each append and of each rendering, and a line as it is written. */
async function append(folder: string): Promise<{ appends: number[], rendered: number[], line: string }> {
  const ledger = new Ledger({ clock: systemClock, prices: () => ({}) })
  const account = ledger.of('')
  const made = new Journal({
    folder, slug: 'append', clock: systemClock, totals: () => account.totals, onTrouble: (line) => { throw new Error(line) },
  })
  const [appends, rendered]: [number[], number[]] = [[], []]
  let line = ''
  for (let round = 0; round < ROUNDS; round += 1) {
    collectGarbage()
    for (let index = 0; index < QUEUE_LIMIT; index += 1) {
      const record = review(round * QUEUE_LIMIT + index)
      account.charge(MODEL, { inputTokens: 4_000, outputTokens: 40, cacheReadTokens: 40_000 })
      appends.push(timed(() => made.append(record)))
      rendered.push(timed(() => { line = JSON.stringify({ v: 1, run: made.run, at: 0, totals: account.totals, ...record }) }))
    }
    await made.flush()
  }
  await made.dispose()
  return { appends, rendered, line }
}

function review(update: number): ReviewRecord {
  return {
    kind: 'review', updates: [update, update], shown: [`**agent:** step ${update}`, `[tool result]\n${'const a = "b"\n'.repeat(DELTA / 14)}`],
    replies: [{ text: '', calls: [{ name: 'read', arguments: '{"path":"a.ts"}', answer: 'line of a file\n'.repeat(RESULT / 15) }] }, { text: 'ok', calls: [] }],
    notes: [], end: 'silent', model: MODEL, ms: 900,
    usage: { input: 4_000, output: 40, cacheRead: 40_000, cacheWrite: 0, reasoning: 0 }, cost: { amount: 0.002, currency: 'USD' },
  }
}

function timed(work: () => void): number {
  const start = performance.now()
  work()
  return (performance.now() - start) * 1000
}

/** A file of that size made of one line. */
function fill(folder: string, line: string): string {
  const path = join(folder, 'large.jsonl')
  const block = Buffer.from(`${line}\n`.repeat(100))
  const file = openSync(path, 'w')
  for (let size = 0; size < FILE_SIZE; size += block.length) writeSync(file, block)
  closeSync(file)
  return path
}

async function child(...args: string[]): Promise<Reading> {
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, ...args])
  return JSON.parse(stdout) as Reading
}
