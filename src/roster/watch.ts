// When files are looked at, and what is known of them meanwhile. A look costs a few stats, so it is taken whenever the files
// may matter; it knows no session and no model.

import { orAborted, within, type Clock } from '../clock.ts'
import type { Roster } from './advisor.ts'
import { NO_FILES } from './merge.ts'

/** The longest that anybody waits for a look: a disk that hangs must not end the reviews. */
export const LOOK_MS = 5_000

export interface WatchPort {
  readonly clock: Clock
  /** Never rejects. */
  read(): Promise<Roster>
  /** After every look that found something new; the first one always does. */
  onNews(): void
  report(error: unknown): void
}

/** Looks at the files of one session. Looks that are asked for while one is under way become one. */
export class RosterWatch {
  private readonly port: WatchPort
  private readonly gone = new AbortController()
  private known: Roster | undefined
  private running: Promise<void> | undefined
  private next: Promise<void> | undefined

  constructor(port: WatchPort) {
    this.port = port
  }

  /** What the files said last; none before the first look has ended. */
  get roster(): Roster | undefined {
    return this.known
  }

  /** A look is under way or will follow. */
  get isLooking(): boolean {
    return this.running !== undefined || this.next !== undefined
  }

  /** Resolves when every look asked for so far has ended. Never rejects. */
  get looked(): Promise<void> {
    return this.next ?? this.running ?? Promise.resolve()
  }

  /** Look at the files as they are from now on; resolves when that is known, or cannot be in time. Never rejects. */
  look(): Promise<void> {
    if (this.next !== undefined) return this.next
    if (this.running === undefined) return this.begin()
    // The look under way may have passed the file that has just changed.
    this.next = this.running.then(() => {
      this.next = undefined
      return this.begin()
    })
    return this.next
  }

  /** Nobody is interested any more. */
  dispose(): void {
    this.gone.abort(new Error('the session is gone'))
  }

  private begin(): Promise<void> {
    this.running = this.read().catch((error: unknown) => this.port.report(error)).finally(() => { this.running = undefined })
    return this.running
  }

  private async read(): Promise<void> {
    const reading = this.port.read().then(roster => this.learn(roster)).catch((error: unknown) => this.port.report(error))
    const ended = await within(LOOK_MS, this.gone.signal, this.port.clock, signal => orAborted(reading, signal))
    // What a slow disk says later still counts then.
    if (ended === 'late' && this.known === undefined) this.learn(NO_FILES)
  }

  private learn(roster: Roster): void {
    if (this.gone.signal.aborted || roster === this.known) return
    this.known = roster
    this.port.onNews()
  }
}
