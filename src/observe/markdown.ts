// Entries as the reviewer reads them. The framing costs tokens at every later review: each byte has to earn its place.

import { elide, truncate } from '../text.ts'
import { INSTRUCTIONS, type Diff, type Entry } from './entry.ts'

/** Where the reviewer has already read the very same result of the very same call, as `1.2`. */
export type SameResult = (entry: ToolEntry) => string | undefined

export type ToolEntry = Extract<Entry, { kind: 'tool' }>

export interface RenderOptions {
  /** The agent's working folder; paths below it are shown relative to it. */
  readonly cwd: string | undefined
  readonly includeReasoning: boolean
  readonly sameResult?: SameResult
}

/** Ends an update while the agent is still at work. */
export const WORKING = '[working]'

const OUTPUT_LIMIT = 2_000
const MESSAGE_LIMIT = 6_000
const CONTEXT_LIMIT = 1_500
/** What the agent works by is shown at length: the host's summary of its past, and the project's rules. */
const CONTEXT_LIMITS: Readonly<Record<string, number>> = { compact: 6_000, [INSTRUCTIONS]: 8_000 }
const ARGUMENT_LIMIT = 300
const NAME_LIMIT = 80
const OTHER_ARGUMENT_LIMIT = 40

const LINE_BREAKS = /[ \t]*[\n\v\f\r\u0085\u2028\u2029][\s\u0085]*/g

/** The argument that says most about a call, best first. */
const MAIN_ARGUMENTS = ['file_path', 'path', 'command', 'pattern', 'query', 'url', 'prompt', 'description', 'name']

/** Render one entry, or '' when there is nothing to show. */
export function renderEntry(entry: Entry, options: RenderOptions): string {
  switch (entry.kind) {
    case 'user': return `**user:** ${body(entry.text, MESSAGE_LIMIT)}`
    case 'user-command': return `**user ran a command:**\n${body(entry.text, OUTPUT_LIMIT)}`
    case 'agent': return renderAgent(entry, options)
    case 'tool': return renderTool(entry, options)
    case 'context': return `[context: ${entry.label}] ${body(entry.text, CONTEXT_LIMITS[entry.label] ?? CONTEXT_LIMIT)}`
    case 'end': return `[turn ended: ${describeEnd(entry.reason)}]`
  }
}

function renderAgent(entry: Extract<Entry, { kind: 'agent' }>, options: RenderOptions): string {
  const parts: string[] = []
  if (options.includeReasoning && entry.reasoning.trim() !== '') {
    parts.push(`**agent, thinking:** ${body(entry.reasoning, MESSAGE_LIMIT)}`)
  }
  if (entry.text.trim() !== '') parts.push(`**agent:** ${body(entry.text, MESSAGE_LIMIT)}`)
  if (entry.interrupted) parts.push('[interrupted]')
  return parts.join('\n')
}

function renderTool(entry: ToolEntry, options: RenderOptions): string {
  const outcome = entry.outcome === 'ok' ? '' : entry.outcome === 'error' ? ' failed' : ' did not finish'
  const changes = entry.outcome === 'ok' ? changesOf(entry) : []
  const edited = changes.length > 0
  // A diff shows what the other arguments of an edit would only announce.
  const call = `→ ${inline(entry.name, NAME_LIMIT)}(${renderArguments(entry.args, options.cwd, edited)})${outcome}`
  if (entry.outcome === 'pending') return call
  const shown = edited ? changes.map(diff => renderDiff(diff)).join('\n') : unwrapRead(entry.output)
  if (shown.trim() === '') return call
  const same = options.sameResult?.(entry)
  return same === undefined ? `${call}\n[tool result]\n${body(shown, OUTPUT_LIMIT)}` : `${call}\n[tool result] the same as at step ${same}`
}

/** What a call changed. The host gives no hunks for a file that it wrote new: as its own page does, all of the file is shown. */
function changesOf({ name, args, diffs }: ToolEntry): readonly Diff[] {
  if (diffs.length > 0 || name !== 'write') return diffs
  try {
    const { file_path: path, content } = JSON.parse(args) as Record<string, unknown>
    return typeof path === 'string' && typeof content === 'string' ? [{ path, oldText: null, newText: content }] : []
  } catch {
    return []
  }
}

/** `main argument, other=…`: what is not shown is said to be there, unless only the main one is asked for. */
export function renderArguments(json: string, cwd: string | undefined, onlyMain = false): string {
  let args: unknown
  try { args = JSON.parse(json) } catch { return inline(json, ARGUMENT_LIMIT) }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return inline(json, ARGUMENT_LIMIT)
  const entries = Object.entries(args)
  const main = MAIN_ARGUMENTS.find(key => typeof (args as Record<string, unknown>)[key] === 'string') ?? entries[0]?.[0]
  return entries
    .filter(([key]) => !onlyMain || key === main)
    .sort(([a], [b]) => Number(b === main) - Number(a === main))
    .map(([key, value]) => {
      const text = relative(typeof value === 'string' ? value : written(value), cwd)
      if (key === main) return inline(text, ARGUMENT_LIMIT)
      return `${inline(key, OTHER_ARGUMENT_LIMIT)}=${text.length > OTHER_ARGUMENT_LIMIT ? `… (${text.length} characters)` : inline(text, OTHER_ARGUMENT_LIMIT)}`
    })
    .join(', ')
}

/** A model can nest a value deeper than anything can be written. */
function written(value: unknown): string {
  try { return JSON.stringify(value) } catch { return '… (nested too deep to be shown)' }
}

/** The changed lines between the lines that stayed. */
export function renderDiff(diff: Diff): string {
  const before = diff.oldText === null ? [] : diff.oldText.split('\n')
  const after = diff.newText.split('\n')
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < before.length - head && tail < after.length - head
    && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1
  return [
    ...before.slice(0, head).map(line => ` ${line}`),
    ...before.slice(head, before.length - tail).map(line => `-${line}`),
    ...after.slice(head, after.length - tail).map(line => `+${line}`),
    ...after.slice(after.length - tail).map(line => ` ${line}`),
  ].join('\n')
}

/** Drop the wrapper of the host's `read`: the path stands in the call, and a whole file needs no footer. */
function unwrapRead(output: string): string {
  const match = /^<path>.*<\/path>\n<type>file<\/type>\n<content>\n([\s\S]*)\n<\/content>$/.exec(output)
  if (match?.[1] === undefined) return output
  const footer = match[1].lastIndexOf('\n(End of file - total ')
  return footer < 0 ? match[1] : match[1].slice(0, footer).trimEnd()
}

/** A cut text in which no line can pose as framing of ours. */
function body(text: string, limit: number): string {
  return elide(text.trimEnd(), limit, omission, indentFraming)
}

/** Stands where text was cut, so that the reviewer does not take the agent to have seen as little. */
export function omission(left: number): string {
  return `[… ${left} characters left out for you; the agent saw them …]`
}

/** Indent every line that begins as one of ours does: roles, calls, results, markers, headings, contexts, advice. */
export function indentFraming(text: string): string {
  return text.replace(FRAMING, match => `    ${match}`).replace(DISGUISED, line => DISGUISE.test(undisguised(line)) ? `    ${line}` : line)
}

/** What can stand before or in a line without being seen: spaces, characters without a shape, codes for a terminal. */
const UNSEEN = '\\p{Default_Ignorable_Code_Point}\\u0000-\\u0008\\u000e-\\u001a\\u001c-\\u001f\\u007f-\\u009f\\u061c'
const TERMINAL_CODE = '\\u001b(?:\\[[0-?]*[ -/]*[@-~])?'
const BEFORE = `(?:[ \\t\\v\\f\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000${UNSEEN}]|${TERMINAL_CODE})*`

const MARKS = [
  '\\*\\*\\s*(?:user|agent)\\b', '→', '#+[ \\t]+step\\b', '… <', '<[ \\t]{0,3}/?[ \\t]{0,3}(?:primary-context|advisory|attention|instructions)\\b',
  '\\[\\s*(?:tool\\s+result|working|interrupted|turn ended|context:|…|\\d+ earlier|plan mode|the user|the agent|if what|do not give'
  + '|unchanged since|cut:|not run:|dropped to save|recorded as|advisor:)',
  'working folder:', 'notes you gave before:', 'the user\'s (?:request|latest message):', 'in them the user said:', 'the user wants to hear',
  'your own summary of',
].join('|')

const FRAMING = new RegExp(`(?:^|(?<=[\\v\\f\\u0085]))${BEFORE}(?:${MARKS})`, 'gimu')

/** Letters and marks that only look like those of our framing: of full width, of mathematics. */
const LOOKALIKES = '\\uff03\\uff0a\\uff1c\\uff21-\\uff3b\\uff41-\\uff5a\\u2217\\u204e\\u{1d400}-\\u{1d7ff}'
const DISGUISES = new RegExp(`[${UNSEEN}${LOOKALIKES}]|${TERMINAL_CODE}`, 'gu')
/** The start of a line that holds one of those. */
const DISGUISED = new RegExp(`^(?! {4}).{0,40}?[${UNSEEN}${LOOKALIKES}\\u001b].{0,80}`, 'gmu')
const DISGUISE = new RegExp(`^\\s*(?:${MARKS})`, 'iu')

/** The start of a line as the eye takes it. */
function undisguised(line: string): string {
  return line.replace(DISGUISES, char => char === '\u2217' || char === '\u204e' ? '*' : LOOKALIKE.test(char) ? char.normalize('NFKC') : '')
}

const LOOKALIKE = new RegExp(`[${LOOKALIKES}]`, 'u')

function inline(text: string, limit: number): string {
  // Cut first: the search must not run over what will not be shown.
  return truncate(truncate(text, limit * 2).replace(LINE_BREAKS, ' ⏎ '), limit)
}

function relative(text: string, cwd: string | undefined): string {
  return cwd !== undefined && cwd !== '/' && text.startsWith(`${cwd}/`) ? text.slice(cwd.length + 1) : text
}

function describeEnd(reason: Extract<Entry, { kind: 'end' }>['reason']): string {
  switch (reason.kind) {
    case 'aborted': return reason.reason.kind === 'user' ? 'stopped by the user' : 'stopped'
    case 'error': return `error ${reason.error.code}`
    case 'max-tokens': return 'output limit reached'
    default: return reason.kind
  }
}
