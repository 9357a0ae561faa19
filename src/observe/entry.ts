// What the observer keeps of a session: one entry for each thing worth showing. Strings are the log's own, uncut.

import type { ContentBlock, UserMessage } from '@deepseek-ai/dsh-llm'
import type { TurnEndReason } from '@deepseek-ai/dsh-session'

/** One hunk of an edit, as the host's file tools attach it to their results. */
export interface Diff {
  readonly path: string
  readonly oldText: string | null
  readonly newText: string
}

export type Entry =
  | { readonly kind: 'user', readonly seq: number, readonly text: string }
  /** Output of a command that the user ran by hand. */
  | { readonly kind: 'user-command', readonly seq: number, readonly text: string }
  | { readonly kind: 'agent', readonly seq: number, readonly text: string, readonly reasoning: string, readonly interrupted: boolean }
  | {
    readonly kind: 'tool', readonly seq: number, readonly name: string, readonly args: string
    readonly outcome: 'ok' | 'error' | 'pending', readonly output: string, readonly diffs: readonly Diff[]
  }
  /** A message another plugin put into the session. */
  | { readonly kind: 'context', readonly seq: number, readonly label: string, readonly text: string }
  | { readonly kind: 'end', readonly seq: number, readonly reason: TurnEndReason }

/** All text blocks of a message, images named. */
export function textOf(content: readonly ContentBlock[]): string {
  // The host accepts a malformed message into its log; it must not be our end.
  if (!Array.isArray(content)) return ''
  return content.map((block) => {
    if (block.type === 'text') return block.text
    if (block.type === 'tool-result') return textOf(block.content)
    if (block.type === 'image') return '[image]'
    return ''
  }).join('')
}

/** All reasoning blocks of a message. */
export function reasoningOf(content: readonly ContentBlock[]): string {
  return content.map(block => block.type === 'reasoning' ? block.text : '').join('')
}

/** Source of the messages in which the host shows an agent its AGENTS.md chain; also their label. */
export const INSTRUCTIONS = 'agent-instructions'

/** Forms of context that the host sends again and again about itself: nothing of the work is in them. */
const HOUSEKEEPING: ReadonlySet<string | undefined> = new Set(['snapshot', 'catalog'])

/** The entry for a user-role message, by who sent it; none for the host's housekeeping. */
export function entryOfMessage(seq: number, message: UserMessage): Entry | undefined {
  const text = textOf(message.content)
  const source = message.source as { kind: string, plugin?: string, form?: string, summary?: string }
  if (HOUSEKEEPING.has(source.form)) return undefined
  if (source.kind === 'user') return { kind: isUserCommand(text) ? 'user-command' : 'user', seq, text }
  const label = source.plugin ?? source.kind
  return { kind: 'context', seq, label, text: source.summary ?? text }
}

/** dsh-TUI sends the output of the user's own `!!` commands in this wrapper. */
function isUserCommand(text: string): boolean {
  return /^\s*<bash-(input|stdout|stderr)>/.test(text)
}

/** Read the hunks a file tool attached to its result; anything else is no diff. */
export function diffsOf(meta: unknown): readonly Diff[] {
  const diffs = (meta as { diffs?: unknown } | undefined)?.diffs
  return Array.isArray(diffs) ? diffs.filter(isDiff) : []
}

function isDiff(value: unknown): value is Diff {
  const diff = value as Partial<Diff> | null
  return typeof diff === 'object' && diff !== null && typeof diff.path === 'string' && typeof diff.newText === 'string'
    && (diff.oldText === null || typeof diff.oldText === 'string')
}
