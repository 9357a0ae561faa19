// What of a reply stays in the reviewer's history. It is sent again with every later request, so it has a size.

import { createAssistantMessage } from '@deepseek-ai/dsh-llm'
import type { AssistantMessage, ContentBlock } from '@deepseek-ai/dsh-llm'
import { textOf } from '../observe/entry.ts'
import { truncate } from '../text.ts'
import { NOTE_LIMIT, type CallOutcome, type Verdict } from './reply.ts'

export interface KeptReply {
  readonly message: AssistantMessage
  /** Calls in it, each of which has to be answered. */
  readonly calls: readonly CallOutcome[]
}

/** Calls of one reply that are kept. */
const CALLS_KEPT = 8
/** Characters of a reply that is kept as it came, thinking included. */
const WHOLE_LIMIT = 16_000

/** The reply as it is remembered: none for silence, as it came when it is small and sound, else its useful parts. */
export function tidyReply(message: AssistantMessage, verdict: Verdict): KeptReply | undefined {
  if (verdict.kind === 'silent' || (verdict.kind === 'no-verdict' && verdict.calls.length === 0)) return undefined
  const { calls } = verdict
  const whole = sizeOf(message) <= WHOLE_LIMIT && calls.length <= CALLS_KEPT && calls.every(isSound)
  if (whole) return { message, calls }
  const kept = calls.slice(0, CALLS_KEPT).map(outcome => ({ ...outcome, call: tidyCall(outcome) }))
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
function isSound({ call }: CallOutcome): boolean {
  return call.name !== '' && call.name.length <= 64 && objectIn(call.arguments) !== undefined
}

function tidyCall({ call, finding }: CallOutcome): CallOutcome['call'] {
  const args = finding === undefined ? {} : { note: finding.note, severity: finding.severity }
  return { ...call, name: call.name === '' ? 'unnamed' : truncate(call.name, 64), arguments: JSON.stringify(args) }
}

function objectIn(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
