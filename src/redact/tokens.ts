// Reads the rows of `rules.ts`: is this beginning, at this place, that of a secret?

import type { Found } from './found.ts'
import { isExample, isRandom, isWordy } from './likeness.ts'
import { TOKEN_RULES } from './rules.ts'

export interface Beginning {
  readonly word: string
  readonly rule: number
}

/** Every beginning of every rule, in the order of the rules. */
export const BEGINNINGS: readonly Beginning[] = TOKEN_RULES.flatMap(([, words], rule) => words.split('|').map(word => ({ word, rule })))

const SHORTHAND: Readonly<Record<string, string>> = { w: '[A-Za-z0-9_-]', a: '[A-Za-z0-9]', h: '[0-9a-f]' }
const expressions: (RegExp | undefined)[] = []

/** Compiled when its beginning is met for the first time. */
function expressionOf(rule: number): RegExp {
  return expressions[rule] ??= new RegExp(TOKEN_RULES[rule]![2].replace(/(?<![\\A-Za-z0-9])[wah](?=\{)/g, letter => SHORTHAND[letter]!), 'y')
}

/** Beginnings that ordinary names have too. */
const COMMON = /^(?:.{1,3}|key-|npm_|sig=|secret_|api-|sdk-|mob-|dapi|jina_|v1\.0-|A{21})$/

/** Of a common beginning, this much has to look random; of any other, so much has to stand there at all. */
const CUT_LEAST = { common: 14, own: 6 }

const REST_OF_TEXT = /[\w.+/=~%-]*$/y
const NEXT_SECRET = /["'\s,;|:]{1,20}(?:[\w ]{0,30}["']?[ \t]*[=:,][ \t]*["']?)?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/y

/** A secret that begins here, or none. `start` to `end` is the beginning, in whatever case. */
export function readToken(text: string, { word, rule }: Beginning, start: number, end: number, push: (found: Found) => void): void {
  if (!text.startsWith(word, start) || !isEdge(text, start)) return
  const kind = TOKEN_RULES[rule]![0]
  const expression = expressionOf(rule)
  expression.lastIndex = end
  if (expression.test(text)) {
    const last = expression.lastIndex
    const body = text.slice(end, last)
    if (isAlphanumeric(text.charCodeAt(last)) || isExample(body) || COMMON.test(word) && !isMixed(body)) return
    push({ start, end: last, kind })
    if (kind === 'aws-access-key') readPartner(text, last, push)
    return
  }
  if (text.length - end > 400) return
  REST_OF_TEXT.lastIndex = end
  const rest = REST_OF_TEXT.exec(text)?.[0]
  if (rest === undefined || isExample(rest) || isWordy(rest)) return
  const isCut = COMMON.test(word) ? /^[A-Za-z0-9]+$/.test(rest) && isRandom(rest, CUT_LEAST.common) : rest.length >= CUT_LEAST.own
  if (isCut) push({ start, end: text.length, kind, part: true })
}

/** After a beginning that names have too: figures, or letters of both sizes as no name has them. */
function isMixed(body: string): boolean {
  return /\d/.test(body) || !isWordy(body) || (body.match(/[A-Z]/g)?.length ?? 0) >= 6 && /[A-Z]{2}/.test(body)
}

/** An access key is often followed by its secret, which has no form of its own. */
function readPartner(text: string, at: number, push: (found: Found) => void): void {
  NEXT_SECRET.lastIndex = at
  const match = NEXT_SECRET.exec(text)
  if (match?.[1] === undefined || isExample(match[1])) return
  push({ start: NEXT_SECRET.lastIndex - match[1].length, end: NEXT_SECRET.lastIndex, kind: 'aws-secret-key', from: at })
}

/** Whether a token can begin here: nothing of a word stands before, or only an escape, a colour or a percent sign's two digits. */
export function isEdge(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  if (at === 0 || !isAlphanumeric(before)) return true
  return /(?:\\[nrtbfv0]|\\u00[0-9a-f]{2}|%[0-9a-f]{2}|(?:\u001b|\\u001b|\\x1b|\\e|\\033)\[[\d;]{0,12}m)$/i.test(text.slice(Math.max(0, at - 20), at))
}

export function isAlphanumeric(unit: number): boolean {
  return unit >= 48 && unit <= 57 || unit >= 65 && unit <= 90 || unit >= 97 && unit <= 122
}
