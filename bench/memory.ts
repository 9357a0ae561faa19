// What the advisor holds: for each idle session, and over 10,000 updates of one session with a silent reviewer. The same
// host without it is subtracted, so that the log's own growth does not count.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BudgetRow } from './budget.ts'
import { MARKS, SESSIONS, STEPS, type SessionHeap, type UpdateHeap } from './memory-child.ts'
import { mean, slope } from './measure.ts'
import { number, printTable } from './table.ts'

const CHILD = fileURLToPath(new URL('memory-child.ts', import.meta.url))
/** Bytes an update that are noise of the heap: the text of an update of this session has 200, and is held in more than one form. */
const FLAT = 100
/** Updates after which all that is bounded is full. */
const WARM = 2_000
const SHOWN = [500, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000]
/** Readings up to a mark that are taken together: between two of them the conversation may have been made small. */
const AROUND = 10

export async function memory(): Promise<readonly BudgetRow[]> {
  const [bare, advised] = [await child<SessionHeap>('sessions', 'absent'), await child<SessionHeap>('sessions', 'on')]
  const idle = perSession(advised, heap => heap.idle) - perSession(bare, heap => heap.idle)
  const used = perSession(advised, heap => heap.used) - perSession(bare, heap => heap.used)
  printTable(`heap a session, ${number(SESSIONS)} sessions, kB`, ['', 'absent', 'on', 'the advisor\'s'], [
    row('idle, nothing said yet', heap => heap.idle, idle),
    row(`idle after a prompt of ${STEPS} steps`, heap => heap.used, used),
  ])
  const [without, within] = [await child<UpdateHeap>('updates', 'absent'), await child<UpdateHeap>('updates', 'on')]
  const held = within.map((bytes, index) => bytes - without[index]!)
  printTable(`heap of one session over its updates, silent reviewer, means of ${AROUND} readings, kB`, ['updates', 'absent', 'on', 'the advisor\'s'],
    SHOWN.map(mark => [mark, ...[without, within, held].map(heaps => kB(meanAt(heaps, mark)))]))
  const growth = slope(MARKS.map((mark, index) => [mark, held[index]!] as const).filter(([mark]) => mark > WARM))
  return [
    {
      what: 'idle memory', bound: 'under 20 kB a session',
      measured: `${kB(idle, 1)} kB, ${kB(used, 1)} kB after ${STEPS} steps`, met: idle < 20_000 && used < 20_000,
    },
    {
      what: 'memory over 10,000 updates', bound: 'flat',
      measured: `${number(growth)} bytes an update from the ${number(WARM)}th on`, met: growth < FLAT,
    },
  ]

  function row(what: string, pick: (heap: SessionHeap) => number, own: number) {
    return [what, kB(perSession(bare, pick), 1), kB(perSession(advised, pick), 1), kB(own, 1)]
  }
}

function perSession(heap: SessionHeap, pick: (heap: SessionHeap) => number): number {
  return (pick(heap) - heap.before) / SESSIONS
}

function meanAt(heaps: UpdateHeap, mark: number): number {
  const end = MARKS.indexOf(mark) + 1
  return mean(heaps.slice(end - AROUND, end))
}

function kB(bytes: number, decimals = 0): string {
  return number(bytes / 1000, decimals)
}

async function child<T>(...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, ...args])
  return JSON.parse(stdout) as T
}
