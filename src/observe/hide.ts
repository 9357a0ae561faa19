// Secrets go out of an entry while its texts are still whole: once they are cut, a half would no longer be known for one.

import type { Diff, Entry } from './entry.ts'

/** What replaces secrets in texts; see `redact/redactor.ts`. */
export interface Hider {
  text(text: string): string
  texts(texts: readonly string[]): string[]
  value<T>(value: T): T
}

/** The entry as a reviewer may see it; the same object when there is nothing to hide. */
export function hideEntry(entry: Entry, hider: Hider): Entry {
  switch (entry.kind) {
    case 'user':
    case 'user-command':
    case 'context': return withTexts(entry, { text: hider.text(entry.text) })
    case 'agent': return withTexts(entry, { text: hider.text(entry.text), reasoning: hider.text(entry.reasoning) })
    case 'tool': {
      const hidden = withTexts(entry, { name: hider.text(entry.name), args: hideArguments(entry.args, hider), output: hider.text(entry.output) })
      const diffs = entry.diffs.map(diff => hideDiff(diff, hider))
      return diffs.every((diff, index) => diff === entry.diffs[index]) ? hidden : { ...hidden, diffs }
    }
    case 'end': return entry
  }
}

/** Arguments are JSON: what is secret in them stands escaped. */
export function hideArguments(json: string, hider: Hider): string {
  try {
    const args: unknown = JSON.parse(json)
    const hidden = JSON.stringify(hider.value(args))
    return hidden === JSON.stringify(args) ? json : hidden
  } catch {
    return hider.text(json)
  }
}

function hideDiff(diff: Diff, hider: Hider): Diff {
  return withTexts(diff, {
    path: hider.text(diff.path), newText: hider.text(diff.newText), oldText: diff.oldText === null ? null : hider.text(diff.oldText),
  })
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
    return this.hider?.value(value) ?? value
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
