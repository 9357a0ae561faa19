// Tool results that stand in the conversation: one that comes again is named instead of shown, which also says that it came again.

import { createHash } from 'node:crypto'
import type { SameResult, ToolEntry } from '../observe/markdown.ts'
import type { Update } from '../observe/fold.ts'

/** Shorter results cost no more than their reference. */
const WORTH_NAMING = 120

export class ShownResults {
  /** Fingerprint of call and result → the step it was first shown at. */
  private steps = new Map<string, string>()

  readonly find: SameResult = entry => isNamed(entry) ? this.steps.get(fingerprint(entry)) : undefined

  /** These updates were read; only entries that were really shown, and in full, may be named later. */
  add(updates: readonly Update[], shown: ReadonlySet<unknown>): void {
    for (const { turn, step, entries } of updates) {
      for (const entry of entries) {
        if (entry.kind !== 'tool' || !shown.has(entry) || !isNamed(entry)) continue
        const key = fingerprint(entry)
        if (!this.steps.has(key)) this.steps.set(key, `${turn}.${step}`)
      }
    }
  }

  clear(): void {
    this.steps.clear()
  }
}

function isNamed(entry: ToolEntry): boolean {
  return entry.outcome === 'ok' && entry.diffs.length === 0 && entry.output.length >= WORTH_NAMING
}

function fingerprint(entry: ToolEntry): string {
  return createHash('sha1').update(entry.name).update('\0').update(entry.args).update('\0').update(entry.output).digest('base64')
}
