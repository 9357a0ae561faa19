// What is written down of one review: what was shown, asked, answered and said, and what it took.

import type { AssistantMessage, LlmFailure } from '@deepseek-ai/dsh-llm'
import type { JournalNote, JournalReply, ReviewRecord } from '../record/journal.ts'
import type { Charge } from '../record/ledger.ts'
import { addCall, billOf, emptyTotals } from '../record/totals.ts'
import { reasoningOf, textOf } from '../observe/entry.ts'
import type { AnsweredCall } from './conversation.ts'
import type { Inquiry } from './inquiry.ts'

/** How a review ended without a verdict. */
type Broken =
  | { readonly kind: 'failed', readonly failure: LlmFailure }
  | { readonly kind: 'exhausted', readonly reason: string }
  | { readonly kind: 'aborted' }

export class Minutes {
  private replies: readonly JournalReply[] = []
  private notes: readonly JournalNote[] = []
  private charges: readonly Charge[] = []
  private since: number | undefined

  /** One call of the model, at the time it was sent. */
  called(charge: Charge, sentAt: number): void {
    this.charges = [...this.charges, charge]
    this.since ??= sentAt
  }

  replied(message: AssistantMessage, calls: readonly AnsweredCall[]): void {
    const reasoning = reasoningOf(message.content)
    this.replies = [...this.replies, {
      text: textOf(message.content.filter(block => block.type === 'text')),
      ...reasoning === '' ? {} : { reasoning },
      calls: calls.map(({ call, answer, failed }) => ({ name: call.name, arguments: call.arguments, answer, ...failed === true ? { failed } : {} })),
    }]
  }

  gave(notes: readonly JournalNote[]): void {
    this.notes = [...this.notes, ...notes]
  }

  /**
   * Close them without a verdict; undefined when no call was made since they were closed.
   * @param hide - replaces secrets, for a provider may name the key that it refuses.
   */
  breakOff(
    inquiry: Pick<Inquiry, 'batch' | 'span'>, end: Broken, now: number, hide: (text: string) => string,
  ): ReviewRecord | undefined {
    if (this.charges.length === 0) return undefined
    switch (end.kind) {
      case 'failed': return this.take(inquiry, 'failed', now, { code: end.failure.code, message: hide(end.failure.message) })
      case 'exhausted': return this.take(inquiry, 'aborted', now, { code: 'BUDGET', message: end.reason })
      case 'aborted': return this.take(inquiry, 'aborted', now)
    }
  }

  /** Close them. What was written down is not written again when the review goes on after a failure. */
  take(inquiry: Pick<Inquiry, 'batch' | 'span'>, end: ReviewRecord['end'], now: number, failure?: ReviewRecord['failure']): ReviewRecord {
    const totals = emptyTotals()
    for (const { model, usage, cost } of this.charges) addCall(totals, model, usage, cost)
    const { tokens, cost, unreported, unpriced } = billOf(totals)
    const [currency, ...others] = Object.keys(cost)
    const record: ReviewRecord = {
      kind: 'review', updates: inquiry.span,
      shown: inquiry.batch.messages.map(message => textOf(message.content)),
      replies: this.replies, notes: this.notes, end,
      ...failure === undefined ? {} : { failure },
      model: this.charges.at(-1)?.model ?? '',
      usage: unreported === this.charges.length ? undefined : tokens,
      cost: currency === undefined || others.length > 0 || unpriced > 0 ? undefined : { amount: cost[currency]!, currency },
      ms: this.since === undefined ? 0 : Math.max(0, now - this.since),
    }
    this.replies = []
    this.notes = []
    this.charges = []
    this.since = undefined
    return record
  }
}
