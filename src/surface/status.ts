// What `/advisor status` and `/advisor usage` say. Only words for what others decided.

import type { AdvisorConfig } from '../config/resolve.ts'
import { describeState } from '../deliver/note.ts'
import type { AdvisedSession } from '../session.ts'
import { truncate } from '../text.ts'

/** One word for the session's state, those of the failure table among them. */
export function stateWord(session: AdvisedSession): string {
  const resolved = session.resolve()
  return resolved.kind === 'ready' ? session.reviewer?.state.kind ?? 'off' : resolved.kind
}

/** The full status, one fact a line. `now` in milliseconds since the epoch. */
export function statusText(session: AdvisedSession, now: number): string {
  const resolved = session.resolve()
  const { reviewer, tally, delivery } = session
  const reason = resolved.kind === 'ready' ? reasonOf(reviewer?.state) : resolved.reason
  const notes = session.notes()
  const last = notes.at(-1)
  return [
    `Advisor: ${stateWord(session)}${reason === undefined ? '' : ` (${reason})`}`,
    `Model: ${modelText(resolved.config)}`,
    `Pending: ${count(reviewer?.pending ?? 0, 'update')}${reviewer?.reviewing === true ? ', reviewing' : ''}`,
    `Reviews: ${tally.reviews} (${tally.silent} silent, ${tally.noVerdict} without a verdict), ${tally.failed} failed calls, ${count(tally.dropped, 'update')} dropped`,
    `Notes: ${delivery.inbox.accepted}${last === undefined ? '' : `; last, ${age(now - last.note.at)} ago: [${last.note.severity}] ${truncate(last.note.text.replace(/\s+/g, ' '), 160)} (${describeState(last.state)})`}`,
    tokensText(session),
  ].join('\n')
}

/** Tokens so far. */
export function usageText(session: AdvisedSession): string {
  const { tally } = session
  return `${count(tally.calls, 'call')}, ${count(tally.reviews, 'review')}, ${count(session.delivery.inbox.accepted, 'note')}\n${tokensText(session)}`
}

/** Every note with number, severity, age and state, newest last. */
export function notesText(session: AdvisedSession, now: number): string {
  const items = session.notes()
  const muted = session.muted.map(topic => `Muted: ${topic}`)
  if (items.length === 0) return ['No notes in this session.', ...muted].join('\n')
  return [...items.map(({ note, state }) => (
    `#${note.id} ${note.severity}, ${age(now - note.at)} ago, ${describeState(state)}: ${note.text.replace(/\s+/g, ' ')}`
  )), ...muted].join('\n')
}

function tokensText({ tally: { tokens } }: AdvisedSession): string {
  return `Tokens: ${tokens.input} in, ${tokens.output} out, ${tokens.cached} cached`
}

function modelText({ provider, model, effort }: AdvisorConfig['config']): string {
  return provider === '' && model === '' ? 'none' : `${provider || '?'}/${model || '?'}, effort ${effort}`
}

function reasonOf(state: NonNullable<AdvisedSession['reviewer']>['state'] | undefined): string | undefined {
  return state === undefined || state.kind === 'running' ? undefined : state.reason
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  return seconds < 3600 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}
