// The user's own regular expressions: which can be used, and where they find something. They get no more time than a review can
// wait: a text that none of them gets through in that time is hidden, never shown.

import { createContext, Script } from 'node:vm'
import { errorMessage } from '../text.ts'
import type { Found } from './found.ts'

/** Kind of what a user's pattern finds. */
export const CUSTOM = 'custom'

const LONGEST = 1_000
/** More places than this in one text are one pattern that means something else. */
const MOST = 10_000

/** Milliseconds for one expression over a text, and over one line of it when the whole took longer; for all of its lines together. */
const TEXT_MS = 150
const LINE_MS = 50
const LINES_MS = 300

/** Why a user's pattern is refused, or undefined when it can be used. */
export function patternFault(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'it is empty'
  if (pattern.length > LONGEST) return `it is longer than ${LONGEST} characters`
  let expression: RegExp
  try { expression = compilePattern(pattern) } catch (error) { return errorMessage(error) }
  if (expression.test('')) return 'it finds nothing at all, everywhere: it has to match at least one character'
  if (nestsRepeats(pattern)) return 'it repeats something that itself repeats or has a choice, as (a+)+ and (a|b)+ do, which can take for ever'
  return undefined
}

/** As in JavaScript; `(?i)` at its head ignores case. */
export function compilePattern(pattern: string): RegExp {
  const insensitive = pattern.startsWith('(?i)')
  return new RegExp(insensitive ? pattern.slice(4) : pattern, insensitive ? 'dgi' : 'dg')
}

/**
 * Push what a pattern finds: its first group that found something, or all of it. A line that it does not get through in time is pushed as a
 * whole, and so is all that is left when it finds too much or the lines take too long.
 */
export function findPattern(expression: RegExp, text: string, push: (found: Found) => void): void {
  const found = inTime(TEXT_MS, () => placesOf(expression, text)) ?? placesByLine(expression, text)
  for (const place of found) push(place)
}

/** What in an expression may match the end of a line. */
const CROSSES_LINES = /\\[^wdbB.$^*+?()[\]{}|/-]|\[\^/

function placesByLine(expression: RegExp, text: string): Found[] {
  if (CROSSES_LINES.test(expression.source)) return [whole(0, text.length)]
  const found: Found[] = []
  const before = process.cpuUsage()
  for (let start = 0; start < text.length;) {
    if (busySince(before) >= LINES_MS) return [...found, whole(start, text.length)]
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    const places = inTime(LINE_MS, () => placesOf(expression, text.slice(start, end)))
    if (places === undefined) found.push(whole(start, end))
    else for (const place of places) found.push({ ...place, start: place.start + start, end: place.end + start, from: place.from! + start })
    start = end + 1
  }
  return found
}

function placesOf(expression: RegExp, text: string): Found[] {
  const found: Found[] = []
  for (const match of text.matchAll(expression)) {
    if (found.length >= MOST) return [...found, whole(match.index, text.length)]
    const place = match.indices?.slice(1).find(indices => indices !== undefined && indices[1] > indices[0]) ?? match.indices?.[0]
    if (place !== undefined && place[1] > place[0]) found.push({ start: place[0], end: place[1], kind: CUSTOM, from: match.index })
  }
  return found
}

function whole(start: number, end: number): Found {
  return { start, end, kind: CUSTOM, from: start }
}

/** Only a script can be stopped in the middle of an expression. Undefined when it had to be. */
function inTime<T>(ms: number, work: () => T): T | undefined {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = process.cpuUsage()
    try {
      return run(ms, work)
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    }
    // On a machine that gave it no time to work, it is not the expression that took it.
    if (busySince(before) >= ms / 2) return undefined
  }
  return undefined
}

const TRIES = 3
const RUN = new Script('work()')
let context: { work: () => void } | undefined

function run<T>(ms: number, work: () => T): T {
  context ??= createContext({ work() {} }) as { work: () => void }
  let result: T
  context.work = () => { result = work() }
  try {
    RUN.runInContext(context, { timeout: ms })
    return result!
  } finally {
    context.work = () => {}
  }
}

/** Milliseconds of work: a busy machine's other work does not count. */
function busySince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Whether a group that holds an unbounded repeat, or a choice, is repeated without a bound. */
function nestsRepeats(pattern: string): boolean {
  const open: boolean[] = []
  let risky = false
  for (let at = 0; at < pattern.length; at += 1) {
    const unit = pattern[at]
    if (unit === '\\') at += 1
    else if (unit === '[') at = endOfClass(pattern, at)
    if (unit === '(') {
      open.push(risky)
      risky = false
    } else if (unit === ')') {
      const repeats = repeatsAt(pattern, at + 1)
      if (risky && repeats) return true
      risky = (open.pop() ?? false) || risky || repeats
    } else if (unit === '|' && open.length > 0 || repeatsAt(pattern, at + 1)) {
      risky = true
    }
  }
  return false
}

function repeatsAt(pattern: string, at: number): boolean {
  return /^(?:[*+]|\{\d+,\})/.test(pattern.slice(at, at + 12))
}

function endOfClass(pattern: string, from: number): number {
  let at = from + 1
  while (at < pattern.length && pattern[at] !== ']') at += pattern[at] === '\\' ? 2 : 1
  return at
}
