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
  /** Under review, or to be shown again after a failure. */
  private taken: readonly Update[] = []
  private held: readonly Update[] = []
  /** Losses that the review under way tells of, and those after it began. */
  private told = NO_GAP
  private untold = NO_GAP

  get size(): number {
    return this.taken.length + this.held.length
  }

  /** The oldest and the newest update that waits. */
  get first(): Update | undefined {
    return this.taken[0] ?? this.held[0]
  }

  get last(): Update | undefined {
    return this.held.at(-1) ?? this.taken.at(-1)
  }

  /** What was given up before the updates taken. */
  get gap(): Gap {
    return this.told
  }

  waiting(reviewAt: ReviewAt): Waiting {
    const all = [...this.taken, ...this.held]
    return {
      entries: all.reduce((sum, update) => sum + update.entries.filter(isWork).length, 0),
      boundaries: all.filter(update => isBoundary(update, reviewAt)).length,
    }
  }

  /**
   * @param limit - room in updates; a cadence of every Nth needs room for N.
   * @returns how many updates had to go for it.
   */
  push(update: Update, limit: number): number {
    const newest = this.held.at(-1)
    if (newest !== undefined && !update.entries.some(isWork)) {
      // A turn that closes with nothing new only says that what waits is now the end of the work.
      this.held = [...this.held.slice(0, -1), { ...newest, boundary: update.boundary, entries: [...newest.entries, ...update.entries] }]
      return 0
    }
    if (update.entries.length === 0) return 0
    this.held = [...this.held, update]
    const older = this.taken.slice(0, Math.max(0, this.size - 2 * limit))
    this.taken = this.taken.slice(older.length)
    const gone = [...older, ...this.held.slice(0, Math.max(0, this.held.length - limit))]
    this.held = this.held.slice(-limit)
    this.untold = widen(this.untold, gone)
    return gone.length
  }

  /** Take everything that waits, oldest first; what a failed review took is among it. */
  take(): readonly Update[] {
    this.taken = [...this.taken, ...this.held]
    this.held = []
    this.told = merge(this.told, this.untold)
    this.untold = NO_GAP
    return this.taken
  }

  /** The reviewer has seen what was taken. Returns it. */
  settle(): readonly Update[] {
    const seen = this.taken
    this.taken = []
    this.told = NO_GAP
    return seen
  }

  /** Give up what was taken, or all that waits. Returns how many updates that were. */
  drop(what: 'taken' | 'all'): number {
    const gone = what === 'all' ? [...this.taken, ...this.held] : this.taken
    this.untold = merge(widen(this.told, gone), this.untold)
    this.taken = []
    this.told = NO_GAP
    if (what === 'all') this.held = []
    return gone.length
  }

  /** Replace all by one stretch: the transcript as it stands after a rewrite. */
  restart(entries: readonly Entry[], at: Pick<Update, 'number' | 'turn' | 'step' | 'final'>): void {
    this.held = entries.length === 0 ? [] : [{ ...at, boundary: 'step', mutated: false, entries }]
    this.taken = []
    this.told = NO_GAP
    this.untold = NO_GAP
  }
}

/** The bare end of a turn is worth telling, but not worth a review. */
function isWork(entry: Entry): boolean {
  return entry.kind !== 'end'
}

function widen(gap: Gap, gone: readonly Update[]): Gap {
  const said = gone.flatMap(update => update.entries).findLast(entry => entry.kind === 'user')
  return merge(gap, { updates: gone.length, latest: said?.text })
}

function merge(older: Gap, newer: Gap): Gap {
  return { updates: older.updates + newer.updates, latest: newer.latest ?? older.latest }
}
