// A note and the places it can stand in between its writing and the session.

import type { MessageId } from '@deepseek-ai/dsh-llm'
import type { Evidence } from '../finding.ts'
import type { Severity } from '../severity.ts'

/** One piece of advice that the emission guard let through. */
export interface Note {
  /** Counts from 1 in each session; what the user names it by. */
  readonly id: number
  readonly text: string
  readonly severity: Severity
  /** What it rests on, as it was found. */
  readonly evidence?: Evidence | undefined
  /** Names of the advisors that found it, the first of them first; none for the one advisor without a roster. */
  readonly advisors: readonly string[]
  /** Number of the newest update the reviewer had seen. */
  readonly update: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

export type NoteState =
  /** Held until the primary stands still enough for a route. */
  | { readonly kind: 'unrouted' }
  /** Waits for the next step, whatever causes it. */
  | { readonly kind: 'aside' }
  /** Shown to the user; waits for their next message. */
  | { readonly kind: 'card', readonly reason: string }
  /** In the host's inbox. */
  | { readonly kind: 'steered', readonly message: MessageId }
  /** Taken from the host's inbox for a step that is being prepared. */
  | { readonly kind: 'claimed', readonly message: MessageId }
  /** Handed to a step that has not begun. */
  | { readonly kind: 'entering', readonly message: MessageId }
  /** In the session's log, so in the model's context. */
  | { readonly kind: 'delivered', readonly turn: number, readonly step: number }
  /** Taken back by its reviewer. */
  | { readonly kind: 'withdrawn' }
  /** Put away by the user: it does not come back. */
  | { readonly kind: 'dismissed' }

/** States in which the primary has not seen the note and may still see it. */
export const UNDELIVERED = ['unrouted', 'aside', 'card', 'steered', 'claimed', 'entering'] as const satisfies readonly NoteState['kind'][]

/** Whether a note is of this advisor, among others perhaps. */
export function isOf({ advisors }: Pick<Note, 'advisors'>, advisor: string | undefined): boolean {
  return advisor === undefined ? advisors.length === 0 : advisors.includes(advisor)
}

/** `[severity]`, with the names of those who gave it. */
export function labelOf({ severity, advisors }: Pick<Note, 'severity' | 'advisors'>): string {
  return advisors.length === 0 ? `[${severity}]` : `[${severity}, ${advisors.join(', ')}]`
}

/** States that say what became of a note, for good or until the user speaks. */
export function isSettled({ kind }: NoteState): boolean {
  return kind === 'delivered' || kind === 'card' || kind === 'withdrawn' || kind === 'dismissed'
}

/** One line on what became of a note, for the user and for its reviewer. */
export function describeState(state: NoteState): string {
  switch (state.kind) {
    case 'unrouted':
    case 'aside': return 'waiting for the next step'
    case 'steered':
    case 'claimed':
    case 'entering': return 'on its way'
    case 'card': return `kept for the user's next message (${state.reason})`
    case 'delivered': return `delivered at step ${state.turn}.${state.step}`
    case 'withdrawn': return 'withdrawn by its reviewer'
    case 'dismissed': return 'dismissed by the user'
  }
}
