// The message the primary's model sees. Nothing explains the tag to it, so the text must explain itself.

import { boundContextSummary, createUserMessage, freezeMessage } from '@deepseek-ai/dsh-llm'
import type { MessageId, UserMessage } from '@deepseek-ai/dsh-llm'
import { SEVERITIES, parseSeverity, rank, type Severity } from '../severity.ts'
import { escapeXml, unescapeXml } from '../text.ts'
import type { Note } from './note.ts'

declare module '@deepseek-ai/dsh-llm' {
  interface MessageSourceMap {
    advisor: {
      kind: 'advisor'
      form: 'notice'
      /** One line for a collapsed row. */
      summary: string
      /** The worst severity in the message. */
      severity: Severity
      /** Names, when all notes come from the same named advisors. */
      advisor?: string
    }
  }
}

/** Between the names of several advisors. */
const NAMES_APART = ', '

const GUIDANCE = 'weigh, don\'t blindly obey'

/** Whether a message is one of ours. */
export function isAdvisory(message: { readonly source: { readonly kind: string } }): boolean {
  return message.source.kind === 'advisor'
}

/**
 * The text of one note.
 * @param stepsAgo - updates that have passed since the one it is about; 0 leaves the attribute out.
 */
export function advisoryText(note: Pick<Note, 'text' | 'severity' | 'advisors'>, stepsAgo: number): string {
  const attributes = [
    note.advisors.length === 0 ? '' : ` advisor="${escapeXml(note.advisors.join(NAMES_APART))}"`,
    ` severity="${note.severity}"`,
    stepsAgo > 0 ? ` steps_ago="${stepsAgo}"` : '',
    ` guidance="${GUIDANCE}"`,
  ].join('')
  return `<advisory${attributes}>\n[advisor:${note.severity}] ${escapeXml(note.text)}\n</advisory>`
}

/**
 * One message for all notes that land together: newest work first, then severity.
 * @param update - the session's present update, against which a note is old.
 * @param id - keeps the identity of a message that was queued before.
 */
export function advisoryMessage(notes: readonly Note[], update: number, id?: MessageId): UserMessage {
  const ordered = notes.toSorted((a, b) => b.update - a.update || rank(b.severity) - rank(a.severity))
  const severity = SEVERITIES[Math.max(...notes.map(note => rank(note.severity)))] ?? 'nit'
  const [advisor, ...others] = new Set(notes.map(note => note.advisors.join(NAMES_APART)))
  const message = createUserMessage({
    content: [{ type: 'text', text: ordered.map(note => advisoryText(note, update - note.update)).join('\n') }],
    source: {
      kind: 'advisor', form: 'notice', severity,
      summary: boundContextSummary(ordered.map(note => `${note.severity}: ${note.text}`).join(' · ').replace(/\s+/g, ' ')),
      ...advisor !== undefined && advisor !== '' && others.length === 0 ? { advisor } : {},
    },
  })
  return id === undefined ? message : freezeMessage({ ...message, id })
}

/** A note as a logged message tells it. */
export interface LoggedNote {
  readonly severity: Severity
  readonly text: string
  /** The names of its advisors, one behind the other; '' for the one without a roster. */
  readonly by: string
}

/** Read notes back out of a logged message, for a session that is resumed. */
export function readAdvisory(text: string): LoggedNote[] {
  return [...text.matchAll(/<advisory([^\n]*)>\n\[advisor:(\w+)\] ([\s\S]*?)\n<\/advisory>/g)].map(([, attributes = '', severity, body = '']) => ({
    severity: parseSeverity(severity), text: unescapeXml(body), by: unescapeXml(/ advisor="([^"]*)"/.exec(attributes)?.[1] ?? ''),
  }))
}

/** Whether a logged note is of this advisor, among others perhaps. Names may hold what stands between them. */
export function isLoggedOf({ by }: Pick<LoggedNote, 'by'>, advisor: string | undefined): boolean {
  return advisor === undefined ? by === '' : `${NAMES_APART}${by}${NAMES_APART}`.includes(`${NAMES_APART}${advisor}${NAMES_APART}`)
}
