// What one reviewer's talk with its model needs of the session around it.

import type { Clock } from '../clock.ts'
import type { Finding, WaitingNote } from '../finding.ts'
import type { Entry } from '../observe/entry.ts'
import type { Update } from '../observe/fold.ts'
import type { Hider } from '../observe/hide.ts'
import type { BudgetVerdict } from '../record/budget.ts'
import type { JournalNote, ReviewRecord } from '../record/journal.ts'
import type { CallResult } from './call.ts'
import type { DeskPort } from './desk.ts'
import type { Pinned } from './head.ts'
import type { Route } from './model.ts'

/** The transcript as it stands now, for a conversation that starts over. */
export interface Present {
  readonly entries: readonly Entry[]
  readonly at: Pick<Update, 'number' | 'turn' | 'step' | 'final'>
}

export interface ChatPort extends DeskPort {
  readonly clock: Clock
  pinned(): Pinned
  present(): Present
  /** Notes that wait so long that the reviewer has to say whether they are still true. */
  stale(): readonly WaitingNote[]
  /** Resolves once the user's files are known as they are now. */
  refreshed(): Promise<void>
  /** What hides secrets, the same object until that changes; none when the user switched it off. */
  hider(): Promise<Hider | undefined>
  /** A file of the workspace as it is now, or undefined. */
  readFile(path: string): Promise<string | undefined>
  /** The reviewer was asked about these notes; what it says of them, if anything, comes as findings. */
  onReconfirmed(ids: readonly number[]): void
  /**
   * Findings of one reply, with the number of the newest update the reviewer had seen. Returns what was let through.
   * @param review - the same object for all replies of one review.
   */
  advise(findings: readonly Finding[], update: number, review: object): readonly JournalNote[]
  /** Wait until a call fits into the budget beside those under way. Returns what has to be called when it was charged. */
  reserve(route: Route, tokens: number, signal: AbortSignal): Promise<() => void>
  /** Whether another call may be made, by a guess at the tokens it will take. */
  mayCall(route: Route, tokens: number): BudgetVerdict
  /** A review, or an attempt at one, came to its end. */
  onReviewed(record: ReviewRecord): void
  /** A whole reply was thrown away. */
  onQuarantine(reason: string): void
  isContentFree(text: string): boolean
}

/** The budget does not allow another call. */
export type Exhausted = Extract<BudgetVerdict, { kind: 'exhausted' }>

/** How a review ended. */
export type ReviewEnd =
  | { readonly kind: 'reviewed' }
  | Exhausted
  /** There was nothing to show. */
  | { readonly kind: 'nothing' }
  | Exclude<CallResult, { kind: 'reply' }>
