// What of a reply stays in the reviewer's history. It is sent again with every later request, so it has a size.

import { createAssistantMessage } from '@deepseek-ai/dsh-llm'
import type { AssistantMessage, ContentBlock } from '@deepseek-ai/dsh-llm'
import type { Finding } from '../finding.ts'
import { isMapping } from '../mapping.ts'
import { textOf } from '../observe/entry.ts'
import { truncate } from '../text.ts'
import type { AnsweredCall } from './conversation.ts'
import { NOTE_LIMIT } from './reply.ts'

/** A call with what it said, when it gave a note. */
export interface HeardCall extends AnsweredCall {
  readonly finding?: Finding
}

export interface KeptReply {
  readonly message: AssistantMessage
  /** Calls in it, each of which has to be answered. */
  readonly calls: readonly HeardCall[]
}

/** Calls of one reply that are answered and kept. */
export const CALLS_KEPT = 8
/** Characters of a reply that is kept as it came, thinking included. */
const WHOLE_LIMIT = 16_000

/** The reply as it is remembered: as it came when it is small and sound, else its useful parts. */
export function tidyReply(message: AssistantMessage, calls: readonly HeardCall[]): KeptReply {
  const whole = sizeOf(message) <= WHOLE_LIMIT && calls.length <= CALLS_KEPT && calls.every(isSound)
  if (whole) return { message, calls }
  const kept = calls.slice(0, CALLS_KEPT).map(heard => ({ ...heard, call: tidyCall(heard) }))
  const text = truncate(textOf(message.content.filter(block => block.type === 'text')), NOTE_LIMIT)
  const content: ContentBlock[] = [
    ...message.content.filter(block => block.type === 'reasoning').slice(0, 1).map(block => ({ ...block, text: truncate(block.text, NOTE_LIMIT) })),
    ...text === '' ? [] : [{ type: 'text' as const, text }],
    ...kept.map(({ call }) => call),
  ]
  const { provider, model } = message.source
  return { message: createAssistantMessage({ content, source: { provider, model } }), calls: kept }
}

function sizeOf(message: AssistantMessage): number {
  return message.content.reduce((sum, block) => {
    if (block.type === 'tool-call') return sum + block.arguments.length
    return block.type === 'text' || block.type === 'reasoning' ? sum + block.text.length : sum
  }, 0)
}

/** A provider must be able to take it back as history. */
function isSound({ call }: HeardCall): boolean {
  return call.name !== '' && call.name.length <= 64 && objectIn(call.arguments) !== undefined
}

function tidyCall({ call, finding }: HeardCall): HeardCall['call'] {
  const args = finding ?? smallArguments(call.arguments)
  return { ...call, name: call.name === '' ? 'unnamed' : truncate(call.name, 64), arguments: JSON.stringify(args) }
}

function smallArguments(json: string): object {
  return json.length <= NOTE_LIMIT ? objectIn(json) ?? {} : {}
}

function objectIn(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return isMapping(value) ? value : undefined
  } catch {
    return undefined
  }
}
