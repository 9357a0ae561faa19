// What `/advisor usage` says: tokens and money by advisor and model, this session and today, and what the notes were worth.

import { costsText, costText, number } from '../record/figures.ts'
import { ratesOf, rateText } from '../record/rates.ts'
import { billOf, notesIn, tokensIn, type ModelTotals, type Totals } from '../record/totals.ts'
import type { AdvisedSession } from '../session.ts'
import { count } from '../text.ts'

/** The full account of one session, as far as anybody wrote it down. */
export async function usageText(session: AdvisedSession): Promise<string> {
  const { record } = session
  const { ledger } = record
  await record.reread()
  const [whole, helped, today] = [ledger.whole(), record.bySubagents(), await record.today()]
  // In the order of the roster, and then those that were in it once.
  const known = new Set(ledger.advisors)
  const slugs = [...session.advisors.all.flatMap(({ slug }) => known.delete(slug) ? slug : []), ...known]
  const nameOf = (slug: string) => session.advisors.all.find(advisor => advisor.slug === slug)?.name ?? slug
  const budget = record.budgetText(session.resolve().config.budget)
  return [
    ...slugs.length > 1 || slugs.some(slug => slug !== '') ? slugs.flatMap(slug => advisorText(nameOf(slug) || 'default', ledger.whole(slug))) : [],
    `This session: ${workText(whole)}`,
    ...modelTexts(whole),
    ...helped.counts.calls === 0 ? [] : [`Its subagents: ${workText(helped)}`],
    ...budget === undefined ? [] : [`Budget: ${budget}`],
    ...costPerNote(whole),
    ...primaryText(session, whole),
    ...ratesOf(new Map(slugs.map(slug => [slug, ledger.whole(slug)])))
      .map(rate => `${rate.advisor === '' ? '' : `${nameOf(rate.advisor)}, `}${rateText(rate)}`),
    `Today, all sessions: ${workText(today)}`,
  ].join('\n')
}

/** One of several advisors; its models, when a fallback makes them more than one. */
function advisorText(name: string, totals: Totals): string[] {
  return [`${name}: ${workText(totals)}`, ...Object.keys(totals.models).length > 1 ? modelTexts(totals) : []]
}

function modelTexts({ models }: Totals): string[] {
  return Object.entries(models).map(([model, billed]) => `  ${model}: ${count(billed.calls, 'call')}; ${billText(billed)}`)
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
  return `tokens ${parts.join(', ')}; cost ${costText(cost, unpriced, unreported)}${missing}`
}

function costPerNote(totals: Totals): string[] {
  const notes = notesIn(totals)
  const { cost, unpriced, unreported } = billOf(totals)
  const known = costsText(Object.fromEntries(Object.entries(cost).map(([currency, amount]) => [currency, amount / notes])))
  if (notes === 0) return []
  if (known === '') return ['Cost per note: unknown']
  return [`Cost per note: ${known}${unpriced + unreported === 0 ? '' : ', calls of unknown cost left out'}`]
}

/** The agent's own tokens, for scale: as its log has them, without those of a session it was forked from. */
function primaryText({ agent: { session } }: AdvisedSession, totals: Totals): string[] {
  let primary = 0
  for (const event of session.events.slice(session.header.seedLength ?? 0)) {
    if (event.type !== 'assistant/message' || event.data.usage === undefined) continue
    const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = event.data.usage
    primary += inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
  }
  if (primary === 0) return []
  return [`The agent itself: ${number(primary)} tokens; the advisor took ${number(100 * tokensIn(billOf(totals).tokens) / primary, 1)} % of that`]
}
