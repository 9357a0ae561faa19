// The reviewer's private conversation. Append-only between upkeeps, so that the provider's prefix cache grows.

import { createToolResultMessage, createUserMessage } from '@deepseek-ai/dsh-llm'
import type { AssistantMessage, Message, ToolCallBlock } from '@deepseek-ai/dsh-llm'

/** A call in a reply, and what the reviewer is told about it. */
export interface AnsweredCall {
  readonly call: ToolCallBlock
  readonly answer: string
  readonly failed?: boolean
}

/** What one review added: what was shown, then replies and the results of their calls. */
interface Exchange {
  readonly shown: readonly Message[]
  readonly replies: readonly Message[]
}

/** Stands for a result that was let go. */
const RESULT_DROPPED = '[dropped to save room; call again if you need it]'

export class Conversation {
  private exchanges: readonly Exchange[] = []

  /** Nothing stands in it: the next request has to pin the task first. */
  get fresh(): boolean {
    return this.exchanges.length === 0
  }

  /** Reviews that stand in it. */
  get length(): number {
    return this.exchanges.length
  }

  get messages(): Message[] {
    return this.exchanges.flatMap(({ shown, replies }) => [...shown, ...replies])
  }

  /** The messages of a request that adds `more`. */
  with(more: readonly Message[]): Message[] {
    return [...this.messages, ...more]
  }

  /** A review is over. A reply is kept only if the reviewer has to know of it; silence leaves no trace. */
  commit(shown: readonly Message[], replies: readonly Message[] = []): void {
    this.exchanges = [...this.exchanges, { shown, replies }]
  }

  /** Let go of tool results older than the last review. Returns whether any was there. */
  dropResults(): boolean {
    let dropped = false
    this.exchanges = this.exchanges.map((exchange, index) => {
      if (index === this.exchanges.length - 1) return exchange
      return {
        ...exchange, replies: exchange.replies.map((message) => {
          const smaller = withoutResult(message)
          dropped ||= smaller !== message
          return smaller
        }),
      }
    })
    return dropped
  }

  /** Put `lead` in the place of all but the newest `kept` reviews. */
  replaceOlder(lead: readonly Message[], kept: number): void {
    this.exchanges = [{ shown: lead, replies: [] }, ...kept === 0 ? [] : this.exchanges.slice(-kept)]
  }

  /** How many of the newest reviews take at most `limit`, by `measure` of their messages. */
  newestWithin(limit: number, measure: (messages: readonly Message[]) => number): number {
    let [kept, size] = [0, 0]
    for (const { shown, replies } of this.exchanges.toReversed()) {
      size += measure(shown) + measure(replies)
      if (size > limit) break
      kept += 1
    }
    return kept
  }

  clear(): void {
    this.exchanges = []
  }
}

/** One user message a text. */
export function toMessages(texts: readonly string[]): Message[] {
  return texts.map(text => createUserMessage({
    content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'dsh-advisor' },
  }))
}

/** A reply and the answers to all of its calls. */
export function toExchange(reply: AssistantMessage, calls: readonly AnsweredCall[]): Message[] {
  return [reply, ...calls.map(({ call, answer, failed }) => createToolResultMessage({
    callId: call.id, content: [{ type: 'text', text: answer }], isError: failed === true,
  }))]
}

function withoutResult(message: Message): Message {
  const [block] = message.content
  if (block?.type !== 'tool-result') return message
  const size = block.content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
  if (size <= RESULT_DROPPED.length * 4) return message
  return createToolResultMessage({ callId: block.toolCallId, content: [{ type: 'text', text: RESULT_DROPPED }], isError: false })
}
