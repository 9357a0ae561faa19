// The performance as a page of text: who did what when, what the reviewer saw, looked up and said, and what it cost.

import { styleText } from 'node:util'
import type { Usage } from '../tests/support/model-server.ts'
import type { Play } from './play.ts'
import { adviceIn, answersIn, isGoingOn, lookupsIn, notesIn, of, shownTo } from './reading.ts'
import type { Exchange } from './recorder.ts'
import type { Check } from './verdict.ts'

type Style = Parameters<typeof styleText>[0]

const WIDTH = 110
/** Where a step's own text begins. */
const INDENT = ' '.repeat(19)
/** Lines of a delta worth reading in a demo. */
const SHOWN_LINES = 16

/** Colour only where it is seen, and where the user wants it. */
const paint = (style: Style, text: string) => styleText(style, text, { stream: process.stdout })

/** Every step and review, in the order in which they began. */
export function renderTimeline({ exchanges }: Play): string {
  const steps = of(exchanges, 'primary')
  const start = steps[0]?.arrivedAt ?? 0
  return exchanges.filter(exchange => exchange.role !== 'title').map((exchange) => {
    const time = paint('dim', `${seconds(exchange.arrivedAt - start).padStart(8)}  `)
    return time + (exchange.role === 'reviewer' ? renderReview(exchange) : renderStep(exchange, steps.indexOf(exchange) + 1))
  }).join('\n')
}

/** Calls, tokens and latency of both models. */
export function renderCost({ exchanges }: Play): string {
  const rows = (['primary', 'reviewer'] as const).map((role) => {
    const calls = of(exchanges, role)
    const sum = (key: keyof Usage) => calls.reduce((total, { usage }) => total + (usage?.[key] ?? 0), 0).toLocaleString('en')
    return [role === 'primary' ? 'agent' : role, String(calls.length), sum('in'), sum('cached'), sum('out'), seconds(median(calls.map(latency)))]
  })
  const table = [['', 'calls', 'tokens in', 'of these cached', 'tokens out', 'median reply'], ...rows]
  return table.map((row, index) => {
    const line = row.map((cell, column) => column === 0 ? cell.padEnd(12) : cell.padStart(16)).join('')
    return `  ${index === 0 ? paint('dim', line) : line}`
  }).join('\n')
}

export function renderChecks(checks: readonly Check[]): string {
  return checks.map(({ ok, text }) => `  ${ok ? paint('green', '✓') : paint('red', '✗')} ${text}`).join('\n')
}

function renderStep(step: Exchange, number: number): string {
  const calls = step.calls.map(call => `${call.name} ${mainArgument(call.arguments)}`).join(' · ')
  return [
    paint('bold', `step ${number}`.padEnd(9)) + (adviceIn(step) === '' ? '' : paint('yellow', '◂ the note is in this request\n') + INDENT)
      + wrap(step.text === '' && calls === '' ? `(no answer, status ${step.status ?? 'none'})` : step.text),
    ...calls === '' ? [] : [INDENT + paint('cyan', wrap(calls))],
  ].join('\n')
}

function renderReview(review: Exchange): string {
  const notes = notesIn(review)
  const lookups = lookupsIn(review)
  const lines = [`${paint('magenta', 'reviewer'.padEnd(9))}${describe(review, notes.length)}`]
  if (isGoingOn(review)) lines.push(...excerpt(answersIn(review).join('\n')))
  else if (notes.length + lookups.length > 0) lines.push(...excerpt(shownTo(review)))
  for (const call of lookups) lines.push(INDENT + paint('cyan', wrap(`${call.name} ${mainArgument(call.arguments)}`)))
  for (const { severity, text, quote } of notes) {
    lines.push(INDENT + paint('yellow', wrap(`▲ ${severity}: ${text}`)))
    if (quote !== undefined) lines.push(INDENT + paint('yellow', wrap(`its evidence: "${quote}"`)))
  }
  return lines.join('\n')
}

/** Of a text that a reviewer was given, what is worth reading here. */
function excerpt(text: string): string[] {
  const lines = text.split('\n')
  const shown = lines.slice(0, SHOWN_LINES).map(line => `│ ${line.slice(0, WIDTH - INDENT.length - 2)}`)
  if (lines.length > SHOWN_LINES) shown.push(`│ … ${lines.length - SHOWN_LINES} more lines`)
  return shown.map(line => INDENT + paint('dim', line))
}

function describe(review: Exchange, notes: number): string {
  if (review.endedAt === undefined) return 'was cut before it answered'
  const took = `after ${seconds(latency(review))}`
  if (review.status !== 200) return `failed with status ${review.status} ${took}`
  const given = isGoingOn(review) ? 'what it looked up says' : 'it was shown'
  if (notes > 0) return `spoke ${took}; ${given}`
  return review.calls.length > 0 ? `looked something up ${took}; ${given}` : `silent ${took}`
}

/** A path or a command says what a call does. */
function mainArgument(json: string): string {
  try {
    const args = JSON.parse(json)
    return String(args.file_path ?? args.command ?? args.pattern ?? args.path ?? '').split('\n')[0]!.slice(0, 60)
  } catch {
    return ''
  }
}

function wrap(text: string): string {
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    if (lines.at(-1)!.length + word.length >= WIDTH - INDENT.length && lines.at(-1) !== '') lines.push('')
    lines.push(`${lines.pop()}${lines.at(-1) === '' ? '' : ' '}${word}`)
  }
  return lines.map(line => line.trimStart()).join(`\n${INDENT}`)
}

function latency({ arrivedAt, endedAt = NaN }: Exchange): number {
  return endedAt - arrivedAt
}

function median(values: number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}

function seconds(ms: number): string {
  return Number.isNaN(ms) ? '–' : `${(ms / 1000).toFixed(2)} s`
}
