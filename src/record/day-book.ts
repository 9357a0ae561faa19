// What all sessions of a host, and of the other hosts on this machine, did on the local day: `usage.jsonl`, a line now and then
// for each process and day, each with all that the process had done on it by then.

import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { localDay, type Clock } from '../clock.ts'
import type { Severity } from '../severity.ts'
import type { OpenToAppend } from './append-file.ts'
import type { Book, Charge } from './ledger.ts'
import { Lines } from './lines.ts'
import { forEachLine, readHead } from './read-totals.ts'
import { addCall, emptyTotals, sumOf, type Counter, type NoteVerdict, type Totals } from './totals.ts'

export interface DayBookPort {
  /** `$DSH_HOME/advisor`, made if it is missing. */
  readonly folder: string
  readonly clock: Clock
  onTrouble(line: string, cause: string): void
  readonly open?: OpenToAppend
}

const NAME = 'usage.jsonl'
/** Least milliseconds between two lines; what a process did since its last one is lost when it is killed. */
export const LINE_EVERY_MS = 60_000
/** Bytes at the end of the file that are read for today. */
const TAIL = 4 * 1024 * 1024

export class DayBook implements Book {
  private readonly port: DayBookPort
  private readonly lines: Lines
  private readonly run = randomBytes(6).toString('hex')
  /** Days begun. A clock that goes back begins one anew. */
  private days = 0
  private day = ''
  private totals = emptyTotals()
  private changed = false
  private writtenAt = -Infinity

  constructor(port: DayBookPort) {
    this.port = port
    const { folder, clock, open } = port
    this.lines = new Lines({ folder, name: NAME, clock, onTrouble: (line, cause) => port.onTrouble(line, cause), ...open === undefined ? {} : { open } })
  }

  count(counter: Counter, by: number): void {
    this.add(({ counts }) => { counts[counter] += by })
  }

  charge({ model, usage, cost }: Charge): void {
    this.add(totals => addCall(totals, model, usage, cost))
  }

  outcome(severity: Severity, what: 'notes' | NoteVerdict, by: number): void {
    // What is taken back today may have been said yesterday.
    this.add(({ outcomes }) => { outcomes[severity][what] = Math.max(0, outcomes[severity][what] + by) })
  }

  /** The local day so far, of this process as it is and of others as they last wrote it down. */
  async today(): Promise<Totals> {
    this.turn()
    const others = new Map<string, Totals>()
    const path = join(this.port.folder, NAME)
    const size = await stat(path).then(stats => stats.size, () => 0)
    await forEachLine(path, Math.max(0, size - TAIL), (line) => {
      const head = line === undefined ? undefined : readHead(line)
      // A day of our own that the clock went back to is in the file only.
      if (head?.fields.day === this.day && head.run !== this.name) others.set(head.run, head.totals)
    })
    return sumOf([this.totals, ...others.values()])
  }

  /** Write what is not written, 2 s at most, and nothing more after it. */
  dispose(): Promise<void> {
    this.write()
    return this.lines.dispose()
  }

  private get name(): string {
    return `${this.run}.${this.days}`
  }

  private add(change: (totals: Totals) => void): void {
    this.turn()
    change(this.totals)
    this.changed = true
    if (Math.abs(this.port.clock.now() - this.writtenAt) >= LINE_EVERY_MS) this.write()
  }

  /** Close a day that is over. */
  private turn(): void {
    const day = localDay(this.port.clock.now())
    if (day === this.day) return
    this.write()
    this.day = day
    this.days += 1
    this.totals = emptyTotals()
    this.writtenAt = -Infinity
  }

  private write(): void {
    if (!this.changed) return
    this.changed = false
    this.writtenAt = this.port.clock.now()
    // The totals of the day as they are when the line is written; those of the next day are others.
    const { name, day, totals, writtenAt } = this
    this.lines.append(() => `{"v":1,"run":"${name}","day":"${day}","at":${writtenAt},"totals":${JSON.stringify(totals)},"kind":"day"}`)
  }
}
