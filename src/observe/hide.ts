// Secrets go out of an entry while its texts are still whole: once they are cut, a half would no longer be known for one.

import { createHash } from 'node:crypto'
import type { Diff, Entry } from './entry.ts'

/** What replaces secrets in texts; see `redact/redactor.ts`. */
export interface Hider {
  text(text: string): string
  texts(texts: readonly string[]): string[]
  value<T>(value: T): T
}

/** Characters at each end of a text that are looked through. What is shown of one is far less, and what lies between is dropped. */
const END = 32_000
/** Stands for a dropped character, so that a text keeps its length. */
const DROPPED = '.'

/** The entry as a reviewer may see it; the same object when there is nothing to hide. */
export function hideEntry(entry: Entry, hider: Hider): Entry {
  switch (entry.kind) {
    case 'user':
    case 'user-command':
    case 'context': return withTexts(entry, { text: hideText(entry.text, hider) })
    case 'agent': return withTexts(entry, { text: hideText(entry.text, hider), reasoning: hideText(entry.reasoning, hider) })
    case 'tool': {
      const hidden = withTexts(entry, { name: hideText(entry.name, hider), args: hideArguments(entry.args, hider), output: hideText(entry.output, hider) })
      const diffs = entry.diffs.map(diff => hideDiff(diff, hider))
      return diffs.every((diff, index) => diff === entry.diffs[index]) ? hidden : { ...hidden, diffs }
    }
    case 'end': return entry
  }
}

/** A text of any size: searching takes time, and the host waits for it. */
function hideText(text: string, hider: Hider): string {
  if (text.length <= 2 * END) return hider.text(text)
  const middle = text.slice(END, -END)
  // Two texts that differ only there must not become the same.
  const mark = createHash('sha1').update(middle).digest('hex')
  return hider.text(text.slice(0, END)) + mark + DROPPED.repeat(Math.max(0, middle.length - mark.length)) + hider.text(text.slice(-END))
}

/** Arguments are JSON: what is secret in them stands escaped. */
export function hideArguments(json: string, hider: Hider): string {
  if (json.length > 2 * END) return hideLongArguments(json, hider)
  try {
    const args: unknown = JSON.parse(json)
    const hidden = JSON.stringify(hider.value(args))
    return hidden === JSON.stringify(args) ? json : hidden
  } catch {
    return hider.text(json)
  }
}

/** The same for a file in an argument: its text is looked through by itself, the rest together. */
function hideLongArguments(json: string, hider: Hider): string {
  const texts: string[] = []
  const name = (index: number) => `\0${index}\0`
  try {
    let rest = json.length
    const args: unknown = JSON.parse(json, (_key, value: unknown) => {
      if (typeof value !== 'string' || value.length <= END) return value
      rest -= value.length
      return name(texts.push(hideText(value, hider)) - 1)
    })
    if (rest > 2 * END) return hideText(json, hider)
    const named = new Map(texts.map((text, index) => [name(index), text]))
    return JSON.stringify(hider.value(args), (_key, value: unknown) => typeof value === 'string' ? named.get(value) ?? value : value)
  } catch {
    return hideText(json, hider)
  }
}

function hideDiff(diff: Diff, hider: Hider): Diff {
  return withTexts(diff, {
    path: hideText(diff.path, hider), newText: hideText(diff.newText, hider), oldText: diff.oldText === null ? null : hideText(diff.oldText, hider),
  })
}

/** A value of ours with every text in it hidden. Its keys are none. */
function hideTexts(value: unknown, hider: Hider): unknown {
  if (typeof value === 'string') return hideText(value, hider)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => hideTexts(item, hider))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hideTexts(item, hider)]))
}

function withTexts<T extends object>(whole: T, texts: Partial<T>): T {
  return Object.entries(texts).every(([key, text]) => whole[key as keyof T] === text) ? whole : { ...whole, ...texts }
}

/** Lays a hider over all that one reviewer is shown; without one, everything is shown as it is. */
export class Veil {
  private hider: Hider | undefined
  private entries = new WeakMap<Entry, Entry>()

  /** Returns whether it is another than before. */
  use(hider: Hider | undefined): boolean {
    if (hider === this.hider) return false
    this.hider = hider
    this.entries = new WeakMap()
    return true
  }

  text(text: string): string {
    return this.hider?.text(text) ?? text
  }

  texts(texts: readonly string[]): string[] {
    return this.hider?.texts(texts) ?? [...texts]
  }

  value<T>(value: T): T {
    return this.hider === undefined ? value : hideTexts(value, this.hider) as T
  }

  /** The same object for the same update's entries, however often it is asked for. */
  update<T extends { readonly entries: readonly Entry[] }>(update: T): T {
    return this.hider === undefined ? update : { ...update, entries: update.entries.map(entry => this.entry(entry)) }
  }

  private entry(entry: Entry): Entry {
    const known = this.entries.get(entry)
    if (known !== undefined || this.hider === undefined) return known ?? entry
    const hidden = hideEntry(entry, this.hider)
    this.entries.set(entry, hidden)
    return hidden
  }
}
