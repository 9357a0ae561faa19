// What a fresh conversation starts with: whatever happened before it, the reviewer knows the task and what it already said.

import type { PastNote, WaitingNote } from '../finding.ts'
import type { Entry } from '../observe/entry.ts'
import { indentFraming, omission } from '../observe/markdown.ts'
import { elide, escapeXml, truncate } from '../text.ts'
import type { Gap } from './backlog.ts'

export interface Pinned {
  readonly cwd: string | undefined
  /** The user's first request and latest message. */
  readonly task: string | undefined
  readonly latest: string | undefined
  /** The project's rules as the agent was shown them, oldest first. */
  readonly instructions: readonly string[]
  readonly notes: readonly PastNote[]
  /** Topics the user muted, in their words. */
  readonly muted: readonly string[]
  /** The rules of plan mode while it is on. */
  readonly planRules: string | undefined
}

const PINNED_LIMIT = 4_000
const INSTRUCTIONS_LIMIT = 8_000
const SUMMARY_LIMIT = 8_000
const NOTES_SHOWN = 20
const NOTE_SHOWN_LIMIT = 300
/** However little room there is, so much of each text is shown. */
const LEAST_SHOWN = 100

/**
 * Texts to put before the first batch of a fresh conversation.
 * @param batch - entries about to be shown; what stands in them is not repeated.
 * @param share - how much of the usual lengths there is room for.
 */
export function renderHead(pinned: Pinned, batch: readonly Entry[], share = 1): string[] {
  const fit = (limit: number) => Math.max(LEAST_SHOWN, Math.floor(limit * Math.min(1, share)))
  // By who says it: the same words of somebody else are not the user's.
  const textsOf = (kind: 'user' | 'context') => new Set(batch.flatMap(entry => entry.kind === kind ? [entry.text] : []))
  const [shown, told] = [textsOf('user'), textsOf('context')]
  const texts: string[] = []
  if (pinned.cwd !== undefined) texts.push(`Working folder: ${pinned.cwd}`)
  const rules = pinned.instructions.filter(text => !told.has(text)).join('\n\n').trim()
  if (rules !== '') texts.push(renderContext('instructions', elide(rules, fit(INSTRUCTIONS_LIMIT), omission, indentFraming)))
  if (pinned.task !== undefined && !shown.has(pinned.task)) texts.push(`The user's request:\n**user:** ${said(pinned.task, fit(PINNED_LIMIT))}`)
  if (pinned.latest !== undefined && pinned.latest !== pinned.task && !shown.has(pinned.latest)) {
    texts.push(`The user's latest message:\n**user:** ${said(pinned.latest, fit(PINNED_LIMIT))}`)
  }
  if (pinned.notes.length > 0) {
    const lines = pinned.notes.slice(-NOTES_SHOWN)
      .map(note => `- ${note.severity}, ${note.fate}: ${truncate(note.text.replace(/\s+/g, ' '), fit(NOTE_SHOWN_LIMIT))}`)
    texts.push(`Notes you gave before:\n${lines.join('\n')}`)
  }
  if (pinned.muted.length > 0) texts.push(`The user wants to hear nothing about: ${pinned.muted.join('; ')}`)
  return texts.length === 0 ? [] : [texts.join('\n\n')]
}

/** The rules the agent is under, once in full; then only that they still hold. */
export function renderPlanMode(rules: string, shown: boolean): string {
  if (shown) return '[plan mode still in effect]'
  return renderContext('plan-mode', rules.trim())
}

/** What the agent is under, as text that cannot end its own block. */
function renderContext(kind: string, text: string): string {
  return `<primary-context kind="${kind}">\n${escapeXml(text)}\n</primary-context>`
}

/** The user's words, in which no line can pose as framing of ours: they may have pasted anything. */
function said(text: string, limit: number): string {
  return indentFraming(truncate(text, limit))
}

/** Text that stands for updates which no review saw. */
export function renderGap({ updates, latest }: Gap): string {
  const words = latest === undefined ? '' : `\nIn them the user said:\n**user:** ${said(latest, PINNED_LIMIT)}`
  return `[${updates} earlier ${updates === 1 ? 'update was' : 'updates were'} not shown to you]${words}`
}

/** What stands in the place of a conversation that grew too long: the reviewer's own summary of it. */
export function renderSummary(summary: string): string {
  return `Your own summary of the review so far:\n${indentFraming(truncate(summary.trim(), SUMMARY_LIMIT))}`
}

/** Ask whether waiting notes are still true in the light of the update that follows. */
export function renderReconfirm(notes: readonly WaitingNote[]): string {
  const lines = notes.slice(-NOTES_SHOWN).map(note => `${note.id}. ${note.severity}, ${note.age} steps ago: ${truncate(note.text.replace(/\s+/g, ' '), NOTE_SHOWN_LIMIT)}`)
  return `[the agent has not read these notes of yours yet; they will be delivered as they stand]\n${lines.join('\n')}\n`
    + '[if what follows makes one untrue, give its number as `replaces` with an empty `note`; to change it, with the new text]'
}
