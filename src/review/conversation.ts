// The reviewer's private conversation. Append-only between resets, so that the provider's prefix cache grows.

import { createToolResultMessage, createUserMessage } from '@deepseek-ai/dsh-llm'
import type { AssistantMessage, Message } from '@deepseek-ai/dsh-llm'
import type { CallOutcome } from './reply.ts'

export class Conversation {
  private messages: readonly Message[] = []

  /** Nothing stands in it: the next request has to pin the task first. */
  get fresh(): boolean {
    return this.messages.length === 0
  }

  /** The messages of a request that shows `batch` for the first time. */
  with(batch: readonly Message[]): Message[] {
    return [...this.messages, ...batch]
  }

  /** The batch was reviewed. A reply is kept only if the reviewer has to know of it; silence leaves no trace. */
  commit(batch: readonly Message[], reply?: AssistantMessage, calls: readonly CallOutcome[] = []): void {
    this.messages = [
      ...this.messages, ...batch,
      ...reply === undefined ? [] : [reply],
      ...calls.map(({ call, answer }) => createToolResultMessage({
        callId: call.id, content: [{ type: 'text', text: answer }], isError: false,
      })),
    ]
  }

  clear(): void {
    this.messages = []
  }
}

/** One user message a text. */
export function toMessages(texts: readonly string[]): Message[] {
  return texts.map(text => createUserMessage({
    content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'dsh-advisor' },
  }))
}
