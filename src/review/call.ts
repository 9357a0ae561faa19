// One model call with a deadline that holds even if the provider ignores its signal.

import { BlockAssembler, createAssistantMessage } from '@deepseek-ai/dsh-llm'
import type { AssistantMessage, GenerateOptions, LlmFailure, LlmResolvedModelInfo, StreamChunk, TokenUsage } from '@deepseek-ai/dsh-llm'
import type { Clock } from '../clock.ts'
import { errorMessage } from '../text.ts'

/** The part of the host's model service a reviewer needs. */
export interface ModelService {
  stream(options: GenerateOptions): AsyncIterable<StreamChunk>
  resolveModelInfo(provider: string, model: string, signal?: AbortSignal): Promise<LlmResolvedModelInfo>
  listProviders(): readonly { readonly id: string }[]
}

export type CallResult =
  /** `cut`: the output limit was reached. An empty message is silence. */
  | { readonly kind: 'reply', readonly message: AssistantMessage, readonly usage: TokenUsage | undefined, readonly cut: boolean }
  | { readonly kind: 'failed', readonly failure: LlmFailure, readonly usage: TokenUsage | undefined }
  /** `usage`: what had been reported by then. */
  | { readonly kind: 'aborted', readonly usage: TokenUsage | undefined }

export interface CallOptions {
  readonly timeoutMs: number
  readonly clock: Clock
  /** Ours, never the turn's: the host logs its own abort reasons and must not find them touched. */
  readonly signal: AbortSignal
}

/** The longest wait for a first byte. */
const FIRST_BYTE_MS = 30_000

/** Characters of a reply, a chunk itself counted as some: many times what was asked for. A provider that goes on has lost its way. */
const REPLY_LIMIT = 1_000_000
const CHUNK_SIZE = 16

/** Run one request to its end, its deadline or our abort, whichever comes first. Never throws. */
export async function callModel(llm: ModelService, request: GenerateOptions, options: CallOptions): Promise<CallResult> {
  const assembler = new BlockAssembler()
  const result = await withDeadline(options, async (race, signal) => {
    const iterator = llm.stream({ ...request, signal })[Symbol.asyncIterator]()
    let finished = false
    let size = 0
    try {
      for (let first = true; ; first = false) {
        const chunk = await race(iterator.next(), first ? Math.min(FIRST_BYTE_MS, options.timeoutMs) : undefined)
        if (chunk.done === true) break
        assembler.push(chunk.value)
        size += CHUNK_SIZE + sizeOf(chunk.value)
        if (size > REPLY_LIMIT) return fail({ code: 'MALFORMED_RESPONSE', message: 'the reply had no end' }, assembler.usage)
        finished ||= chunk.value.type === 'finish'
      }
    } finally {
      void iterator.return?.()?.catch(() => {})
    }
    if (!finished) return fail({ code: 'STREAM_CLOSED', message: 'the stream ended without a finish' }, assembler.usage)
    const { finish } = assembler
    if (finish.kind === 'error' || finish.kind === 'aborted') {
      // A provider that reports usage did answer, with nothing: that is silence, not a broken stream.
      const silent = finish.failure.code === 'EMPTY_RESPONSE' && assembler.usage !== undefined
      if (!silent) return fail(finish.failure, assembler.usage)
    }
    const message = createAssistantMessage({
      content: assembler.blocks(),
      source: {
        provider: request.provider, model: request.model,
        ...assembler.replayState === undefined ? {} : { replayState: assembler.replayState },
      },
    })
    return { kind: 'reply' as const, message, usage: assembler.usage, cut: finish.kind === 'max-tokens' }
  })
  // What was reported before a call was given up is billed all the same.
  return result.kind === 'reply' ? result : { ...result, usage: result.usage ?? assembler.usage }
}

function sizeOf(chunk: StreamChunk): number {
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta': return chunk.text.length
    case 'tool-call-delta': return chunk.argumentsDelta.length
    default: return 0
  }
}

/** Ask the adapter about a model, under the same rules as a call. */
export async function describeModel(
  llm: ModelService, provider: string, model: string, options: CallOptions,
): Promise<{ kind: 'info', info: LlmResolvedModelInfo } | Exclude<CallResult, { kind: 'reply' }>> {
  return withDeadline(options, async (race, signal) => (
    { kind: 'info' as const, info: await race(llm.resolveModelInfo(provider, model, signal), FIRST_BYTE_MS) }
  ))
}

type Race = <T>(work: Promise<T>, limitMs: number | undefined) => Promise<T>

class Expired extends Error {}
class Aborted extends Error {}

/** One reason for every end that is none of trouble: making an error costs more than the rest of a chunk. */
const OVER = new Aborted('the call is over')

async function withDeadline<T>(
  { timeoutMs, clock, signal }: CallOptions,
  work: (race: Race, signal: AbortSignal) => Promise<T>,
): Promise<T | Exclude<CallResult, { kind: 'reply' }>> {
  const controller = new AbortController()
  const over = new AbortController()
  const onAbort = () => controller.abort(new Aborted('the review was given up'))
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  const given = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
    if (controller.signal.aborted) reject(controller.signal.reason)
  })
  given.catch(() => {})
  void expire(timeoutMs, over.signal, 'no end')

  async function expire(ms: number, until: AbortSignal, what: string) {
    await clock.sleep(ms, until)
    if (!until.aborted) controller.abort(new Expired(`${what} within ${Math.round(ms / 1000)} s`))
  }

  const race: Race = async (promise, limitMs) => {
    const step = new AbortController()
    if (limitMs !== undefined) void expire(limitMs, step.signal, 'no answer')
    promise.catch(() => {})
    try {
      return await Promise.race([promise, given])
    } finally {
      step.abort(OVER)
    }
  }

  try {
    return await work(race, controller.signal)
  } catch (error) {
    if (signal.aborted) return { kind: 'aborted', usage: undefined }
    return fail(error instanceof Expired ? { code: 'TIMEOUT', message: error.message } : failureOf(error), undefined)
  } finally {
    over.abort(OVER)
    signal.removeEventListener('abort', onAbort)
    controller.abort(OVER)
  }
}

function fail(failure: LlmFailure, usage: TokenUsage | undefined): Extract<CallResult, { kind: 'failed' }> {
  return { kind: 'failed', failure, usage }
}

/** The host's errors carry their failure; anything else is unknown. */
function failureOf(error: unknown): LlmFailure {
  const failure = (error as { failure?: Partial<LlmFailure> } | null)?.failure
  return typeof failure?.code === 'string' ? failure as LlmFailure : { code: 'UNKNOWN', message: errorMessage(error) }
}
