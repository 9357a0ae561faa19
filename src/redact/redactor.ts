// Replaces secrets by placeholders before anything is sent, journalled or dumped. The same secret reads as the same thing for as long as
// the redactor lives. It keeps the secrets it saw in memory and writes none of them anywhere.

import { GLUES, join, split } from './borders.ts'
import { merged, outsidePlaceholders, type Found } from './found.ts'
import { searchAround } from './around.ts'
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
    const own = texts.map(text => this.find(text))
    const before = this.tail
    const crossing = GLUES.flatMap((glue) => {
      const joined = join(before, texts, glue, placeholder => this.memory.meaning(placeholder))
      const whole = merged(this.find(joined.text))
      if (glue === '') this.keepTail(joined.text, whole)
      return whole.flatMap(found => split(found, joined, own))
    })
    return texts.map((text, index) => (
      this.rounds(text, [...crossing.filter(part => part.index === index).map(part => part.found), ...own[index]!])
    ))
  }

  private keepTail(text: string, found: readonly Found[]): void {
    const end = text.slice(-TAIL)
    this.tail = found.some(one => isOpenKey(one, text)) ? `${BEGIN_MARK}${LAST_LINE.exec(end)?.[0]}` : end
  }

  /** Replace every string inside a JSON-like value, keys too. The same value comes back when there is nothing to replace. */
  value<T>(value: T): T {
    return replaceInside(value, (text, kind) => (
      kind === undefined ? this.text(text) : this.rounds(text, [{ start: 0, end: text.length, kind, from: 0 }, ...this.find(text)])
    )) as T
  }

  private find(text: string): Found[] {
    if (text.length < LEAST) return []
    const found = [...search(text), ...searchAround(text)]
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
