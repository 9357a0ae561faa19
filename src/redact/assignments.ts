// Secrets that have no form of their own, found by the name they are given to: in `.env` files, code, configuration, commands and prose.
// It reads names, operators and values; whether a value is a secret is decided elsewhere.

import type { Found } from './found.ts'
import { nameKind, type NameKind } from './names.ts'
import { isAlphanumeric } from './tokens.ts'
import { isBesideSecret, isSecretValue, type Style } from './values.ts'

const LONGEST_NAME = 64
const LONGEST_VALUE = 8_000
/** A longer run beside a word is data. */
const LONGEST_BESIDE = 500
/** Names read in one run without blanks and quotes: each may have the rest of the run for its value. */
const MOST_NAMES = 100

/** What of a name may follow the word that was found: the rest of the word, another word of the same, which of several it is. */
const ENDING = /^(?:s|w(?:or)?d|[-_]?(?:phrase|code|word|key|token|secret|string))?(?:[-_]?(?:key|data))?(?:[-_]?(?:\d+|[vV]\d|[a-zA-Z]{3,10}\d?))?$/
/** `= `, `: `, `=> ` and the like, after a name's closing quote or bracket. */
const OPERATOR = /\\{0,3}["'`]?\]?[ \t]{0,16}(=>|:=|[!=]==?|\?=|\+=|<-|=|::?|：|＝)[ \t]{0,16}/y
/** The type between a name and its value, and a break before a value. */
const TYPE = /[A-Za-z_][\w<>[\]|.? ]{0,30}?[ \t]?=[ \t]?(?=["'`])/y
const BREAK = /\r?\n[ \t]{0,24}(?=["'`])/y
/** The value of a pair whose name is a value too: `name: X` and `value: …` in YAML, JSON and XML. */
const PAIR = /\\{0,3}["'`]?(?:,|<\/\w{1,20}>)?[ \t]*(?:(?:\r?\n|\\n)(?:[+\- ]|[ \t]{0,8}\d{1,6}(?:→|[:|\t ]))?[ \t]{0,40})?(?:\\{0,3}["']?value\\{0,3}["']?[ \t]*[:=][ \t]*|<value>(?=[^<\s]))/yi
const OPTION = /\\{0,3}["']?,?[ \t]+(?=[^\s-])|\\{0,3}["'],[ \t\r\n]{0,24}(?=\\{0,3}["'])/y
const SENTENCE = /["'`]?[ \t]*(?:\b(?:is|was|are|set to)\b|为|是|：)[ \t:：]*/yi
const QUOTE = /[bBrRuU@]?(\\{0,3}["'`])/y
const BARE = /(?:[^\s"'`\\\u001b]|\\(?![nrt"'`\\]))*/y
/** A setting begins here: on a line of its own, in a diff, in a listing, in colour, or after the command that sets variables. */
const LINE_START = /(?:(?:^|\n|\\n|["'`])[ \t]*(?:[+\->]|\d{1,6}(?:→|[:|\t ]))?[ \t]*(?:\u001b\[[\d;]*m)?[ \t]*(?:- )?|(?:\b|\\[nrt]|m)(?:export|set|setx|ENV|ARG)[ \t]+|[ \t](?:-e|--env)[ \t=]+|\$env:)$/
const LINE_END = /[ \t]*(?:#[^\n]*)?(?:\r?\n|\\n|$|["'`]|\u001b)/y
/** What ends before a name and would be read as a part of it: an escape, a colour. */
const NAME_EDGE = /(?:(?<=\\)[nrtbf]|(?<=(?:\u001b|\\u001b|\\x1b|\\033|\\e)\[)[\d;]{0,12}m)/y

/** Finds what names announce in one text. */
export class Assignments {
  private readonly text: string
  private readonly push: (found: Found) => void
  /** Two words of one name would read the same value twice. */
  private lastName = -1
  /** Where the last run that was judged beside a word ended. */
  private besideEnd = 0
  private run = { from: 0, to: 0, names: 0 }

  constructor(text: string, push: (found: Found) => void) {
    this.text = text
    this.push = push
  }

  /** A word that may belong to a name stands here. */
  read(wordStart: number, wordEnd: number): void {
    const { text } = this
    let end = wordEnd
    while (end - wordEnd < LONGEST_NAME && isNameUnit(text.charCodeAt(end))) end += 1
    if (end === this.lastName || end - wordEnd >= LONGEST_NAME || !ENDING.test(text.slice(wordEnd, end))) return
    this.lastName = end
    let start = wordStart
    while (start > 0 && wordStart - start < LONGEST_NAME && (isNameUnit(text.charCodeAt(start - 1)) || text[start - 1] === '.')) start -= 1
    start = after(NAME_EDGE, text, start)
    const kind = wordStart - start < LONGEST_NAME ? nameKind(nameOf(text, start, end)) : undefined
    if (kind === undefined) return
    if (!this.readValue(start, end, kind) && kind !== 'weak' && kind !== 'credential') this.readBeside(end, kind)
  }

  private readValue(start: number, end: number, kind: NameKind): boolean {
    const { text } = this
    const name = text.slice(start, end)
    const pair = after(PAIR, text, end)
    if (pair > end) return this.accept(start, pair, kind, 'bare', true)
    const operator = match(OPERATOR, text, end)
    if (operator !== undefined) {
      let at = operator.end
      if (operator.word === ':') at = after(TYPE, text, at)
      at = after(BREAK, text, at)
      const isTight = operator.word === '=' && at === end + 1
      if (/^[A-Z][A-Z0-9_]*$/.test(name) && (isTight || operator.word === ':' && !/["'`]/.test(text[at] ?? '') && this.fillsLine(start, at))) {
        return this.accept(start, at, kind, 'environment', isTight)
      }
      return this.accept(start, at, kind, 'bare', isTight || /^[:=]=?$/.test(operator.word) && this.fillsLine(start, at) || isHeader(name))
    }
    if (name.startsWith('-')) {
      const at = after(OPTION, text, end)
      if (at > end) return this.accept(start, at, kind, 'option', true)
    }
    if (text[start - 1] === '<' && text[end] === '>') return this.accept(start, end + 1, kind, 'bare', true)
    const sentence = after(SENTENCE, text, end)
    return sentence > end && this.accept(start, sentence, kind, 'prose', false)
  }

  /** Whether nothing but this setting stands on its line. */
  private fillsLine(start: number, at: number): boolean {
    LINE_END.lastIndex = this.bareEnd(at)
    return this.isLineStart(start) && LINE_END.test(this.text)
  }

  private isLineStart(start: number): boolean {
    const before = this.text.slice(Math.max(0, start - 40), start)
    return LINE_START.test(start <= 40 ? before : before.replace(/^[^\n"'`]*/, '.$&'))
  }

  private accept(from: number, at: number, kind: NameKind, style: Style, isClear: boolean): boolean {
    const { text } = this
    const quote = match(QUOTE, text, at)
    let start = at
    let end: number
    if (quote !== undefined) {
      start = quote.end
      const close = this.closing(start, quote.word)
      if (close === undefined) return false
      end = close
    } else {
      end = this.bareEnd(at)
      if ((this.run.names += 1) > MOST_NAMES) return false
      end = trimmed(text, start, end, style)
    }
    const value = text.slice(start, end)
    const place: Style = quote !== undefined && style !== 'environment' ? 'quoted' : style
    if (!isSecretValue(value, kind, place, { isClear, isLine: style === 'environment' && this.isLineStart(from) })) return false
    this.push({ start, end, kind: kind === 'weak' ? 'key' : kind, from })
    return true
  }

  /** Where the same quote stands again on the line, or the text ends. */
  private closing(start: number, quote: string): number | undefined {
    const { text } = this
    for (let at = start; at - start <= LONGEST_VALUE; at += 1) {
      if (at >= text.length) return at
      const unit = text[at]
      if (unit === '\n') return undefined
      if (text.startsWith(quote, at)) return at
      if (unit === '\\') at += 1
    }
    return undefined
  }

  /** The end of the run without blanks and quotes; the same for every name inside of it, so it is looked for once. */
  private bareEnd(at: number): number {
    if (at < this.run.from || at > this.run.to) {
      BARE.lastIndex = at
      BARE.test(this.text)
      this.run = { from: at, to: BARE.lastIndex, names: 0 }
    }
    return Math.min(this.run.to, at + LONGEST_VALUE)
  }

  /** A random-looking value near a word that announces one, on the same line. */
  private readBeside(end: number, kind: NameKind): void {
    const { text } = this
    if (end < this.besideEnd) return
    const limit = Math.min(text.length, end + 60)
    for (let at = end; at < limit; at += 1) {
      const unit = text.charCodeAt(at)
      if (unit === 10 || unit === 91 && text.startsWith('[secret ', at)) return
      if (!isRunUnit(unit)) continue
      let last = at
      while (last - at <= LONGEST_BESIDE && isRunUnit(text.charCodeAt(last))) last += 1
      if (last - at >= 20) {
        this.besideEnd = last
        if (last - at > LONGEST_BESIDE) return
        const value = text.slice(at, last)
        const isDigested = /(?:sha\d{1,3}|md5)[-:=]$/i.test(text.slice(Math.max(0, at - 8), at))
        if (!isDigested && text[last] !== '(' && isBesideSecret(value)) this.push({ start: at, end: last, kind, from: at })
        return
      }
      at = last
    }
  }
}

/** In a connection string, `PWD` is no folder. */
function nameOf(text: string, start: number, end: number): string {
  const name = text.slice(start, end)
  return text[start - 1] === ';' ? name.toLowerCase() : name
}

/** `X-Api-Key`, `api-key`: a header's name, whose value is bare. */
function isHeader(name: string): boolean {
  return /^[A-Za-z]+(?:-[A-Za-z]+)+$/.test(name)
}

/** What closes the place and does not belong to the value. */
function trimmed(text: string, start: number, end: number, style: Style): number {
  let last = end
  if (style !== 'environment') {
    const stop = text.slice(start, end).search(/[&;,<>]/)
    if (stop >= 0) last = start + stop
  }
  while (last > start && /[,;)}\]|&.!?:。，]/.test(text[last - 1]!)) last -= 1
  return last
}

function isNameUnit(unit: number): boolean {
  return isAlphanumeric(unit) || unit === 95 || unit === 45
}

function isRunUnit(unit: number): boolean {
  return isAlphanumeric(unit) || unit === 95 || unit === 45 || unit === 43 || unit === 47 || unit === 61
}

function after(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at
  return expression.test(text) ? expression.lastIndex : at
}

function match(expression: RegExp, text: string, at: number): { word: string, end: number } | undefined {
  expression.lastIndex = at
  const word = expression.exec(text)?.[1]
  return word === undefined ? undefined : { word, end: expression.lastIndex }
}
