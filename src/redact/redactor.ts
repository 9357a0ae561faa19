// Replaces secrets by placeholders before anything is sent, journalled or dumped. The same secret reads as the same thing for as long as
// the redactor lives. It keeps the secrets it saw in memory and writes none of them anywhere.

import { join, type Piece } from './borders.ts'
import { merged, type Found } from './found.ts'
import { isStandIn, isWordy } from './likeness.ts'
import { isSecretValue } from './assignments.ts'
import { announces, type NameKind } from './names.ts'
import { Memory, PLACEHOLDER } from './memory.ts'
import { compilePattern, findPattern, patternFault } from './patterns.ts'
import { BEGIN_MARK } from './private-keys.ts'
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
const DEEPEST = 200

export class Redactor {
  readonly trouble: readonly string[]
  private readonly memory: Memory
  private readonly patterns: readonly RegExp[]
  private tail = ''

  constructor({ patterns, known }: RedactorOptions) {
    this.memory = new Memory(known)
    const faults = patterns.map(pattern => ({ pattern, fault: patternFault(pattern) }))
    this.trouble = faults.flatMap(({ pattern, fault }) => fault === undefined ? [] : [`redactPatterns: "${pattern}" is left out: ${fault}`])
    this.patterns = faults.flatMap(({ pattern, fault }) => fault === undefined ? [compilePattern(pattern)] : [])
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
    const joined = join(this.tail, texts, placeholder => this.memory.cutValue(placeholder))
    const own = texts.map(text => this.find(text))
    const all = merged(this.find(joined.text))
    const crossing = all.flatMap(found => this.crossing(found, joined.text, joined.pieces, own))
    this.tail = all.some(found => found.kind === 'private-key' && found.cut === true && found.end >= joined.text.trimEnd().length)
      ? BEGIN_MARK : joined.text.slice(-TAIL)
    return texts.map((text, index) => this.rounds(text, [...crossing.filter(({ at }) => at === index).map(({ found }) => found), ...own[index]!]))
  }

  /** Replace every string inside a JSON-like value, keys too. The same value comes back when there is nothing to replace. */
  value<T>(value: T): T {
    return this.inside(value, undefined, 0) as T
  }

  private find(text: string): Found[] {
    if (text.length < 4) return []
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

  /** What a secret over a border leaves in each text that it touches. */
  private crossing(found: Found, text: string, pieces: readonly Piece[], own: readonly Found[][]): { at: number, found: Found }[] {
    const from = found.from ?? found.start
    const border = pieces.find(piece => piece.end > from && piece.end < found.end)
    if (border === undefined) return []
    const rest = text.slice(border.end, found.end)
    // A secret that ends where its text does, and a word of the next: the word is the next text's.
    if (border.end > found.start && isWordy(rest) && this.isWhole(border, found.start, own)) return []
    const value = found.value ?? text.slice(found.start, found.end)
    return pieces.flatMap((piece) => {
      const start = Math.max(found.start, piece.start)
      const end = Math.min(found.end, piece.start + piece.verbatim)
      if (piece.index < 0 || start >= end) return []
      return [{ at: piece.index, found: { ...found, start: start - piece.start + piece.offset, end: end - piece.start + piece.offset, value } }]
    })
  }

  private isWhole(piece: Piece, start: number, own: readonly Found[][]): boolean {
    const end = piece.end - piece.start + piece.offset
    return piece.index >= 0 && piece.verbatim === piece.end - piece.start && own[piece.index]!.some(found => (
      found.end === end && found.start === start - piece.start + piece.offset
    ))
  }

  private inside(value: unknown, name: string | undefined, depth: number): unknown {
    if (typeof value === 'string') return this.named(value, name)
    if (typeof value !== 'object' || value === null) return value
    if (depth > DEEPEST) return '[too deep to be read]'
    if (Array.isArray(value)) {
      // `--token`, and then the token: what a command's option announces.
      const inner = value.map((item, index) => this.inside(item, optionName(value[index - 1]) ?? name, depth + 1))
      return inner.every((item, index) => item === value[index]) ? value : inner
    }
    const entries = Object.entries(value)
    const pair = pairName(value)
    const inner = entries.map(([key, item]): [string, unknown] => [this.text(key), this.inside(item, key === 'value' ? pair ?? key : key, depth + 1)])
    return inner.every(([key, item], index) => key === entries[index]![0] && item === entries[index]![1]) ? value : Object.fromEntries(inner)
  }

  private named(text: string, name: string | undefined): string {
    const kind = name === undefined ? undefined : announces(name)
    if (kind === undefined || !isNamedSecret(text, kind)) return this.text(text)
    return this.replaced(text, [{ start: 0, end: text.length, kind: kind === 'weak' ? 'key' : kind }, ...this.find(text)])
  }
}

function isNamedSecret(text: string, kind: NameKind): boolean {
  return !isStandIn(text) && isSecretValue(text, kind, 'quoted', { isClear: true, isLine: false })
}

function optionName(before: unknown): string | undefined {
  return typeof before === 'string' && /^--?[a-z][\w-]*$/i.test(before) ? before : undefined
}

/** `{ name: 'API_TOKEN', value: … }`. */
function pairName(value: object): string | undefined {
  const { name, key } = value as { name?: unknown, key?: unknown }
  return typeof name === 'string' ? name : typeof key === 'string' ? key : undefined
}

/** Placeholders are never touched: of a place that holds one, what stands around it. */
function outsidePlaceholders(text: string, found: readonly Found[]): readonly Found[] {
  if (!text.includes('[secret ')) return found
  const placeholders = [...text.matchAll(PLACEHOLDER)].map(match => ({ start: match.index, end: match.index + match[0].length }))
  return found.flatMap((place) => {
    const within = placeholders.filter(({ start, end }) => start < place.end && end > place.start)
    if (within.length === 0) return [place]
    if (place.kind !== 'private-key') return []
    const { value: _, ...rest } = place
    return [...within, { start: place.end, end: place.end }]
      .map(({ start }, index) => ({ ...rest, start: index === 0 ? place.start : within[index - 1]!.end, end: start }))
      .filter(({ start, end }) => end - start >= 16)
  })
}
