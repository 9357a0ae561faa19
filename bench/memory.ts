// What the advisor holds: for each idle session, and over 10,000 updates of one session with a silent reviewer. The same
// host without it is subtracted, so that the log's own growth does not count.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BudgetRow } from './budget.ts'
import { MARKS, SESSIONS, STEPS, type SessionHeap, type UpdateHeap } from './memory-child.ts'
import { number, printTable } from './table.ts'

const CHILD = fileURLToPath(new URL('memory-child.ts', import.meta.url))
/** A held byte or two an update is noise of the heap; a held text is not. */
const FLAT = 20

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
  printTable('heap of one session over its updates, silent reviewer, kB', ['updates', 'absent', 'on', 'the advisor\'s'],
    MARKS.map((mark, index) => [mark, kB(without[index]!), kB(within[index]!), kB(held[index]!)]))
  const slope = (held.at(-1)! - held[0]!) / (MARKS.at(-1)! - MARKS[0]!)
  return [
    {
      what: 'idle memory', bound: 'under 20 kB a session',
      measured: `${kB(idle, 1)} kB, ${kB(used, 1)} kB after ${STEPS} steps`, met: idle < 20_000 && used < 20_000,
    },
    {
      what: 'memory over 10,000 updates', bound: 'flat',
      measured: `${number(slope)} bytes an update, ${kB(held.at(-1)! - held[0]!)} kB from the 1,000th on`, met: slope < FLAT,
    },
  ]

  function row(what: string, pick: (heap: SessionHeap) => number, own: number) {
    return [what, kB(perSession(bare, pick), 1), kB(perSession(advised, pick), 1), kB(own, 1)]
  }
}

function perSession(heap: SessionHeap, pick: (heap: SessionHeap) => number): number {
  return (pick(heap) - heap.before) / SESSIONS
}

function kB(bytes: number, decimals = 0): string {
  return number(bytes / 1000, decimals)
}

async function child<T>(...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, ...args])
  return JSON.parse(stdout) as T
}
