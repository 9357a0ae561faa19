/**
 * A model provider that plays scripts and records what it was asked. It stands where a network adapter stands, so the
 * loop, the log and the plugin above it are the real ones.
 */
import { CallId, EMPTY_RESPONSE_CODE, LlmAdapter, LlmError, ReasoningEffortId } from '@deepseek-ai/dsh-llm'
import type {
  ContentBlock, GenerateOptions, LlmModelInfo, LlmResolvedModelInfo, ResolvedRetryPolicy, StreamChunk,
} from '@deepseek-ai/dsh-llm'
import { DEFAULT_USAGE, text } from './adapter-replies.ts'
import type { Answer, HangOptions, Reply, Script } from './adapter-replies.ts'

/** What one model says of itself. */
export interface ModelSpec {
  /** Reasoning efforts it takes; absent means it takes none and refuses any. */
  readonly efforts?: readonly string[]
  readonly defaultEffort?: string
  /** Context window in tokens; absent means unknown. */
  readonly contextWindow?: number
  readonly maxTokens?: number
}

/** One script a model; `compaction` answers the calls the host makes to summarise. */
export type Scripts = { readonly primary: Script, readonly reviewer?: Script } & { readonly [model: string]: Script }

/** Requests by the script that answered them, oldest first. */
export interface Requests {
  readonly primary: GenerateOptions[]
  readonly reviewer: GenerateOptions[]
  readonly compaction: GenerateOptions[]
  readonly [model: string]: GenerateOptions[]
}

const COMPACTION_SUMMARY = text('## Primary Request and Intent\n- scripted summary')

/** The scripted provider. Model names choose the script. */
export class ScriptedAdapter extends LlmAdapter {
  readonly requests: Requests = { primary: [], reviewer: [], compaction: [] }
  /** What went wrong in the scripts themselves, never in a scripted failure. `Loop.dispose` reports them. */
  readonly faults: Error[] = []
  private readonly scripts: Scripts
  private readonly models: Readonly<Record<string, ModelSpec>>
  private readonly retryPolicy: ResolvedRetryPolicy | undefined
  private readonly closed = Promise.withResolvers<never>()

  constructor(
    scripts: Scripts, models: Readonly<Record<string, ModelSpec>> = {}, retryPolicy?: ResolvedRetryPolicy,
  ) {
    super()
    this.scripts = scripts
    this.models = models
    this.retryPolicy = retryPolicy
    this.closed.promise.catch(() => {})
  }

  /** End every stream that still hangs or is held, so that nothing can wait on it for ever. */
  close(): void {
    this.closed.reject(new Error('the scripted adapter was closed'))
  }

  override providerRetryPolicy(): ResolvedRetryPolicy | undefined {
    return this.retryPolicy
  }

  override async listModels(provider: string): Promise<readonly LlmModelInfo[]> {
    const names = new Set([...Object.keys(this.scripts), ...Object.keys(this.models)])
    names.delete('compaction')
    return [...names].map(id => ({ provider, id, name: id }))
  }

  override async resolveModel(provider: string, model: string): Promise<LlmResolvedModelInfo> {
    if (!(model in this.scripts)) throw new LlmError(`there is no model "${model}"`, 'UNKNOWN_MODEL')
    const { efforts, defaultEffort, contextWindow, maxTokens } = this.models[model] ?? {}
    return {
      provider,
      id: model,
      name: model,
      ...contextWindow === undefined ? {} : { context: { contextWindow } },
      ...maxTokens === undefined ? {} : { defaultMaxTokens: maxTokens },
      ...efforts === undefined ? {} : {
        reasoning: {
          efforts: efforts.map(id => ({ id: ReasoningEffortId(id), name: id })),
          ...defaultEffort === undefined ? {} : { defaultEffort: ReasoningEffortId(defaultEffort) },
        },
      },
    }
  }

  async * stream(options: GenerateOptions): AsyncGenerator<StreamChunk> {
    const role = options.purpose === 'compaction' ? 'compaction' : options.model
    const book = this.requests as Record<string, GenerateOptions[]>
    const requests = book[role] ??= []
    const index = requests.length
    requests.push(record(options))
    yield * this.play(this.choose(role, options, index), options, `${role}-${index}`)
  }

  private choose(role: string, options: GenerateOptions, index: number): Reply {
    const script = this.scripts[role] ?? (role === 'compaction' ? () => COMPACTION_SUMMARY : undefined)
    try {
      if (script === undefined) throw new Error('no script')
      return script(options, index)
    } catch (cause) {
      const fault = new Error(`script "${role}": ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
      this.faults.push(fault)
      throw fault
    }
  }

  private async * play(reply: Reply, options: GenerateOptions, id: string): AsyncGenerator<StreamChunk> {
    switch (reply.kind) {
      case 'answer':
        yield * heard(chunks(reply, id), options.signal)
        return
      case 'empty':
        if (reply.usage !== false) yield { type: 'usage', usage: reply.usage ?? DEFAULT_USAGE }
        yield failed({ message: 'model returned a completed response with no content', code: EMPTY_RESPONSE_CODE })
        return
      case 'fail':
        yield * opening(reply.after)
        yield failed(reply.failure)
        return
      case 'throw':
        throw reply.error
      case 'cut':
        yield * opening(reply.after)
        return
      case 'hang':
        yield * opening(reply.after)
        await this.wait(new Promise<never>(() => {}), options.signal, reply)
        return
      case 'hold': {
        const { gate, at, ignoreSignal } = reply
        const before = at === 'finish' && gate.reply.kind === 'answer' ? chunks(gate.reply, id) : []
        const finish = before.pop()
        yield * heard(before, options.signal)
        gate.enter(options)
        const released = await this.wait(gate.opened, options.signal, { ignoreSignal }, reason => gate.abort(reason))
        if (finish !== undefined && released === gate.reply) yield finish
        else yield * this.play(released, options, id)
      }
    }
  }

  /** Wait for `event`, the abort of the request, or the end of the adapter. */
  private async wait<T>(
    event: Promise<T>, signal: AbortSignal | undefined, options: HangOptions, onAbort?: (reason: unknown) => void,
  ): Promise<T> {
    const aborted = Promise.withResolvers<never>()
    const abort = (): void => {
      onAbort?.(signal?.reason)
      const reason: unknown = signal?.reason
      if (options.taint === true && typeof reason === 'object' && reason !== null) {
        Object.defineProperty(reason, 'stack', { value: '', enumerable: false })
      }
      if (options.ignoreSignal !== true) aborted.reject(abortError())
    }
    if (signal?.aborted === true) abort()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await Promise.race([event, aborted.promise, this.closed.promise])
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** A copy that later changes to the caller's arrays cannot reach; the signal stays the caller's own. */
function record({ signal, ...rest }: GenerateOptions): GenerateOptions {
  return { ...structuredClone(rest), ...signal === undefined ? {} : { signal } }
}

/** What the DeepSeek adapter throws when its caller aborts. */
function abortError(): LlmError {
  return new LlmError('request aborted by caller', 'ABORTED')
}

function failed(failure: Extract<Reply, { kind: 'fail' }>['failure']): StreamChunk {
  return { type: 'finish', reason: { kind: 'error', failure } }
}

/** The beginning of a text that is never finished. */
function * opening(value: string | undefined): Generator<StreamChunk> {
  if (value === undefined) return
  yield { type: 'block-start', index: 0, blockType: 'text' }
  yield { type: 'text-delta', index: 0, text: value }
}

/** Chunks, as long as nobody aborts. */
function * heard(list: readonly StreamChunk[], signal: AbortSignal | undefined): Generator<StreamChunk> {
  for (const chunk of list) {
    if (signal?.aborted === true) throw abortError()
    yield chunk
  }
}

/** One answer in the order of the DeepSeek adapter: all deltas, then all block ends, usage, finish. */
function chunks(reply: Answer, id: string): StreamChunk[] {
  const blocks: ContentBlock[] = []
  if (reply.reasoning !== undefined) blocks.push({ type: 'reasoning', text: reply.reasoning })
  if (reply.text !== undefined) blocks.push({ type: 'text', text: reply.text })
  for (const [n, item] of (reply.calls ?? []).entries()) {
    const args = typeof item.args === 'string' ? item.args : JSON.stringify(item.args)
    blocks.push({ type: 'tool-call', id: CallId(item.id ?? `${id}-${n}`), name: item.name, arguments: args })
  }
  const finish = reply.finish ?? (reply.calls?.length ? 'tool-calls' : 'stop')
  return [
    ...blocks.flatMap((block, index): StreamChunk[] => [
      { type: 'block-start', index, blockType: block.type }, delta(block, index),
    ]),
    ...blocks.map((block, index): StreamChunk => ({ type: 'block-end', index, block })),
    ...reply.usage === false ? [] : [{ type: 'usage', usage: reply.usage ?? DEFAULT_USAGE } as const],
    { type: 'finish', reason: { kind: finish } },
  ]
}

function delta(block: ContentBlock, index: number): StreamChunk {
  switch (block.type) {
    case 'text': return { type: 'text-delta', index, text: block.text }
    case 'reasoning': return { type: 'reasoning-delta', index, text: block.text }
    case 'tool-call':
      return { type: 'tool-call-delta', index, id: block.id, name: block.name, argumentsDelta: block.arguments }
    default: throw new TypeError(`a model cannot stream a "${block.type}" block`)
  }
}
