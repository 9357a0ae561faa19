// The end of a headless run: its last reviews are waited for, within bounds, and what the agent has not seen is shown.

import { within, type Clock } from '../clock.ts'
import { rank } from '../severity.ts'
import { count } from '../text.ts'
import { labelOf, type Note } from './note.ts'

/** The longest wait after a run that failed, in seconds. */
const AFTER_ERROR_SECONDS = 30

/**
 * Wait for the last reviews.
 * @param finish - resolves when no review is under way, or its signal aborts.
 * @returns the seconds after which reviews were cut, or undefined when all ended.
 */
export async function drain(
  finish: (signal: AbortSignal) => Promise<void>,
  run: { readonly seconds: number, readonly failed: boolean },
  clock: Clock, cancelled: AbortSignal,
): Promise<number | undefined> {
  const seconds = run.failed ? Math.min(run.seconds, AFTER_ERROR_SECONDS) : run.seconds
  return await within(seconds * 1000, cancelled, clock, finish) === 'late' ? seconds : undefined
}

/** A readable block of what the agent has not seen, worst first; '' when there is nothing. */
export function unseenText(notes: readonly Note[]): string {
  if (notes.length === 0) return ''
  const blockers = notes.filter(note => note.severity === 'blocker').length
  const title = `${count(notes.length, 'note')} the agent has not seen${blockers === 0 ? '' : `, ${count(blockers, 'blocker')}`}`
  const lines = notes.toSorted((a, b) => rank(b.severity) - rank(a.severity))
    .map(note => `  ${labelOf(note)} ${note.text.replace(/\n/g, '\n    ')}`)
  return [title, ...lines].join('\n')
}
