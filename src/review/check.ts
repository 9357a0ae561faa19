// What a reviewer's work on the two built-in transcripts says of its model. Pure: what was observed in, lines out.

import type { LlmFailure } from '@deepseek-ai/dsh-llm'
import type { Config } from '../config/schema.ts'
import type { Finding } from '../finding.ts'
import { money, number } from '../record/figures.ts'
import type { ReviewRecord } from '../record/journal.ts'
import { tokensIn, type Usage } from '../record/totals.ts'
import { rank } from '../severity.ts'
import { count, truncate } from '../text.ts'
import { namesFault } from './check-transcripts.ts'
import type { ReviewEnd } from './chat.ts'
import { describeFailure } from './failure.ts'
import { ADVISE_TOOL } from './prompt.ts'

/** How one reply came in. */
export interface Streamed {
  /** Milliseconds from the request to its first piece, and to its last. */
  readonly firstMs: number
  readonly lastMs: number
  /** Pieces of text, thinking or calls, and the characters in them. */
  readonly pieces: number
  readonly characters: number
}

/** One review of a built-in transcript. */
export interface Observed {
  /** `late`: it was ended after so many seconds. */
  readonly end: ReviewEnd | { readonly kind: 'late', readonly seconds: number }
  /** What was written down of it, where a call was made. */
  readonly record: ReviewRecord | undefined
  readonly findings: readonly Finding[]
  /** Replies that began, in order. */
  readonly streamed: readonly Streamed[]
  /** Why a reply was thrown away. */
  readonly unsafe: string | undefined
}

export type CheckLine =
  | { readonly kind: 'passed' | 'failed', readonly what: string, readonly reason: string }
  /** It could not be judged. */
  | { readonly kind: 'open', readonly what: string, readonly reason: string }

export interface CheckInput {
  readonly config: Pick<Config, 'provider' | 'model' | 'tools' | 'timeout' | 'evidence'>
  /** The advisor has a stance or instructions of its own, and may be right to leave some faults to others. */
  readonly isSpecial: boolean
  /** Providers of this host. */
  readonly providers: readonly string[]
  readonly faulty: Observed
  /** None when the first one was not reached. */
  readonly clean: Observed | undefined
}

/** A reply of fewer characters comes in one piece in any case. */
const SHORT_REPLY = 40
const SAID_SHOWN = 200

/** Judge a model by what it made of both transcripts. */
export function judgeCheck(input: CheckInput): readonly CheckLine[] {
  const { faulty } = input
  const [first] = faulty.streamed
  const trouble = broken(faulty, input)
  if (first === undefined && trouble !== undefined) return [{ kind: 'failed', what: 'reached', reason: trouble }]
  return [
    { kind: 'passed', what: 'reached', reason: first === undefined ? 'its reply was empty' : `first byte after ${seconds(first.firstMs)}` },
    judgeStream(faulty.streamed),
    judgeAnswer(input),
    judgeFinding(input),
    judgeSilence(input),
  ]
}

/** What the reviews took together; none where no call was made. */
export function takings(records: readonly (ReviewRecord | undefined)[]): string | undefined {
  const known = records.filter(record => record !== undefined)
  if (known.length === 0) return undefined
  const usages = known.flatMap(({ usage }) => usage ?? [])
  const sum = (part: (usage: Usage) => number) => usages.reduce((all, usage) => all + part(usage), 0)
  const lookups = known.flatMap(({ replies }) => replies).flatMap(({ calls }) => calls).filter(({ name }) => name !== ADVISE_TOOL.name).length
  const costs = known.flatMap(({ cost }) => cost ?? [])
  const [{ currency = '' } = {}] = costs
  const tokens = usages.length < known.length ? 'tokens not reported'
    : `${number(sum(tokensIn))} tokens (${number(sum(usage => usage.output))} out, ${number(sum(usage => usage.cacheRead))} cached)`
  const isKnown = costs.length === known.length && costs.every(cost => cost.currency === currency)
  const cost = isKnown ? money({ amount: costs.reduce((all, { amount }) => all + amount, 0), currency }) : 'unknown'
  return `${seconds(known.reduce((all, { ms }) => all + ms, 0))}, ${count(lookups, 'look-up')}, ${tokens}, cost ${cost}`
}

function judgeStream(streamed: readonly Streamed[]): CheckLine {
  const what = 'streams'
  const [best] = streamed.toSorted((a, b) => b.pieces - a.pieces)
  if (best !== undefined && best.pieces > 1) return { kind: 'passed', what, reason: `${best.pieces} pieces in ${seconds(best.lastMs - best.firstMs)}` }
  if (best === undefined || best.characters < SHORT_REPLY) return { kind: 'open', what, reason: 'its replies were too short to tell' }
  return { kind: 'failed', what, reason: `a reply of ${number(best.characters)} characters came in one piece, and one that has not begun after 30 s is given up` }
}

function judgeAnswer(input: CheckInput): CheckLine {
  const { config, faulty } = input
  const framed = config.tools.length === 0
  const what = framed ? 'answers with the JSON frame' : 'calls `advise`'
  const trouble = broken(faulty, input)
  if (trouble !== undefined) return { kind: 'failed', what, reason: trouble }
  if (faulty.unsafe !== undefined) return { kind: 'failed', what, reason: `its reply was thrown away as unsafe: ${faulty.unsafe}` }
  const { end, replies } = faulty.record!
  const called = replies.some(({ calls }) => calls.some(({ name }) => name === ADVISE_TOOL.name))
  if (end === 'advice') return { kind: 'passed', what, reason: framed || called ? 'once at least' : 'by a JSON frame in its text, which counts too' }
  if (end === 'silent') return { kind: 'open', what, reason: 'it stayed silent' }
  if (called) return { kind: 'failed', what, reason: `its call was answered ${quoted(replies.flatMap(({ calls }) => calls).at(-1)?.answer)}` }
  return { kind: 'failed', what, reason: `prose instead${framed ? '' : ' of a call'}: ${quoted(replies.at(-1)?.text)}` }
}

function judgeFinding({ config, isSpecial, faulty }: CheckInput): CheckLine {
  const what = 'finds the planted fault'
  if (faulty.end.kind !== 'reviewed') return { kind: 'open', what, reason: 'the review did not end' }
  const named = faulty.findings.filter(namesFault).toSorted((a, b) => rank(b.severity) - rank(a.severity))[0]
  if (named !== undefined && rank(named.severity) >= rank('concern')) return { kind: 'passed', what, reason: noteText(named) }
  if (named !== undefined) {
    return { kind: 'failed', what, reason: `as a nit only${config.evidence === 'concern' ? ', or without evidence, which lowers it (`evidence`)' : ''}: ${noteText(named)}` }
  }
  const [other] = faulty.findings
  if (other !== undefined) return { kind: 'failed', what, reason: `it spoke of something else: ${noteText(other)}` }
  const hint = isSpecial ? '; its own instructions may leave such faults to others' : ''
  return { kind: 'failed', what, reason: `the agent said that tests pass which failed, and it gave no note${hint}` }
}

function judgeSilence(input: CheckInput): CheckLine {
  const what = 'stays silent on clean work'
  const { clean } = input
  if (clean === undefined) return { kind: 'open', what, reason: 'not asked' }
  const trouble = broken(clean, input)
  if (trouble !== undefined) return { kind: 'failed', what, reason: trouble }
  if (clean.unsafe !== undefined) return { kind: 'failed', what, reason: `its reply was thrown away as unsafe: ${clean.unsafe}` }
  const [finding] = clean.findings
  if (finding !== undefined) return { kind: 'failed', what, reason: `it said ${noteText(finding)}` }
  if (clean.record?.end === 'no-verdict') return { kind: 'failed', what, reason: `prose that reaches nobody: ${quoted(clean.record.replies.at(-1)?.text)}` }
  return { kind: 'passed', what, reason: 'no note' }
}

/** Why a review did not come to its end, and what can be done about it. */
function broken({ end }: Observed, { config, providers }: CheckInput): string | undefined {
  switch (end.kind) {
    case 'reviewed': return undefined
    case 'nothing': return 'there was nothing to show'
    case 'late': return `no end within ${end.seconds} s`
    case 'aborted': return 'it was stopped'
    case 'exhausted': return `the session's budget: ${end.reason}`
    case 'failed': return [describeFailure(end.failure), ...remedy(end.failure, config, providers)].join('; ')
  }
}

function remedy({ code, status }: LlmFailure, { provider, timeout }: CheckInput['config'], providers: readonly string[]): string[] {
  if (code === 'NO_ADAPTER' || !providers.includes(provider)) return [`set \`provider\` to one of this host: ${providers.join(', ') || 'there is none'}`]
  if (code === 'UNKNOWN_MODEL' || status === 404) return [`set \`model\` to one that "${provider}" has`]
  if (code === 'AUTH' || code === 'MISSING_CREDENTIAL' || code === 'INVALID_CREDENTIAL' || status === 401 || status === 403) return [`the key of "${provider}" is missing or wrong`]
  if (code === 'QUOTA' || status === 402) return [`"${provider}" has no money or quota left for this key`]
  if (code === 'TIMEOUT') return [`\`timeout\` is ${timeout} s, and the first byte has to come within 30 s`]
  return []
}

function noteText({ severity, note }: Finding): string {
  return `[${severity}] ${quoted(note)}`
}

function quoted(text = ''): string {
  const said = truncate(text.replace(/\s+/g, ' ').trim(), SAID_SHOWN)
  return said === '' ? 'nothing' : `"${said}"`
}

function seconds(ms: number): string {
  return `${number(Math.max(0, ms) / 1000, 1)} s`
}
