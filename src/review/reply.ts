// Reading a reply: `advise` calls, else one JSON frame, else silence or prose. Never throws, never asks again.

import type { AssistantMessage, ContentBlock, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import type { Evidence, Finding } from '../finding.ts'
import { textOf } from '../observe/entry.ts'
import { parseSeverity } from '../severity.ts'
import { printable, truncate } from '../text.ts'
import { ADVISE_TOOL } from './prompt.ts'
import { TERMINAL_CODES } from './seen.ts'

/** One call of the model, and how it is answered in the reviewer's history. */
export interface CallOutcome {
  readonly call: ToolCallBlock
  /** What the reviewer is told about the call in its own history. */
  readonly answer: string
  /** What it said, if it could be used. */
  readonly finding?: Finding
}

export type Verdict =
  /** At least one usable finding. `calls` have to be answered in the history. */
  | { readonly kind: 'advice', readonly findings: readonly Finding[], readonly calls: readonly CallOutcome[] }
  | { readonly kind: 'silent' }
  /** Something was said that reaches nobody: prose, a broken frame, an unusable call. */
  | { readonly kind: 'no-verdict', readonly reason: string, readonly calls: readonly CallOutcome[] }

/** Longest note, in characters; what is longer ends in `…`. */
export const NOTE_LIMIT = 2_000
/** Longest quote and path of its evidence, in characters. */
export const QUOTE_LIMIT = 1_000
export const PATH_LIMIT = 300

/** Characters looked at in search of a frame: each opening brace costs a scan of what follows it. */
const SCAN_LIMIT = 5_000_000

/** What the reviewer is told of every usable call, so that a refused note is not tried again in other words. */
const RECORDED = 'Recorded.'

/**
 * Read one reply.
 * @param isContentFree - whether a text says nothing, in the words the emission guard knows.
 * @param isQuoted - whether a text stands in what the reviewer was shown: a frame out of a tool's output is not its own.
 */
export function readReply(
  message: Pick<AssistantMessage, 'content'>, isContentFree: (text: string) => boolean, isQuoted: (text: string) => boolean = () => false,
): Verdict {
  const calls = message.content.filter((block: ContentBlock) => block.type === 'tool-call')
  const read = calls.map(call => ({ call, finding: readCall(call) }))
  const outcomes = read.map(({ call, finding }) => ({
    call, ...typeof finding === 'string' ? { answer: finding } : { answer: RECORDED, finding },
  }))
  const findings = read.flatMap(({ finding }) => typeof finding === 'string' ? [] : [finding])
  const text = spokenText(message.content)
  if (findings.length === 0) {
    const framed = readFrame(text, isQuoted)
    if (framed !== undefined) findings.push(framed)
  }
  if (findings.length > 0) return { kind: 'advice', findings, calls: outcomes }
  const broken = read.find(({ finding }) => typeof finding === 'string')
  if (broken !== undefined) return { kind: 'no-verdict', reason: `unusable call of \`${truncate(broken.call.name, 40)}\``, calls: outcomes }
  return isContentFree(text) ? { kind: 'silent' } : { kind: 'no-verdict', reason: 'text without a note', calls: [] }
}

/**
 * What a reply says in its own text. Thinking that a server did not take apart is not said, and neither is what a tool of the
 * provider's own returned.
 */
export function spokenText(content: readonly ContentBlock[]): string {
  return textOf(content.filter(block => block.type === 'text')).replace(THINKING, '')
}

/** From the start of a text to the end of its thinking, of which the opening tag may stand in the prompt. */
const THINKING = /^(?:\s*<think(?:ing)?>[^]*?(?:<\/think(?:ing)?>|$)|(?:[^]*\n)?[ \t]*<\/think(?:ing)?>[ \t]*(?:\n|$))/

/** The finding in a call, or what is wrong with the call. */
function readCall(call: ToolCallBlock): Finding | string {
  if (call.name !== ADVISE_TOOL.name) return `There is no tool "${truncate(call.name, 40)}" here.`
  try {
    return toFinding(JSON.parse(call.arguments)) ?? 'Not recorded: `note` must be a text that is not empty.'
  } catch {
    return 'Not recorded: the arguments are not JSON.'
  }
}

/** The first balanced `{…}` in a text that parses, holds a note and is no quotation. */
export function readFrame(text: string, isQuoted: (text: string) => boolean = () => false): Finding | undefined {
  let scanned = 0
  for (let start = text.indexOf('{'); start >= 0 && scanned < SCAN_LIMIT; start = text.indexOf('{', start + 1)) {
    const end = balancedEnd(text, start)
    scanned += (end ?? text.length) - start
    if (end === undefined) continue
    try {
      const frame = text.slice(start, end)
      const finding = toFinding(JSON.parse(frame))
      if (finding !== undefined && !isQuoted(frame)) return finding
    } catch {
      // Not JSON: a later brace may open the frame.
    }
  }
  return undefined
}

/** Index behind the brace that closes the one at `start`; braces inside strings do not count. */
function balancedEnd(text: string, start: number): number | undefined {
  let depth = 0
  let quoted = false
  for (let index = start; index < text.length; index += 1) {
    const char = text[index]
    if (quoted) {
      if (char === '\\') index += 1
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{') depth += 1
    else if (char === '}' && --depth === 0) return index + 1
  }
  return undefined
}

function toFinding(value: unknown): Finding | undefined {
  const { note, severity, evidence, replaces } = (value ?? {}) as Partial<Record<'note' | 'severity' | 'evidence' | 'replaces', unknown>>
  const settles = typeof replaces === 'number' && Number.isInteger(replaces) ? { replaces } : {}
  if (typeof note !== 'string' || (printable(note).trim() === '' && settles.replaces === undefined)) return undefined
  const proof = toEvidence(evidence)
  return {
    note: truncate(printable(note).trim(), NOTE_LIMIT), severity: parseSeverity(severity),
    ...proof === undefined ? {} : { evidence: proof }, ...settles,
  }
}

/** `{ quote, path? }`, or the quote alone; in any other shape there is none. */
function toEvidence(value: unknown): Evidence | undefined {
  const { quote, path } = (typeof value === 'string' ? { quote: value } : value ?? {}) as { quote?: unknown, path?: unknown }
  const words = typeof quote === 'string' ? printable(quote.replace(TERMINAL_CODES, '')).trim() : ''
  if (words === '') return undefined
  const place = typeof path === 'string' ? printable(path).replace(/\s+/g, ' ').trim() : ''
  return { quote: truncate(words, QUOTE_LIMIT), ...place === '' ? {} : { path: truncate(place, PATH_LIMIT) } }
}
