// What passes between a reviewer and delivery: plain values that neither side owns.

import type { Severity } from './severity.ts'

/** What a finding rests on: words that stand in what the reviewer was shown or read, or in a file. */
export interface Evidence {
  readonly quote: string
  /** As the reviewer named it, relative to the agent's working folder or absolute. */
  readonly path?: string
}

/** A finding as the model gave it, before any guard. */
export interface Finding {
  readonly note: string
  readonly severity: Severity
  readonly evidence?: Evidence
  /** Number of a waiting note of the reviewer's own that this one settles; an empty `note` withdraws it. */
  readonly replaces?: number
}

/** A note that has waited so long that its reviewer is asked about it. */
export interface WaitingNote {
  readonly id: number
  readonly text: string
  readonly severity: Severity
  /** Updates since the one it is about. */
  readonly age: number
}

/** A note the reviewer gave, and its fate in words. */
export interface PastNote {
  readonly text: string
  readonly severity: Severity
  readonly fate: string
}
