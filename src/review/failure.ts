// What a failed call means for the reviewer: one decision over the host's failure codes, one layer of retries.

import type { LlmFailure, TokenUsage } from '@deepseek-ai/dsh-llm'
import { truncate } from '../text.ts'

/** What has already been tried. */
export interface FailureHistory {
  /** Failed attempts at this batch before this one. */
  readonly attempts: number
  /** Rate limits waited out in a row before this one. */
  readonly waits: number
  /** Batches dropped in a row before this one. */
  readonly drops: number
  /** The conversation was already cleared for this batch. */
  readonly cleared: boolean
}

export type FailureDecision =
  /** Keep the batch, try again after so many milliseconds. */
  | { readonly kind: 'wait', readonly ms: number, readonly reason: string }
  /** Keep the batch and stop until told; `retryMs` when the provider said how long. */
  | { readonly kind: 'pause', readonly retryMs: number | undefined, readonly reason: string }
  | { readonly kind: 'retry', readonly reason: string }
  /** Clear the private conversation, then try the same batch again. */
  | { readonly kind: 'clear', readonly reason: string }
  | { readonly kind: 'drop', readonly reason: string }
  /** Drop a batch that cannot be shown; the reviewer itself is well. */
  | { readonly kind: 'skip', readonly reason: string }
  /** Drop the batch and all that waits behind it. */
  | { readonly kind: 'flush', readonly reason: string }
  | { readonly kind: 'halt', readonly reason: string }
  | { readonly kind: 'no-model', readonly reason: string }

/** The longest provider delay that is waited out; a longer one pauses. */
export const LONGEST_WAIT_MS = 60_000
/** Rate limits in a row after which the reviewer pauses. */
const MAX_WAITS = 6
/** The wait after a rate limit that names no delay; doubled each time. */
const FIRST_WAIT_MS = 2_000
/** Batches lost in a row after which the backlog goes too. */
const MAX_DROPS = 3

const NOTHING: TokenUsage = { inputTokens: 0, outputTokens: 0 }

const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  'SERVER', 'TIMEOUT', 'TRANSPORT', 'EMPTY_RESPONSE', 'MALFORMED_RESPONSE', 'STREAM_CLOSED', 'ABORTED', 'UNKNOWN', 'HTTP_408', 'HTTP_425',
])

/** Decide what a failed call means. The host's codes come from `dsh-llm` and its adapters. */
export function classifyFailure(failure: LlmFailure, history: FailureHistory): FailureDecision {
  const { code, status, providerRetryAfterMs: retryMs } = failure
  const reason = describeFailure(failure)
  if (code === 'NO_ADAPTER' || code === 'UNKNOWN_MODEL') return { kind: 'no-model', reason }
  if (code === 'QUOTA' || status === 402) return { kind: 'pause', retryMs, reason }
  if (code === 'RATE_LIMIT' || status === 429) {
    const ms = retryMs ?? FIRST_WAIT_MS * 2 ** history.waits
    return ms > LONGEST_WAIT_MS || history.waits >= MAX_WAITS ? { kind: 'pause', retryMs, reason } : { kind: 'wait', ms, reason }
  }
  if (code === 'CONTEXT_WINDOW_EXCEEDED') return { kind: history.cleared ? 'skip' : 'clear', reason }
  if (isRejection(status)) return { kind: 'halt', reason }
  if (TRANSIENT_CODES.has(code) || (status !== undefined && status >= 500)) {
    return history.attempts === 0 ? { kind: 'retry', reason } : lose(reason, history)
  }
  return { kind: 'halt', reason }
}

/** The provider will say the same next time. */
function isRejection(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 425
}

function lose(reason: string, history: FailureHistory): FailureDecision {
  return history.drops + 1 >= MAX_DROPS ? { kind: 'flush', reason } : { kind: 'drop', reason }
}

/** What a call was billed, as far as that is known: a request that is refused costs nothing. */
export function billedFor(result: { readonly failure?: LlmFailure, readonly usage: TokenUsage | undefined }): TokenUsage | undefined {
  return result.usage ?? (result.failure !== undefined && isRefused(result.failure) ? NOTHING : undefined)
}

/** No model began to answer. */
function isRefused({ code, status }: LlmFailure): boolean {
  return code === 'NO_ADAPTER' || code === 'UNKNOWN_MODEL' || status !== undefined && status >= 400
}

/** A failure in one line. */
export function describeFailure({ code, status, message }: LlmFailure): string {
  const place = status === undefined || code === `HTTP_${status}` ? '' : ` (HTTP ${status})`
  return `${code}${place}: ${truncate(message.slice(0, 1_000).replace(/\s+/g, ' ').trim(), 200)}`
}
