// Whether what waits is reviewed now or shown with the next update.

import type { ReviewAt } from '../config/schema.ts'
import type { Update } from './fold.ts'

export type CutDecision =
  | { readonly kind: 'review', readonly reason: 'due' }
  | { readonly kind: 'hold', readonly reason: 'nothing new' | 'no boundary' | 'not its turn' }

/** What waits for a review. */
export interface Waiting {
  /** Entries not shown yet. */
  readonly entries: number
  /** Updates among them that fall on a boundary of the cadence. */
  readonly boundaries: number
}

/** Decide over everything that waits. */
export function cutUpdate(waiting: Waiting, reviewEvery: number): CutDecision {
  if (waiting.entries === 0) return { kind: 'hold', reason: 'nothing new' }
  if (waiting.boundaries === 0) return { kind: 'hold', reason: 'no boundary' }
  if (waiting.boundaries < reviewEvery) return { kind: 'hold', reason: 'not its turn' }
  return { kind: 'review', reason: 'due' }
}

/** Whether an update falls on a boundary of the cadence: the end of the work always does. */
export function isBoundary(update: Pick<Update, 'boundary' | 'mutated' | 'final'>, reviewAt: ReviewAt): boolean {
  if (update.final || update.boundary === 'turn') return true
  return reviewAt === 'step' || (reviewAt === 'mutation' && update.mutated)
}
