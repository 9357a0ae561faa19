/** A session log by hand: events as the host writes them, numbered in order. */
import { CallId, MessageId, createAssistantMessage, createToolResultMessage, createUserMessage } from '@deepseek-ai/dsh-llm'
import type { ContentBlock, MessageSource } from '@deepseek-ai/dsh-llm'
import type { SessionEvent, SessionEventMap, SessionEventType, SurfaceOp, TurnEndReason } from '@deepseek-ai/dsh-session'
import type { Fold, Update } from '../../../src/observe/fold.ts'

const MODEL = { provider: 'mock', model: 'primary' }

/** What an assistant message may hold. */
export interface Said {
  readonly text?: string
  readonly reasoning?: string
  /** Names of the tools it calls. */
  readonly calls?: readonly string[]
  readonly interrupted?: boolean
}

export class Log {
  readonly events: SessionEvent[] = []
  private turn = 0
  private step = 0
  private calls = 0

  /** Append any event; `envelope` adds surface fields. */
  add<T extends SessionEventType>(type: T, data: SessionEventMap[T], envelope: object = {}): SessionEvent {
    const event = { type, seq: this.events.length, time: 0, data, ...envelope } as unknown as SessionEvent
    this.events.push(event)
    return event
  }

  /** Append an event of a type that another package declares. */
  addOther(type: string, data: object): SessionEvent {
    return this.add(type as SessionEventType, data as never)
  }

  startTurn(): SessionEvent {
    this.turn += 1
    this.step = 0
    return this.add('turn/start', { turn: this.turn })
  }

  startStep(): SessionEvent {
    this.step += 1
    return this.add('step/start', { turn: this.turn, step: this.step })
  }

  endStep(): SessionEvent {
    return this.add('step/end', { turn: this.turn, step: this.step })
  }

  endTurn(reason: TurnEndReason = { kind: 'completed' }): SessionEvent {
    return this.add('turn/end', { turn: this.turn, reason })
  }

  user(text: string): SessionEvent {
    return this.message(text, { kind: 'user' })
  }

  message(text: string, source: object, replaces?: readonly number[]): SessionEvent {
    const message = createUserMessage({ content: [{ type: 'text', text }], source: source as MessageSource })
    return this.add('user/message', message, surface(replaces))
  }

  chunk(text: string): SessionEvent {
    const chunk = { type: 'text-delta', index: 0, text } as const
    return this.add('assistant/chunk', { turn: this.turn, step: this.step, chunk })
  }

  agent({ text = '', reasoning = '', calls = [], interrupted = false }: Said, replaces?: readonly number[]): SessionEvent {
    const content: ContentBlock[] = []
    if (reasoning !== '') content.push({ type: 'reasoning', text: reasoning })
    if (text !== '') content.push({ type: 'text', text })
    for (const name of calls) content.push({ type: 'tool-call', id: CallId(`for-${name}`), name, arguments: '{}' })
    const message = createAssistantMessage({ content, source: MODEL })
    const data = { turn: this.turn, step: this.step, message, ...interrupted ? { interrupted: true as const } : {} }
    return this.add('assistant/message', data, surface(replaces))
  }

  call(name: string, args: unknown): { readonly event: SessionEvent, readonly id: CallId } {
    const id = CallId(`call-${++this.calls}`)
    const text = typeof args === 'string' ? args : JSON.stringify(args)
    return { event: this.add('tool/call', { turn: this.turn, step: this.step, callId: id, name, arguments: text }), id }
  }

  result(callId: CallId, text: string, more: { isError?: boolean, meta?: object, replaces?: readonly number[] } = {}): SessionEvent {
    const message = createToolResultMessage({ callId, content: [{ type: 'text', text }], isError: more.isError ?? false })
    const data = { turn: this.turn, step: this.step, message, ...more.meta === undefined ? {} : { meta: more.meta as never } }
    return this.add('tool/result', data, surface(more.replaces))
  }

  /** A call and its result. */
  tool(name: string, args: unknown, text: string, more: { isError?: boolean, meta?: object } = {}): SessionEvent {
    return this.result(this.call(name, args).id, text, more)
  }
}

/** How a message enters the model's context: at the end, or in the place of these events. */
function surface(replaces: readonly number[] | undefined): { surfaceOp: SurfaceOp, sourceEventSeqs?: readonly number[] } {
  if (replaces === undefined) return { surfaceOp: 'append' }
  return { surfaceOp: { op: 'replace', start: replaces[0]!, end: replaces.at(-1)! }, sourceEventSeqs: replaces }
}

/** Show a fold all events it has not seen; returns the updates that were cut. */
export function feed(fold: Fold, log: Log, from = 0): Update[] {
  return log.events.slice(from).flatMap((event) => {
    const observed = fold.push(event)
    return observed?.kind === 'update' ? [observed.update] : []
  })
}

/** An id for a message that nobody built. */
export const messageId = (name: string): MessageId => MessageId(name)
