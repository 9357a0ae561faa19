// An update rendered: one text per source message, bounded in number and in size, the newest kept.

import { elide } from '../text.ts'
import type { Entry } from './entry.ts'
import type { Update } from './fold.ts'
import { omission, renderEntry, WORKING, type RenderOptions } from './markdown.ts'

export const OMITTED = '… <earlier messages omitted>'

export interface DeltaLimits {
  /** Messages, 0 = unbounded. */
  readonly maxDeltaMessages: number
  /** Characters over all messages. */
  readonly maxDeltaChars: number
}

/** A stretch of entries under one heading. */
export type Stretch = Pick<Update, 'turn' | 'step' | 'final' | 'entries'>

/**
 * Render updates, oldest first, as the texts of consecutive user messages.
 * @returns no text when nothing in them is worth showing.
 */
export function renderDelta(stretches: readonly Stretch[], limits: DeltaLimits, options: RenderOptions): string[] {
  const texts: string[] = []
  for (const stretch of stretches) {
    const rendered = renderEntries(stretch.entries, options)
    if (rendered.length === 0) continue
    rendered[0] = `## step ${stretch.turn}.${stretch.step}\n${rendered[0]}`
    texts.push(...rendered)
  }
  const last = stretches.findLast(stretch => stretch.entries.length > 0)
  const working = last !== undefined && !last.final && last.entries.at(-1)?.kind !== 'end'
  if (texts.length > 0 && working) texts.push(`${texts.pop()}\n${WORKING}`)
  return bound(texts, limits)
}

function renderEntries(entries: readonly Entry[], options: RenderOptions): string[] {
  return entries.map(entry => renderEntry(entry, options)).filter(text => text !== '')
}

/** Room for the marks that a cut leaves, so that the bound holds with them. */
const MARKS = 120

function bound(texts: string[], { maxDeltaMessages, maxDeltaChars }: DeltaLimits): string[] {
  const newest = maxDeltaMessages > 0 ? texts.slice(-maxDeltaMessages) : texts
  const room = maxDeltaChars - MARKS
  const kept: string[] = []
  let size = 0
  for (const text of newest.toReversed()) {
    const fits = size + text.length <= room
    if (!fits && kept.length > 0) break
    kept.unshift(fits ? text : elide(text, room, omission))
    size += text.length
  }
  if (kept.length > 0 && kept.length < texts.length) kept[0] = `${OMITTED}\n${kept[0]}`
  return kept
}
