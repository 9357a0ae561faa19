// An update rendered: one text per source message, bounded in number and in size, the newest kept.

import { elide } from '../text.ts'
import type { Entry } from './entry.ts'
import type { Update } from './fold.ts'
import { indentFraming, omission, renderEntry, WORKING, type RenderOptions } from './markdown.ts'

export const OMITTED = '… <earlier messages omitted>'

export interface DeltaLimits {
  /** Messages, 0 = unbounded. */
  readonly maxDeltaMessages: number
  /** Characters over all messages. */
  readonly maxDeltaChars: number
}

/** A stretch of entries under one heading. */
export type Stretch = Pick<Update, 'turn' | 'step' | 'final' | 'entries'>

/** One message to come, and what it shows. */
export interface Shown {
  readonly text: string
  readonly entry: Entry
}

/**
 * Render updates, oldest first, as consecutive user messages.
 * @returns none when nothing in them is worth showing.
 */
export function renderDelta(stretches: readonly Stretch[], limits: DeltaLimits, options: RenderOptions): Shown[] {
  const shown = stretches.flatMap(stretch => stretch.entries
    .map(entry => ({ text: renderEntry(entry, options), entry }))
    .filter(({ text }) => text !== '')
    .map(({ text, entry }, index) => ({ text: index === 0 ? `## step ${stretch.turn}.${stretch.step}\n${text}` : text, entry })))
  const last = stretches.findLast(stretch => stretch.entries.length > 0)
  const working = last !== undefined && !last.final && last.entries.at(-1)?.kind !== 'end'
  const bounded = bound(shown, limits)
  const newest = bounded.pop()
  if (newest === undefined) return []
  return [...bounded, working ? { ...newest, text: `${newest.text}\n${WORKING}` } : newest]
}

/** Room for the marks that a cut leaves, so that the bound holds with them. */
const MARKS = 160

function bound(all: readonly Shown[], { maxDeltaMessages, maxDeltaChars }: DeltaLimits): Shown[] {
  const newest = maxDeltaMessages > 0 ? all.slice(-maxDeltaMessages) : all
  const room = maxDeltaChars - MARKS
  const kept: Shown[] = []
  let size = 0
  for (const { text, entry } of newest.toReversed()) {
    const fits = size + text.length <= room
    if (!fits && kept.length > 0) break
    kept.unshift({ text: fits ? text : cutWhole(text, room), entry })
    size += text.length
  }
  const [oldest, ...rest] = kept
  if (oldest === undefined || kept.length === all.length) return kept
  return [{ ...oldest, text: `${OMITTED}\n${oldest.text}` }, ...rest]
}

/** Cut a rendered message. Its lines are safe as they stand; only the one that the tail begins in the middle of is new. */
function cutWhole(text: string, room: number): string {
  let part = 0
  return elide(text, room, omission, piece => part++ === 0 ? piece : piece.replace(/^.*/, line => indentFraming(line)))
}
