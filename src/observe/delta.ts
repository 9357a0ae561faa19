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

interface Rendered extends Shown {
  readonly heading: string
}

/**
 * Render updates, oldest first, as consecutive user messages.
 * @returns none when nothing in them is worth showing.
 */
export function renderDelta(stretches: readonly Stretch[], limits: DeltaLimits, options: RenderOptions): Shown[] {
  const all = stretches.flatMap(({ turn, step, entries }) => entries
    .map(entry => ({ heading: `## step ${turn}.${step}`, text: renderEntry(entry, options), entry }))
    .filter(({ text }) => text !== ''))
  const kept = bound(all, limits)
  const marker = isWorking(stretches) ? `\n${WORKING}` : ''
  return kept.map(({ heading, text, entry }, index) => {
    const omitted = index === 0 && kept.length < all.length ? `${OMITTED}\n` : ''
    const headed = heading === kept[index - 1]?.heading ? text : `${heading}\n${text}`
    return { text: `${omitted}${headed}${index === kept.length - 1 ? marker : ''}`, entry }
  })
}

/** Whether the newest stretch leaves the agent at work. */
function isWorking(stretches: readonly Stretch[]): boolean {
  const newest = stretches.findLast(stretch => stretch.entries.length > 0)
  const last = newest?.entries.at(-1)
  if (newest === undefined || last === undefined || newest.final) return false
  return last.kind !== 'end' && !(last.kind === 'agent' && last.interrupted)
}

/** Room for the marks that a cut leaves and for one heading, so that the bound holds with them. */
const MARKS = 180
const HEADING = 24

function bound(all: readonly Rendered[], { maxDeltaMessages, maxDeltaChars }: DeltaLimits): Rendered[] {
  const newest = maxDeltaMessages > 0 ? all.slice(-maxDeltaMessages) : all
  const room = maxDeltaChars - MARKS
  const kept: Rendered[] = []
  let size = 0
  for (const message of newest.toReversed()) {
    const length = message.text.length + HEADING
    const fits = size + length <= room
    if (!fits && kept.length > 0) break
    kept.unshift(fits ? message : { ...message, text: cutWhole(message.text, room) })
    size += length
  }
  return kept
}

/** Cut a rendered message. Its lines are safe as they stand; only the one that the tail begins in the middle of is new. */
function cutWhole(text: string, room: number): string {
  let part = 0
  return elide(text, room, omission, piece => part++ === 0 ? piece : piece.replace(/^.*/, line => indentFraming(line)))
}
