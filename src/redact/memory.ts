// The secrets seen so far: what each is called, and where it stands again without what told it.
// Bounded: of more than it can hold, what was not met for longest is forgotten, numbers are never given twice.

import type { Found } from './found.ts'
import { isWordy } from './likeness.ts'

/** Values kept, and characters in all of them. */
const MOST_VALUES = 4_096
const MOST_UNITS = 1_000_000
const LONGEST_VALUE = 8_000
const MOST_PARTS = 20
/** A shorter value is looked for only where its place tells it. */
const LEAST_KNOWN = 6
const LEAST_SEEN = 8
/** Of so many characters, words are a passphrase and not an ordinary text. */
const LONGEST_WORDS = 24

interface Secret {
  readonly placeholder: string
  readonly kind: string
  /** What its placeholder last stood for. */
  meaning: string
}

export class Memory {
  private readonly secrets = new Map<string, Secret>()
  private readonly searched = new ValueIndex()
  private readonly lasting = new Set<string>()
  private readonly named = new Map<string, Secret>()
  /** Secrets of which a text's end left only the beginning: by that, the newest last. */
  private readonly parts = new Map<string, Secret>()
  private units = 0
  private last = 0

  /** @param known - values that are secret wherever they stand. */
  constructor(known: readonly string[]) {
    for (const value of known) {
      if (value.length < LEAST_KNOWN) continue
      for (const spelling of spellings(value)) {
        this.lasting.add(spelling)
        this.searched.add(spelling)
      }
    }
  }

  /** Distinct secrets replaced. */
  get count(): number {
    return this.last
  }

  /** Places of values that were seen before. */
  find(text: string, push: (found: Found) => void): void {
    this.searched.find(text, (value, start) => {
      push({ start, end: start + value.length, kind: this.secrets.get(value)?.kind ?? 'stored-credential' })
    })
  }

  /** What stands in the place of a secret, the same for the same value. */
  placeholder(found: Found, text: string): string {
    const value = found.value ?? text
    const others = found.aliases ?? []
    const secret = this.recall([value, text, ...others]) ?? this.continued(value, found.kind) ?? this.create(found.kind)
    this.keep(value, secret)
    for (const other of others) this.keep(other, secret)
    secret.meaning = own(text.slice(-LONGEST_VALUE))
    if (found.part === true) this.notePart(value, secret)
    return secret.placeholder
  }

  /** What a placeholder stood for when it was last given; none when that is forgotten. */
  meaning(placeholder: string): string | undefined {
    return this.named.get(placeholder)?.meaning
  }

  private recall(values: readonly string[]): Secret | undefined {
    for (const value of values) {
      const secret = this.secrets.get(value)
      if (secret === undefined) continue
      // Moved to the end: what is met often is not forgotten.
      this.secrets.delete(value)
      this.secrets.set(value, secret)
      return secret
    }
    return undefined
  }

  private continued(value: string, kind: string): Secret | undefined {
    for (const [part, secret] of this.parts) {
      if (value.startsWith(part) && secret.kind === kind) return secret
    }
    return undefined
  }

  private create(kind: string): Secret {
    const secret = { placeholder: `[secret ${this.last += 1}: ${kind}]`, kind, meaning: '' }
    this.named.set(secret.placeholder, secret)
    if (this.named.size > MOST_VALUES) this.named.delete(this.named.keys().next().value!)
    return secret
  }

  private keep(value: string, secret: Secret): void {
    if (this.secrets.has(value) || value.length > LONGEST_VALUE) return
    for (const spelling of spellings(own(value))) {
      if (this.secrets.has(spelling)) continue
      this.secrets.set(spelling, secret)
      this.units += spelling.length
      if (isDistinct(spelling)) this.searched.add(spelling)
    }
    this.forget()
  }

  private forget(): void {
    for (const value of this.secrets.keys()) {
      if (this.secrets.size <= MOST_VALUES && this.units <= MOST_UNITS) return
      this.secrets.delete(value)
      this.units -= value.length
      if (!this.lasting.has(value)) this.searched.remove(value)
    }
  }

  private notePart(value: string, secret: Secret): void {
    this.parts.set(own(value), secret)
    if (this.parts.size > MOST_PARTS) this.parts.delete(this.parts.keys().next().value!)
  }
}

/** A copy: a part of a large text would keep all of it alive. */
function own(value: string): string {
  return Buffer.from(value, 'utf16le').toString('utf16le')
}

/** A value as it is, and as JSON and URLs write it. */
function spellings(value: string): Set<string> {
  return new Set([value, JSON.stringify(value).slice(1, -1), encodeUri(value)])
}

function encodeUri(value: string): string {
  try { return encodeURIComponent(value) } catch { return value }
}

/** Whether a value can be told from ordinary text where nothing announces it. */
function isDistinct(value: string): boolean {
  if (value.length < LEAST_SEEN || /^\d{1,8}$/.test(value)) return false
  return value.length >= LONGEST_WORDS || !isWordy(value)
}

const HASH_MASK = 0xfff
/** So few values are found faster one after the other. */
const FEW = 12

/** Values by their first four units, for one pass over a text. */
class ValueIndex {
  private readonly buckets = new Map<number, string[]>()
  private readonly filled = new Uint8Array(HASH_MASK + 1)

  add(value: string): void {
    const hash = hashOf(value)
    const bucket = this.buckets.get(hash) ?? []
    if (bucket.includes(value)) return
    // The longest first: it is the outermost.
    this.buckets.set(hash, [...bucket, value].sort((a, b) => b.length - a.length))
    this.filled[hash] = 1
  }

  remove(value: string): void {
    const hash = hashOf(value)
    const bucket = this.buckets.get(hash)?.filter(other => other !== value) ?? []
    if (bucket.length > 0) return void this.buckets.set(hash, bucket)
    this.buckets.delete(hash)
    this.filled[hash] = 0
  }

  find(text: string, found: (value: string, start: number) => void): void {
    if (this.buckets.size <= FEW) {
      for (const bucket of this.buckets.values()) {
        for (const value of bucket) {
          for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) found(value, at)
        }
      }
      return
    }
    const { filled } = this
    let hash = 0
    for (let at = 0; at < text.length; at += 1) {
      // Shifted by a quarter of its bits for each unit: what stands four units back has left it.
      hash = (hash << 3 ^ text.charCodeAt(at)) & HASH_MASK
      if (filled[hash] === 0 || at < 3) continue
      const value = this.buckets.get(hash)?.find(candidate => text.startsWith(candidate, at - 3))
      if (value !== undefined) found(value, at - 3)
    }
  }
}

function hashOf(value: string): number {
  let hash = 0
  for (let at = 0; at < 4; at += 1) hash = (hash << 3 ^ value.charCodeAt(at)) & HASH_MASK
  return hash
}
