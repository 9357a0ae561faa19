// What the recorded calls say: which step a call belongs to, what a reviewer was shown and looked up, which note it gave, and
// where it landed.

import { messageText, type ChatMessage, type Role } from '../tests/support/model-server.ts'
import type { Exchange } from './recorder.ts'

export interface Note { text: string; severity: string; quote?: string }

export function of(exchanges: readonly Exchange[], role: Role): Exchange[] {
  return exchanges.filter(exchange => exchange.role === role)
}

/** What this review was shown that the one before it was not. */
export function shownTo(review: Exchange): string {
  const { messages } = review.body
  const start = messages.findLastIndex(message => message.role === 'user' && messageText(message).startsWith('## step '))
  return messages.slice(Math.max(0, start)).filter(message => message.role === 'user').map(messageText).join('\n')
}

/** The calls in a reply that look something up. */
export function lookupsIn(review: Exchange): Exchange['calls'] {
  return review.calls.filter(call => call.name !== 'advise')
}

/** What a request answers to the lookups in the reply before it, in their order. */
export function answersIn(review: Exchange): string[] {
  const { messages } = review.body
  const asked = messages.findLast(message => message.role === 'assistant')
  const results = new Map(sinceReply(messages).filter(({ role }) => role === 'tool').map(message => [message.tool_call_id, messageText(message)]))
  return asked?.tool_calls?.flatMap(call => call.function.name === 'advise' ? [] : results.get(call.id) ?? []) ?? []
}

/** Whether a request goes on with a review: it follows a lookup, and shows no new update. */
export function isGoingOn(review: Exchange): boolean {
  return answersIn(review).length > 0 && !sinceReply(review.body.messages).some(({ role }) => role === 'user')
}

/** The notes in a reply. A broken call is none. */
export function notesIn(review: Exchange): Note[] {
  return review.calls.filter(call => call.name === 'advise').flatMap((call) => {
    try {
      const { note, severity, evidence } = JSON.parse(call.arguments)
      return [{ text: String(note), severity: String(severity), ...evidence?.quote === undefined ? {} : { quote: String(evidence.quote) } }]
    } catch {
      return []
    }
  })
}

/** The advice an agent's request ends with, as the agent reads it; '' when there is none since its last own words. */
export function adviceIn(request: Exchange): string {
  return sinceReply(request.body.messages).filter(message => message.role === 'user').map(messageText).filter(text => text.startsWith('<advisory ')).join('\n')
}

/** The first request of a role after a reply had ended, if there was one. */
export function nextRequest(exchanges: readonly Exchange[], role: Role, reply: Exchange): Exchange | undefined {
  return of(exchanges, role).find(request => request.arrivedAt >= (reply.endedAt ?? Infinity))
}

/** Whether a call of this step changed a file, and wrote this into it. */
export function edits(step: Exchange, file: string, text = ''): boolean {
  return step.calls.some(call => /^(edit|write)$/.test(call.name) && call.arguments.includes(file) && call.arguments.includes(text))
}

function sinceReply(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.slice(messages.findLastIndex(message => message.role === 'assistant') + 1)
}
