// Updates that wait for a review. Bounded; when it is full the oldest goes, never the newest.

import type { ReviewAt } from '../config/schema.ts'
import { isBoundary, type Waiting } from '../observe/cut.ts'
import type { Entry } from '../observe/entry.ts'
import type { Update } from '../observe/fold.ts'

/** Updates held at most. */
export const BACKLOG_LIMIT = 32

/** Updates that no review saw, and the user's last words among them. */
export interface Gap {
  readonly updates: number
  readonly latest: string | undefined
}

const NO_GAP: Gap = { updates: 0, latest: undefined }

export class Backlog {
  private held: readonly Update[] = []
  private lost = NO_GAP

  /** What waits, oldest first. */
  get updates(): readonly Update[] {
    return this.held
  }

  /** What was given up before it. */
  get gap(): Gap {
    return this.lost
  }

  waiting(reviewAt: ReviewAt): Waiting {
    return {
      entries: this.held.reduce((sum, update) => sum + update.entries.length, 0),
      boundaries: this.held.filter(update => isBoundary(update, reviewAt)).length,
    }
  }

  /** @param limit - room in updates; a cadence of every Nth needs room for N. */
  push(update: Update, limit: number): void {
    const newest = this.held.at(-1)
    if (update.entries.length === 0) {
      // A turn that closes with nothing new only says that what waits is now the end of the work.
      if (newest !== undefined) this.held = [...this.held.slice(0, -1), { ...newest, boundary: update.boundary }]
      return
    }
    this.held = [...this.held, update]
    if (this.held.length > limit) this.drop(this.held[this.held.length - 1 - limit]!.number)
  }

  /** The reviewer has seen everything up to this update. */
  settle(upTo: number): void {
    this.held = this.held.filter(update => update.number > upTo)
    this.lost = NO_GAP
  }

  /** Give up everything up to this update unseen. Returns how many updates that were. */
  drop(upTo: number): number {
    const gone = this.held.filter(update => update.number <= upTo)
    this.held = this.held.filter(update => update.number > upTo)
    const said = gone.flatMap(update => update.entries).findLast(entry => entry.kind === 'user')
    this.lost = { updates: this.lost.updates + gone.length, latest: said?.text ?? this.lost.latest }
    return gone.length
  }

  /** Replace all by one stretch: the transcript as it stands after a rewrite. */
  restart(entries: readonly Entry[], at: Pick<Update, 'number' | 'turn' | 'step'>): void {
    this.held = entries.length === 0 ? [] : [{ ...at, boundary: 'step', mutated: false, final: false, entries }]
    this.lost = NO_GAP
  }
}
