/** Records and totals to write down. */
import type { ReviewRecord } from '../../../src/record/journal.ts'
import { addCall, emptyTotals, type Totals, type Usage } from '../../../src/record/totals.ts'

export const MODEL = 'p/m'

export const used = (changes: Partial<Usage> = {}): Usage => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, ...changes })

export const review = (changes: Partial<ReviewRecord> = {}): ReviewRecord => ({
  kind: 'review', updates: [1, 1], shown: ['**user:** go'], replies: [{ text: 'ok', calls: [] }], notes: [], end: 'silent', model: MODEL,
  usage: used({ input: 10, output: 1 }), cost: { amount: 0.25, currency: 'USD' }, ms: 1200, ...changes,
})

/** What a run had done after so many reviews of one call each. */
export function after(reviews: number): Totals {
  const totals = emptyTotals()
  totals.counts.reviews = reviews
  totals.counts.calls = reviews
  for (let call = 0; call < reviews; call += 1) addCall(totals, MODEL, used({ input: 10, output: 1 }), { amount: 0.25, currency: 'USD' })
  return totals
}
