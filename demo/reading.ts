// What the recorded calls say: which step a call belongs to, what a reviewer was shown, which note it gave, and where it landed.

import { messageText, type Role } from '../tests/support/model-server.ts'
import type { Exchange } from './recorder.ts'

export interface Note { text: string; severity: string }

export function of(exchanges: readonly Exchange[], role: Role): Exchange[] {
  return exchanges.filter(exchange => exchange.role === role)
}

/** What this review was shown that the one before it was not. */
export function shownTo(review: Exchange): string {
  const { messages } = review.body
  const start = messages.findLastIndex(message => message.role === 'user' && messageText(message).startsWith('## step '))
  return messages.slice(Math.max(0, start)).filter(message => message.role === 'user').map(messageText).join('\n')
}

/** The notes in a reply. A broken call is none. */
export function notesIn(review: Exchange): Note[] {
  return review.calls.filter(call => call.name === 'advise').flatMap((call) => {
    try {
      const { note, severity } = JSON.parse(call.arguments)
      return [{ text: String(note), severity: String(severity) }]
    } catch {
      return []
    }
  })
}

/** The advice an agent's request ends with, as the agent reads it; '' when there is none since its last own words. */
export function adviceIn(request: Exchange): string {
  const { messages } = request.body
  const since = messages.slice(messages.findLastIndex(message => message.role === 'assistant') + 1)
  return since.filter(message => message.role === 'user').map(messageText).filter(text => text.startsWith('<advisory ')).join('\n')
}

/** The agent's first request after a review had ended, if there was one. */
export function nextRequest(exchanges: readonly Exchange[], review: Exchange): Exchange | undefined {
  return of(exchanges, 'primary').find(request => request.arrivedAt >= (review.endedAt ?? Infinity))
}

/** Whether a call of this step touched a file. */
export function edits(step: Exchange, file: string): boolean {
  return step.calls.some(call => /^(edit|write)$/.test(call.name) && call.arguments.includes(file))
}
