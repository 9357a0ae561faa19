// What a journal adds up to. It reads any size in little memory, and believes nothing it cannot parse.

import { open } from 'node:fs/promises'
import { addTotals, emptyTotals, readTotalsValue, type Totals } from './totals.ts'

/** The head of a line: all that a reader of sums needs. */
export interface LineHead {
  readonly run: string
  readonly totals: Totals
  /** Everything before `kind`. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** What a journal holds. */
export interface JournalTotals {
  readonly totals: Totals
  /** Processes that wrote it. */
  readonly runs: number
  /** Lines that could not be read, the overlong among them. */
  readonly bad: number
}

/** Bytes of a line that are looked at. */
const HEAD_LIMIT = 64 * 1024
/** A longer line is none of ours. */
const LINE_LIMIT = 8 * 1024 * 1024
const BLOCK = 1024 * 1024
/** Runs that are told apart; the one that began first is closed when there are more. */
const RUNS_LIMIT = 2_048

const NEWLINE = 10
/** Ends the head; cannot stand within a string of JSON. */
const HEAD_END = ',"kind":"'

/**
 * Add up a journal: each line carries what its run had done by then, so the last one of each run is all of it.
 * @param except - a run to leave out: the caller's own.
 * @returns nothing done, when there is no file or it cannot be read.
 */
export async function readTotals(path: string, except?: string): Promise<JournalTotals> {
  const runs = new Map<string, Totals>()
  const totals = emptyTotals()
  let [count, bad] = [0, 0]
  await forEachLine(path, 0, (line) => {
    const head = line === undefined ? undefined : readHead(line)
    if (head === undefined) bad += 1
    if (head === undefined || head.run === except) return
    if (!runs.has(head.run)) count += 1
    runs.set(head.run, head.totals)
    if (runs.size <= RUNS_LIMIT) return
    const [oldest = ''] = runs.keys()
    addTotals(totals, runs.get(oldest)!)
    runs.delete(oldest)
  })
  for (const run of runs.values()) addTotals(totals, run)
  return { totals, runs: count, bad }
}

/**
 * Show every line that is not empty, without its newline and cut to its first 64 kB; undefined stands for one over 8 MB.
 * The bytes are only lent. A file that is not there, or cannot be read further, has no more lines.
 * @param from - where to begin; a line that began before it is skipped.
 */
export async function forEachLine(path: string, from: number, show: (line: Buffer | undefined) => void): Promise<void> {
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return
  try {
    const block = Buffer.allocUnsafe(BLOCK)
    const head = Buffer.allocUnsafe(HEAD_LIMIT)
    /** Of the line under way: bytes so far, and bytes kept. */
    let [length, kept] = [0, 0]
    let skipped = from > 0
    for (let position = Math.max(0, from - 1); ;) {
      const { bytesRead } = await file.read(block, 0, BLOCK, position)
      if (bytesRead === 0) break
      position += bytesRead
      for (let start = 0; start < bytesRead;) {
        const newline = block.subarray(0, bytesRead).indexOf(NEWLINE, start)
        const end = newline < 0 ? bytesRead : newline
        kept += block.copy(head, kept, start, Math.min(end, start + HEAD_LIMIT - kept))
        length += end - start
        if (newline >= 0) finish()
        start = end + 1
      }
    }
    finish()

    function finish() {
      if (length > 0 && !skipped) show(length > LINE_LIMIT ? undefined : head.subarray(0, kept))
      ;[length, kept, skipped] = [0, 0, false]
    }
  } catch {
    // What was read so far counts.
  } finally {
    await file.close()
  }
}

/** Read a line up to its kind. */
export function readHead(line: Buffer): LineHead | undefined {
  const end = line.indexOf(HEAD_END)
  if (end < 0) return undefined
  try {
    const fields = JSON.parse(`${line.toString('utf8', 0, end)}}`) as Record<string, unknown>
    const totals = readTotalsValue(fields.totals)
    return typeof fields.run !== 'string' || totals === undefined ? undefined : { run: fields.run, totals, fields }
  } catch {
    return undefined
  }
}
