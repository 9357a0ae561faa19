/** A model service whose streams the test drives chunk by chunk. */
import { CallId } from '@deepseek-ai/dsh-llm'
import type { GenerateOptions, LlmFailure, LlmResolvedModelInfo, StreamChunk, TokenUsage } from '@deepseek-ai/dsh-llm'
import type { ModelService } from '../../../src/review/call.ts'

export const USAGE: TokenUsage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 50 }
export const REQUEST: GenerateOptions = { provider: 'p', model: 'm', system: 's', messages: [] }
export const INFO: LlmResolvedModelInfo = { provider: 'p', id: 'm', name: 'm' }

export const usage: StreamChunk = { type: 'usage', usage: USAGE }
export const stop: StreamChunk = { type: 'finish', reason: { kind: 'stop' } }

export function text(value: string, index = 0): StreamChunk {
  return { type: 'text-delta', index, text: value }
}

export function toolCall(args: string, index = 1): StreamChunk {
  return { type: 'tool-call-delta', index, id: CallId('c1'), name: 'advise', argumentsDelta: args }
}

export function failed(failure: Partial<LlmFailure>, kind: 'error' | 'aborted' = 'error'): StreamChunk {
  return { type: 'finish', reason: { kind, failure: { message: 'no', code: 'SERVER', ...failure } } }
}

/** One call of {@link FakeModel}, in the hand of the test. */
export class Call implements AsyncIterator<StreamChunk> {
  readonly request: GenerateOptions
  /** How often the consumer asked for a chunk, and whether it let go. */
  asked = 0
  returned = false
  private readonly ready: IteratorResult<StreamChunk>[] = []
  private waiting: PromiseWithResolvers<IteratorResult<StreamChunk>> | undefined
  private error: { readonly thrown: unknown } | undefined

  constructor(request: GenerateOptions) {
    this.request = request
  }

  /** Send chunks. */
  send(...chunks: readonly StreamChunk[]): this {
    for (const value of chunks) this.put({ done: false, value })
    return this
  }

  /** End the stream. */
  end(): this {
    this.put({ done: true, value: undefined })
    return this
  }

  /** Break the stream. */
  throw_(thrown: unknown): this {
    this.error = { thrown }
    this.waiting?.reject(thrown)
    return this
  }

  next(): Promise<IteratorResult<StreamChunk>> {
    this.asked += 1
    const ready = this.ready.shift()
    if (ready !== undefined) return Promise.resolve(ready)
    if (this.error !== undefined) return Promise.reject(this.error.thrown)
    this.waiting = Promise.withResolvers()
    return this.waiting.promise
  }

  return(): Promise<IteratorResult<StreamChunk>> {
    this.returned = true
    return Promise.resolve({ done: true, value: undefined })
  }

  private put(result: IteratorResult<StreamChunk>): void {
    const { waiting } = this
    this.waiting = undefined
    if (waiting === undefined) this.ready.push(result)
    else waiting.resolve(result)
  }
}

export class FakeModel implements ModelService {
  readonly calls: Call[] = []
  /** What `resolveModelInfo` gives. */
  info: () => Promise<LlmResolvedModelInfo> = () => Promise.resolve(INFO)
  /** What happens with each new call; by default nothing. */
  onCall: (call: Call) => void = () => {}

  stream(request: GenerateOptions): AsyncIterable<StreamChunk> {
    const call = new Call(request)
    this.calls.push(call)
    this.onCall(call)
    return { [Symbol.asyncIterator]: () => call }
  }

  resolveModelInfo(): Promise<LlmResolvedModelInfo> {
    return this.info()
  }

  listProviders(): readonly { readonly id: string }[] {
    return [{ id: 'p' }]
  }

  get last(): Call {
    const call = this.calls.at(-1)
    if (call === undefined) throw new Error('no call was made')
    return call
  }
}
