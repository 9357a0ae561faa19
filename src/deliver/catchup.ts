// The bounded wait of the primary for a reviewer that lags. It ends early by anything that makes waiting pointless.

import { within, type Clock } from '../clock.ts'
import type { SyncBacklog } from '../config/schema.ts'

/** The longest that one step waits. */
export const CATCH_UP_MS = 30_000

/** The part of a reviewer that can be waited for. */
export interface Awaitable {
  whenBelow(threshold: number, signal: AbortSignal): Promise<void>
  giveUpWaiting(): void
}

/** Updates unread from which on a step waits; none when it never does. */
export function catchUpThreshold(syncBacklog: SyncBacklog): number | undefined {
  return syncBacklog === 'off' ? undefined : Number(syncBacklog)
}

/**
 * Wait until fewer than `threshold` updates are unread, for {@link CATCH_UP_MS} at most, or until the turn is aborted.
 * Never throws. A wait that ran out is the last until a review succeeds.
 */
export async function catchUp(reviewer: Awaitable, threshold: number, clock: Clock, turn: AbortSignal): Promise<void> {
  const ended = await within(CATCH_UP_MS, turn, clock, signal => reviewer.whenBelow(threshold, signal))
  if (ended === 'late') reviewer.giveUpWaiting()
}
