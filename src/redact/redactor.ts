// Replaces secrets by placeholders before anything is sent, journalled or dumped. The same secret reads as the same thing for as long as
// the redactor lives. It keeps the secrets it saw in memory and writes none of them anywhere.

import { join, split } from './borders.ts'
import { merged, outsidePlaceholders, type Found } from './found.ts'
import { replaceInside } from './inside.ts'
import { Memory } from './memory.ts'
import { compilePattern, findPattern, patternFault } from './patterns.ts'
import { BEGIN_MARK, isOpenKey } from './private-keys.ts'
import { search } from './search.ts'

export { patternFault } from './patterns.ts'

export interface RedactorOptions {
  /** The user's own regular expressions; an invalid one is skipped and named in `trouble`. */
  readonly patterns: readonly string[]
  /** Values that are secret because the host's credentials store holds them. */
  readonly known: readonly string[]
}

/** Replacing can bring a secret's neighbour to light; after so many rounds nothing is left. */
const ROUNDS = 4
/** What of a call's texts is kept for the next border. */
const TAIL = 4_096
/** What is kept of an unfinished key: the line that the next text may go on with. */
const LAST_LINE = /[A-Za-z0-9+/]{0,200}={0,2}$/
/** Nothing shorter is a secret. */
const LEAST = 4

export class Redactor {
  readonly trouble: readonly string[]
  private readonly memory: Memory
  private readonly patterns: readonly RegExp[]
  private tail = ''

  constructor({ patterns, known }: RedactorOptions) {
    this.memory = new Memory(known)
    const judged = patterns.map(pattern => ({ pattern, fault: patternFault(pattern) }))
    this.trouble = judged.flatMap(({ pattern, fault }) => fault === undefined ? [] : [`redactPatterns: "${pattern}" is left out: ${fault}`])
    this.patterns = judged.flatMap(({ pattern, fault }) => fault === undefined ? [compilePattern(pattern)] : [])
  }

  /** Secrets replaced so far (distinct). */
  get count(): number {
    return this.memory.count
  }

  /** One text, whole: call it before the text is cut. */
  text(text: string): string {
    return this.rounds(text, this.find(text))
  }

  /** Consecutive texts of one conversation: a secret that is cut in two by a border is replaced in both. */
  texts(texts: readonly string[]): string[] {
    const joined = join(this.tail, texts, placeholder => this.memory.meaning(placeholder))
    const own = texts.map(text => this.find(text))
    const whole = merged(this.find(joined.text))
    const crossing = whole.flatMap(found => split(found, joined, ({ index }, start) => {
      const segment = joined.segments.find(one => one.index === index && one.start <= start && one.end > start)
      const at = segment === undefined ? undefined : start - segment.start + segment.at
      return own[index]?.some(one => one.start === at && one.part !== true) ?? false
    }))
    const open = whole.some(found => isOpenKey(found, joined.text))
    this.tail = open ? BEGIN_MARK + LAST_LINE.exec(joined.text.slice(-TAIL))?.[0] : joined.text.slice(-TAIL)
    return texts.map((text, index) => (
      this.rounds(text, [...crossing.filter(part => part.index === index).map(part => part.found), ...own[index]!])
    ))
  }

  /** Replace every string inside a JSON-like value, keys too. The same value comes back when there is nothing to replace. */
  value<T>(value: T): T {
    return replaceInside(value, (text, kind) => (
      kind === undefined ? this.text(text) : this.rounds(text, [{ start: 0, end: text.length, kind, from: 0 }, ...this.find(text)])
    )) as T
  }

  private find(text: string): Found[] {
    if (text.length < LEAST) return []
    const found = search(text)
    this.memory.find(text, one => void found.push(one))
    for (const pattern of this.patterns) findPattern(pattern, text, one => void found.push(one))
    return found
  }

  private rounds(text: string, found: readonly Found[]): string {
    let current = text
    let places = found
    for (let round = 0; round < ROUNDS && places.length > 0; round += 1) {
      const next = this.replaced(current, places)
      if (next === current) break
      current = next
      places = this.find(current)
    }
    return current
  }

  private replaced(text: string, found: readonly Found[]): string {
    let result = ''
    let at = 0
    for (const place of outsidePlaceholders(text, merged(found))) {
      result += text.slice(at, place.start) + this.memory.placeholder(place, text.slice(place.start, place.end))
      at = place.end
    }
    return result + text.slice(at)
  }
}
