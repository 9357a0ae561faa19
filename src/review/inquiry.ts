// One review under way: what it was shown, what it has asked since, and how much it may still ask.

import type { AssistantMessage, Message } from '@deepseek-ai/dsh-llm'
import type { Batch } from './batch.ts'
import { keyOf, type AskedCall } from './calls.ts'
import { toExchange, type AnsweredCall } from './conversation.ts'

export interface InquiryLimits {
  /** Tool calls in one review. */
  readonly calls: number
  /** Milliseconds one review may last and still ask. */
  readonly ms: number
}

/** What becomes of the calls in a reply. */
export type Asking =
  | { readonly kind: 'run', readonly calls: number }
  /** They are refused, and the reviewer may answer once more. */
  | { readonly kind: 'correct', readonly reason: string }
  /** It was corrected and asks again: the review ends as silence. */
  | { readonly kind: 'end', readonly reason: string }

/** Replies in one review that ask for something. */
const ROUNDS_LIMIT = 12
/** The same call so often in one review is a loop. */
const SAME_CALL_LIMIT = 3

/** What the reviewer is told when it may ask no more. */
export function correction(reason: string): string {
  return `[not run: ${reason}. Call \`advise\` now if you have a finding, else reply \`ok\`]`
}

export class Inquiry {
  readonly batch: Batch
  /** Numbers of the first and the newest update it was shown. */
  readonly span: readonly [first: number, last: number]
  /** Something was said that counts. */
  advised = false
  private replies: readonly Message[] = []
  private rounds = 0
  private calls = 0
  private corrected = false
  private readonly startedAt: number
  private readonly asked = new Map<string, number>()

  constructor(batch: Batch, span: readonly [first: number, last: number], startedAt: number) {
    this.batch = batch
    this.span = span
    this.startedAt = startedAt
  }

  /** All that it adds to the conversation so far. */
  get messages(): Message[] {
    return [...this.batch.messages, ...this.replies]
  }

  get exchanged(): readonly Message[] {
    return this.replies
  }

  /** Decide over the calls in a reply. @param full - no room for more is left in the conversation. */
  judge(calls: readonly AskedCall[], limits: InquiryLimits, now: number, full: boolean): Asking {
    const reason = this.refusal(calls, limits, now, full)
    if (reason === undefined) return { kind: 'run', calls: limits.calls - this.calls }
    return this.corrected ? { kind: 'end', reason } : { kind: 'correct', reason }
  }

  /** A reply, and how its calls were answered. */
  add(reply: AssistantMessage, answers: readonly AnsweredCall[], asking?: Asking['kind']): void {
    this.replies = [...this.replies, ...toExchange(reply, answers)]
    this.corrected ||= asking === 'correct'
    if (asking === undefined) return
    this.rounds += 1
    this.calls += answers.length
  }

  private refusal(calls: readonly AskedCall[], limits: InquiryLimits, now: number, full: boolean): string | undefined {
    if (this.corrected) return 'no more calls in this review'
    if (this.calls >= limits.calls || this.rounds >= ROUNDS_LIMIT) return 'this review has had all its calls'
    if (now - this.startedAt >= limits.ms) return 'this review has had its time'
    if (full) return 'there is no room for more'
    return this.isLoop(calls) ? 'you have made this very call before' : undefined
  }

  private isLoop(calls: readonly AskedCall[]): boolean {
    let loop = calls.length > 0
    for (const call of calls) {
      const times = (this.asked.get(keyOf(call)) ?? 0) + 1
      this.asked.set(keyOf(call), times)
      if (times < SAME_CALL_LIMIT) loop = false
    }
    return loop
  }
}
