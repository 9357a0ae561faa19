// What `/advisor usage` says: tokens and money by advisor and model, this session and today, and what the notes were worth.

import { costText, money, number } from '../record/figures.ts'
import { ratesOf, rateText } from '../record/rates.ts'
import { billOf, notesIn, tokensIn, type ModelTotals, type Totals } from '../record/totals.ts'
import type { AdvisedSession } from '../session.ts'
import { count } from './status.ts'

/** The full account of one session. Waits for what earlier runs of it wrote down. */
export async function usageText(session: AdvisedSession): Promise<string> {
  const { record } = session
  const { ledger } = record
  await record.restored()
  const [whole, today] = [ledger.whole(), await record.today()]
  const slugs = ledger.advisors
  const nameOf = (slug: string) => session.advisors.all.find(advisor => advisor.slug === slug)?.name ?? slug
  return [
    ...slugs.length > 1 || slugs.some(slug => slug !== '') ? slugs.map(slug => `${nameOf(slug) || 'default'}: ${workText(ledger.whole(slug))}`) : [],
    `This session: ${workText(whole)}`,
    ...Object.entries(whole.models).map(([model, billed]) => `  ${model}: ${billText(billed)}`),
    ...costPerNote(whole),
    ...primaryText(session, whole),
    ...ratesOf(new Map(slugs.map(slug => [slug, ledger.whole(slug)])))
      .map(rate => `${rate.advisor === '' ? '' : `${nameOf(rate.advisor)}, `}${rateText(rate)}`),
    `Today, all sessions: ${workText(today)}`,
  ].join('\n')
}

function workText(totals: Totals): string {
  const { counts } = totals
  return `${count(counts.calls, 'call')}, ${count(counts.reviews, 'review')}, ${count(notesIn(totals), 'note')}; ${billText(billOf(totals))}`
}

function billText({ tokens, cost, unpriced, unreported }: ModelTotals): string {
  const { input, output, cacheRead, cacheWrite, reasoning } = tokens
  const parts = [
    `${number(input)} in`, `${number(output)} out${reasoning > 0 ? ` (${number(reasoning)} reasoning)` : ''}`, `${number(cacheRead)} cached`,
    ...cacheWrite > 0 ? [`${number(cacheWrite)} written to the cache`] : [],
  ]
  const missing = unreported > 0 ? `, ${count(unreported, 'call')} without reported usage` : ''
  return `tokens ${parts.join(', ')}; cost ${costText(cost, unpriced)}${missing}`
}

function costPerNote(totals: Totals): string[] {
  const notes = notesIn(totals)
  const costs = Object.entries(billOf(totals).cost)
  return notes === 0 || costs.length === 0 ? [] : [`Cost per note: ${costs.map(([currency, amount]) => money({ amount: amount / notes, currency })).join(' + ')}`]
}

/** The agent's own tokens, for scale: as its log has them. */
function primaryText({ agent }: AdvisedSession, totals: Totals): string[] {
  let primary = 0
  for (const event of agent.session.events) {
    if (event.type !== 'assistant/message' || event.data.usage === undefined) continue
    const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = event.data.usage
    primary += inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
  }
  if (primary === 0) return []
  return [`The agent itself: ${number(primary)} tokens; the advisor took ${number(100 * tokensIn(billOf(totals).tokens) / primary, 1)} % of that`]
}
