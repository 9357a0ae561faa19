// The user's own regular expressions: which can be used, and where they find something.

import { errorMessage } from '../text.ts'
import type { Found } from './found.ts'

/** Kind of what a user's pattern finds. */
export const CUSTOM = 'custom'

const LONGEST = 1_000
/** More places than this in one text are one pattern that means something else. */
const MOST = 10_000

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

/** Push what a pattern finds: its first group that took part, or all of it. */
export function findPattern(expression: RegExp, text: string, push: (found: Found) => void): void {
  let count = 0
  for (const match of text.matchAll(expression)) {
    if ((count += 1) > MOST) return
    const place = match.indices?.slice(1).find(indices => indices !== undefined) ?? match.indices?.[0]
    if (place !== undefined && place[1] > place[0]) push({ start: place[0], end: place[1], kind: CUSTOM, from: match.index })
  }
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
