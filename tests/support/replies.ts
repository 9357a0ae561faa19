// What a scripted model may say: the closed set of replies, and a short constructor for each.

/** Token counts: `in` is every prompt token, `cached` the part of `in` that came from the prefix cache. */
export interface Usage { in: number; out: number; cached: number }

/** What any streamed reply may vary. */
export interface ReplyOptions {
  /** Milliseconds of silence before the first byte. */
  delayMs?: number
  /** Milliseconds before each chunk of the stream but the first. */
  chunkDelayMs?: number
  /** Thinking, streamed before the answer. */
  reasoning?: string
  /** The finish reason on the wire, such as `length`; by default `tool_calls` or `stop`. */
  finish?: string
  /** Replaces single counts of the computed usage; `null` reports no usage, as some providers do. */
  usage?: Partial<Usage> | null
}

/** One tool call; an object is sent as its JSON, a string exactly as it stands. */
export interface ToolCall { name: string; arguments: string | object }

/** The arguments of the reviewer's `advise` tool; `severity` is open so that wrong ones can be sent. */
export interface Advice { note: string; severity?: string; evidence?: { quote: string; path?: string } }

/** A `text/event-stream` answer; `end` is how it stops: a proper end, silence for ever, or a destroyed socket. */
export interface StreamReply extends ReplyOptions {
  kind: 'stream'
  text: string
  calls: ToolCall[]
  end: 'done' | 'silence' | 'cut'
}

/** An HTTP answer that is no stream of chunks: an error status, or a body that breaks the protocol. */
export interface RawReply { kind: 'raw'; status: number; headers: Record<string, string>; body: string; delayMs?: number }

/** Not even headers, until the client leaves or the server closes. */
export interface StallReply { kind: 'stall' }

export type Reply = StreamReply | RawReply | StallReply

const EVENT_STREAM = { 'content-type': 'text/event-stream' }

/** A plain answer. */
export function text(content: string, options: ReplyOptions = {}): StreamReply {
  return { ...options, kind: 'stream', text: content, calls: [], end: 'done' }
}

/** One assistant message with tool calls, and with `text` before them when given. */
export function toolCalls(calls: ToolCall[], options: ReplyOptions & { text?: string } = {}): StreamReply {
  return { text: '', ...options, kind: 'stream', calls, end: 'done' }
}

/** One call of the `advise` tool. */
export function advise(note: string, severity?: string, options: ReplyOptions = {}): StreamReply {
  return adviseEach([severity === undefined ? { note } : { note, severity }], options)
}

/** Several `advise` calls in one message, each with all its arguments. */
export function adviseEach(notes: Advice[], options: ReplyOptions = {}): StreamReply {
  return toolCalls(notes.map(note => ({ name: 'advise', arguments: note })), options)
}

/** A finished answer without content: the reviewer's silence. */
export function empty(options: ReplyOptions = {}): StreamReply {
  return text('', options)
}

/** An error status with the provider's JSON error body; `headers` may carry `retry-after`. */
export function httpError(
  status: number,
  error: { message: string; type?: string; code?: string; headers?: Record<string, string> },
  options: { delayMs?: number } = {},
): RawReply {
  const { headers = {}, ...fields } = error
  const body = JSON.stringify({ error: { type: null, code: null, param: null, ...fields } })
  return { ...options, kind: 'raw', status, headers: { 'content-type': 'application/json', ...headers }, body }
}

/** Never answers; released by `close()`. */
export function stall(): StallReply {
  return { kind: 'stall' }
}

/** Headers and some text, then silence; released by `close()`. */
export function stallAfter(content: string, options: ReplyOptions = {}): StreamReply {
  return { ...text(content, options), end: 'silence' }
}

/** Headers and some text, then the socket is destroyed: no finish, no usage, no `[DONE]`. */
export function cut(content: string, options: ReplyOptions = {}): StreamReply {
  return { ...text(content, options), end: 'cut' }
}

/** Status 200 and the right content type, but not one byte of body. */
export function emptyBody(options: { delayMs?: number } = {}): RawReply {
  return { ...options, kind: 'raw', status: 200, headers: EVENT_STREAM, body: '' }
}

/** A stream whose only event is half a JSON object. */
export function garbage(options: { delayMs?: number } = {}): RawReply {
  const body = 'data: {"id":"mock","choices":[{"index":0,"delta":{"content":"hal\n\ndata: [DONE]\n\n'
  return { ...options, kind: 'raw', status: 200, headers: EVENT_STREAM, body }
}
