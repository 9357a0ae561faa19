// What `/advisor status` and `notes` say. Only words for what others decided.

import { configOf, type AdvisorConfig } from '../config/resolve.ts'
import type { Config } from '../config/schema.ts'
import { describeState, isOf } from '../deliver/note.ts'
import type { Evidence } from '../finding.ts'
import { billOf, notesIn, type Totals } from '../record/totals.ts'
import type { Standing } from '../review/panel.ts'
import type { ReviewerState } from '../review/reviewer.ts'
import type { Advisor } from '../roster/advisor.ts'
import type { AdvisedSession } from '../session.ts'
import { count, truncate } from '../text.ts'

/** What a session comes to, the best state of its reviewers first. */
const STATES: readonly ReviewerState['kind'][] = ['running', 'failing', 'quota_exhausted', 'budget_exhausted', 'halted', 'no_model']

/** One word for the session's state, those of the failure table among them. */
export function stateWord(session: AdvisedSession): string {
  return stateOf(session).word
}

/** The full status, one fact a line. `now` in milliseconds since the epoch. */
export function statusText(session: AdvisedSession, now: number): string {
  const { config } = session.resolve()
  const { word, reason } = stateOf(session)
  const { delivery } = session
  const totals = session.record.ledger.whole()
  const standings = session.panel?.standings ?? []
  const roster = session.advisors.all.filter(({ name }) => name !== undefined)
  const last = session.notes().at(-1)
  return [
    `Advisor: ${withReason(word, reason)}`,
    ...roster.length === 0 ? [`Model: ${modelText(config, standings[0])}`] : roster.map(advisor => advisorText(session, advisor, config, standings)),
    `Pending: ${pendingText(standings)}`,
    `Reviews: ${reviewsText(totals)}`,
    `Notes: ${delivery.inbox.accepted}${last === undefined ? '' : `; last, ${age(now - last.note.at)} ago: [${last.note.severity}] ${truncate(last.note.text.replace(/\s+/g, ' '), 160)} (${describeState(last.state)})`}`,
    `Tokens: ${tokensText(totals)}`,
    ...warnings(session),
    ...session.advisors.roster?.trouble ?? [],
  ].join('\n')
}

/** Every note with number, severity, age, state and who gave it, newest last. */
export function notesText(session: AdvisedSession, now: number): string {
  const items = session.notes()
  const muted = session.muted.map(topic => `Muted: ${topic}`)
  if (items.length === 0) return ['No notes in this session.', ...muted].join('\n')
  return [...items.map(({ note, state }) => {
    const by = isOf(note, undefined) ? '' : `[${note.advisors.join(', ')}] `
    return `#${note.id} ${note.severity}, ${age(now - note.at)} ago, ${describeState(state)}: ${by}${note.text.replace(/\s+/g, ' ')}${evidenceText(note.evidence)}`
  }), ...muted].join('\n')
}

/** What a note rests on, below it. */
function evidenceText(evidence: Evidence | undefined): string {
  if (evidence === undefined) return ''
  const { quote, path } = evidence
  return `\n    ${path === undefined ? '' : `${path}: `}"${truncate(quote.replace(/\s+/g, ' ').trim(), 200)}"`
}

function stateOf(session: AdvisedSession): { readonly word: string, readonly reason: string | undefined } {
  const resolved = session.resolve()
  if (resolved.kind !== 'ready') return { word: resolved.kind, reason: resolved.reason }
  const states = (session.panel?.standings ?? []).map(({ state }) => state)
  const word = STATES.find(kind => states.some(state => state.kind === kind))
  if (word === undefined) return { word: 'off', reason: 'no advisor of the roster reviews this session' }
  const alike = states.filter(state => state.kind === word)
  if (states.length > 1 && alike.length < states.length) return { word, reason: `${alike.length} of ${states.length} advisors` }
  return { word, reason: reasonOf(alike[0]!) }
}

/** One line on one advisor. */
function advisorText(session: AdvisedSession, advisor: Advisor, config: Config, standings: readonly Standing[]): string {
  const standing = standings.find(({ advisor: { slug } }) => slug === advisor.slug)
  const totals = session.record.ledger.whole(advisor.slug)
  const state = standing === undefined
    ? withReason('off', session.advisors.whyOff(advisor))
    : withReason(standing.state.kind, reasonOf(standing.state))
  return `${advisor.name}: ${[
    state, modelText(configOf(config, advisor), standing), `pending ${pendingText(standing === undefined ? [] : [standing])}`, `reviews ${reviewsText(totals)}`,
    count(notesIn(totals), 'note'), `tokens ${tokensText(totals)}`,
  ].join('; ')}`
}

/** Advisors that have been of no use for long, and what to do about it. */
function warnings({ record, advisors }: AdvisedSession): string[] {
  return advisors.all.flatMap(({ slug, name }) => {
    const useless = record.uselessness(slug)
    return useless === undefined ? [] : `Warning: ${name === undefined ? '' : `${name}, `}${useless.reason}; ${useless.remedy}`
  })
}

/** What is said of a name that no advisor has. */
export function unknownAdvisor({ advisors }: AdvisedSession, subcommand: string, words: string): string {
  const names = advisors.all.flatMap(({ name }) => name ?? [])
  const there = names.length === 0 ? 'there is no roster (WATCHDOG.yml)' : `there are ${names.join(', ')}`
  return `/advisor ${subcommand} does not know an advisor "${truncate(words, 60)}"; ${there}.`
}

export function withReason(word: string, reason: string | undefined): string {
  return reason === undefined ? word : `${word} (${reason})`
}

function pendingText(standings: readonly Standing[]): string {
  const pending = standings.reduce((sum, standing) => sum + standing.pending, 0)
  return `${count(pending, 'update')}${standings.some(({ reviewing }) => reviewing) ? ', reviewing' : ''}`
}

function reviewsText({ counts: { reviews, silent, noVerdict, lookups, quarantined, failed, dropped } }: Totals): string {
  return `${reviews} (${silent} silent, ${noVerdict} without a verdict), ${count(lookups, 'look-up')}, `
    + `${count(quarantined, 'reply', 'replies')} thrown away, ${failed} failed calls, ${count(dropped, 'update')} dropped`
}

function tokensText(totals: Totals): string {
  const { input, output, cacheRead, cacheWrite } = billOf(totals).tokens
  return `${input + cacheWrite} in, ${output} out, ${cacheRead} cached`
}

export function modelText({ provider, model, effort }: AdvisorConfig['config'], standing?: Standing): string {
  const configured = provider === '' && model === '' ? 'none' : `${provider || '?'}/${model || '?'}, effort ${effort}`
  return standing?.detour === undefined ? configured : `${standing.detour.to} for now, since ${standing.detour.from} failed (${standing.detour.reason})`
}

function reasonOf(state: ReviewerState): string | undefined {
  return state.kind === 'running' ? undefined : state.reason
}

function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  return seconds < 3600 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}
