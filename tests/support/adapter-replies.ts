/**
 * What a scripted model may answer, as values. A test builds them with the helpers below; `ScriptedAdapter` plays them.
 * Nothing here talks to the host: these are plain data, plus the gate of a held reply.
 */
import type { GenerateOptions, LlmFailure, TokenUsage } from '@deepseek-ai/dsh-llm'

/** One tool call of an answer. A string `args` is sent raw, so that malformed JSON can be scripted. */
export interface ToolCall {
  readonly name: string
  readonly args: unknown
  /** Call id; when absent the adapter makes `<model>-<request>-<n>`. */
  readonly id?: string
}

/** Parts of one answer. Blocks go out in the order reasoning, text, calls, as from the DeepSeek adapter. */
export interface Answer {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly ToolCall[]
  /** Default: `tool-calls` when there are calls, else `stop`. */
  readonly finish?: 'stop' | 'tool-calls' | 'max-tokens'
  /** Token counts of this call; `false` sends none. Default {@link DEFAULT_USAGE}. */
  readonly usage?: TokenUsage | false
}

/** How a reply that never comes behaves while it does not come. */
export interface HangOptions {
  /** `true`: not even `options.signal` ends it, like an adapter that forgot to listen. */
  readonly ignoreSignal?: boolean
  /** Text that is streamed before the silence. Absent: not one chunk, not one byte. */
  readonly after?: string
  /**
   * Mark the abort reason as `fetch` marks it when it is aborted before the response headers: a non-enumerable `stack`
   * on the very object that the loop will log. The host then fails to log `turn/end`.
   */
  readonly taint?: boolean
}

/** Where a held reply waits: before its first chunk, or with everything said but the finish. */
export type HoldAt = 'start' | 'finish'

/** One scripted reply. */
export type Reply =
  | ({ readonly kind: 'answer' } & Answer)
  | { readonly kind: 'empty', readonly usage?: TokenUsage | false }
  | { readonly kind: 'fail', readonly failure: LlmFailure, readonly after?: string }
  | { readonly kind: 'throw', readonly error: unknown }
  | { readonly kind: 'cut', readonly after?: string }
  | ({ readonly kind: 'hang' } & HangOptions)
  | { readonly kind: 'hold', readonly gate: Gate, readonly at: HoldAt, readonly ignoreSignal: boolean }

/** A reply for the `index`-th request (from 0) to one model. */
export type Script = (request: GenerateOptions, index: number) => Reply

/** Token counts sent when a reply does not say otherwise. */
export const DEFAULT_USAGE: TokenUsage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 0 }

/** The hand of the test on one held reply. */
export class Gate {
  /** Resolves with the first request that came to wait here. */
  readonly reached: Promise<GenerateOptions>
  /** Resolves with the abort reason when the signal of a waiting request fires. */
  readonly aborted: Promise<unknown>
  /** Resolves on release with the reply to play. */
  readonly opened: Promise<Reply>
  /** @internal Called by the adapter. */
  readonly enter: (request: GenerateOptions) => void
  /** @internal Called by the adapter. */
  readonly abort: (reason: unknown) => void
  /** What it lets go. */
  readonly reply: Reply
  private readonly open: (reply: Reply) => void

  constructor(reply: Reply) {
    this.reply = reply
    const reached = Promise.withResolvers<GenerateOptions>()
    const aborted = Promise.withResolvers<unknown>()
    const opened = Promise.withResolvers<Reply>()
    this.reached = reached.promise
    this.aborted = aborted.promise
    this.opened = opened.promise
    this.enter = reached.resolve
    this.abort = aborted.resolve
    this.open = opened.resolve
  }

  /** Let the reply go, or another one in its place. A second release is a no-op. */
  release(reply: Reply = this.reply): void {
    this.open(reply)
  }
}

/** Any answer, spelled out. */
export function answer(parts: Answer): Reply {
  return { kind: 'answer', ...parts }
}

/** Plain text, then stop. */
export function text(value: string, parts: Omit<Answer, 'text'> = {}): Reply {
  return answer({ ...parts, text: value })
}

/** A reasoning block before the text. */
export function reasoned(reasoning: string, value: string): Reply {
  return answer({ reasoning, text: value })
}

/** Text cut off at the output limit. */
export function maxTokens(value: string): Reply {
  return answer({ text: value, finish: 'max-tokens' })
}

/** One tool call as a part, for {@link calls}. */
export function call(name: string, args: unknown = {}, id?: string): ToolCall {
  return id === undefined ? { name, args } : { name, args, id }
}

/** One answer with these tool calls, in order. */
export function calls(...list: ToolCall[]): Reply {
  return answer({ calls: list })
}

/** One answer with one tool call. */
export function tool(name: string, args: unknown = {}, id?: string): Reply {
  return calls(call(name, args, id))
}

/** Evidence of an advice: a verbatim quote, and the file it comes from. */
export interface Evidence {
  readonly quote: string
  readonly path?: string
}

/** An `advise` call as a part, for {@link calls}. `more` adds or overrides arguments. */
export function adviseCall(note: string, severity?: string, evidence?: Evidence, more: object = {}): ToolCall {
  return call('advise', {
    note, ...severity === undefined ? {} : { severity }, ...evidence === undefined ? {} : { evidence }, ...more,
  })
}

/** The reviewer's answer with one `advise` call. */
export function advise(note: string, severity?: string, evidence?: Evidence, more: object = {}): Reply {
  return calls(adviseCall(note, severity, evidence, more))
}

/** The reviewer's answer as one JSON frame, for a reviewer without tools. */
export function frame(note: string, severity?: string, evidence?: Evidence): Reply {
  return text(JSON.stringify({ note, severity, evidence }))
}

/** No content at all: an `EMPTY_RESPONSE` error finish, after the usage chunk unless `usage` is `false`. */
export function empty(usage: TokenUsage | false = DEFAULT_USAGE): Reply {
  return { kind: 'empty', usage }
}

/** A terminal error finish, with `after` streamed before it. */
export function fail(failure: Partial<LlmFailure> & Pick<LlmFailure, 'code'>, after?: string): Reply {
  return {
    kind: 'fail',
    failure: { message: `scripted ${failure.code}`, ...failure },
    ...after === undefined ? {} : { after },
  }
}

/** The adapter throws instead of finishing; the host turns that into an error finish. */
export function throws(error: unknown): Reply {
  return { kind: 'throw', error }
}

/** The stream ends without a finish, after `after` if given. */
export function cut(after?: string): Reply {
  return after === undefined ? { kind: 'cut' } : { kind: 'cut', after }
}

/** A reply that never comes. */
export function hang(options: HangOptions = {}): Reply {
  return { kind: 'hang', ...options }
}

/** `reply`, but only when the test releases its gate: see {@link gateOf}. An abort ends it unless `ignoreSignal`. */
export function hold(reply: Reply, options: { at?: HoldAt, ignoreSignal?: boolean } = {}): Reply {
  return { kind: 'hold', gate: new Gate(reply), at: options.at ?? 'start', ignoreSignal: options.ignoreSignal ?? false }
}

/** The gate of a held reply. */
export function gateOf(reply: Reply): Gate {
  if (reply.kind !== 'hold') throw new TypeError(`a reply of kind "${reply.kind}" has no gate`)
  return reply.gate
}

/** The same reply to every request. */
export function always(reply: Reply): Script {
  return () => reply
}

/** One reply a request, in order. A request more than that is a fault of the test, and is reported as one. */
export function sequence(...replies: readonly Reply[]): Script {
  return (_request, index) => {
    const reply = replies[index]
    if (reply === undefined) throw new Error(`request ${index} came, but only ${replies.length} replies are scripted`)
    return reply
  }
}
