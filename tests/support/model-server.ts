// A scripted model provider on loopback for tests, the demo and the bench. It tells the host's calls apart by their content,
// answers each by the script of its role, and records what was asked, when, and at which price.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { generatedBytes, sendStream } from './chat-stream.ts'
import { PrefixCache } from './prefix-cache.ts'
import { empty, httpError, text, type Reply, type StreamReply, type Usage } from './replies.ts'

export * from './replies.ts'

/** The model that marks a call as the reviewer's, unless the test names another. */
export const REVIEWER_MODEL = 'deepseek-v4-pro'
/** The host's default model, so the primary's. */
export const PRIMARY_MODEL = 'deepseek-v4-flash'

const TITLE_PROMPT = 'Create a concise title'
const BYTES_PER_TOKEN = 4

/** Who asks: the agent under review, its reviewer, or the host naming the session. */
export type Role = 'primary' | 'reviewer' | 'title'

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content?: string | { type: string; text?: string }[] | null
  reasoning_content?: string
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

export interface ChatBody {
  model: string
  messages: ChatMessage[]
  tools?: { type: string; function: { name: string; description?: string; parameters?: object } }[]
  [key: string]: unknown
}

/** One recorded call. Times are milliseconds on this process's `performance.now()` clock. */
export interface ModelRequest {
  role: Role
  /** Counts per role, from 0. */
  index: number
  bodyText: string
  body: ChatBody
  headers: IncomingHttpHeaders
  arrivedAt: number
  firstByteAt?: number
  endedAt?: number
  /** True when the client left before the reply was over. */
  aborted?: boolean
  /** What was reported to the client; absent when no usage chunk was sent. */
  usage?: Usage
}

/** Decides one reply; `index` counts the calls of that role from 0. A script that throws answers status 400. */
export type Script = (request: ModelRequest, index: number) => Reply | Promise<Reply>

export interface ModelServerOptions {
  primary: Script
  /** Default: silence. */
  reviewer?: Script
  /** Default: the text `title`. */
  title?: Script
  reviewerModel?: string
}

export interface ModelServer extends AsyncDisposable {
  /** For `DEEPSEEK_BASE_URL`. */
  baseURL: string
  /** Every call, in order of arrival. */
  requests: ModelRequest[]
  /** The calls of one role, in order of arrival. */
  of(role: Role): ModelRequest[]
  /** The sum of the usage reported to each role. */
  billed: Record<Role, Usage>
  /** Destroys every socket, stalled ones included; a second call does nothing. */
  close(): Promise<void>
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const scripts: Record<Role, Script> = {
    primary: options.primary,
    reviewer: options.reviewer ?? (() => empty()),
    title: options.title ?? (() => text('title')),
  }
  const requests: ModelRequest[] = []
  const caches = perRole(() => new PrefixCache())
  const billed = perRole((): Usage => ({ in: 0, out: 0, cached: 0 }))
  const closing = new AbortController()
  const of = (role: Role) => requests.filter(request => request.role === role)

  const server = createServer((incoming, response) => {
    // Losing the client is an ordinary end of a reply, so nothing is left to report here.
    serve(incoming, response).catch(() => response.destroy())
  })
  // An idle connection must not be closed at the moment the host reuses it.
  server.keepAliveTimeout = 0

  async function serve(incoming: IncomingMessage, response: ServerResponse) {
    const arrivedAt = performance.now()
    const bodyText = await readText(incoming)
    if (incoming.method !== 'POST' || !incoming.url?.endsWith('/chat/completions')) {
      response.writeHead(404).end()
      return
    }
    const body: ChatBody = JSON.parse(bodyText)
    const role = roleOf(body, options.reviewerModel ?? REVIEWER_MODEL)
    const request: ModelRequest = { role, index: of(role).length, bodyText, body, headers: incoming.headers, arrivedAt }
    requests.push(request)

    const gone = new AbortController()
    response.on('error', () => {})
    response.on('close', () => {
      if (request.endedAt === undefined && !closing.signal.aborted) request.aborted = true
      request.endedAt ??= performance.now()
      gone.abort()
    })
    const reply = await scripted(scripts[role], request)
    if (gone.signal.aborted) return
    await send(response, request, reply, gone.signal)
  }

  async function send(response: ServerResponse, request: ModelRequest, reply: Reply, signal: AbortSignal) {
    if (reply.kind === 'stall') return
    if (reply.delayMs) await sleep(reply.delayMs, undefined, { signal })
    request.firstByteAt = performance.now()
    if (reply.kind === 'raw') {
      response.writeHead(reply.status, reply.headers).end(reply.body, () => { request.endedAt = performance.now() })
      return
    }
    const usage = usageOf(request, reply, caches[request.role])
    const id = `${request.role}-${request.index}`
    // Recorded before the end goes out: a client that has the whole reply may look at once.
    if (reply.end === 'done' && usage) {
      request.usage = usage
      for (const key of ['in', 'out', 'cached'] as const) billed[request.role][key] += usage[key]
    }
    await sendStream(response, reply, { id, model: request.body.model, usage }, signal)
    if (reply.end === 'silence') return
    request.endedAt = performance.now()
    if (reply.end === 'cut') response.destroy()
    else response.end()
  }

  async function close() {
    if (closing.signal.aborted) return
    closing.abort()
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { baseURL: `http://127.0.0.1:${port}`, requests, of, billed, close, [Symbol.asyncDispose]: close }
}

/** The text of a message's content, its parts joined. */
export function messageText(message: ChatMessage | undefined): string {
  const content = message?.content ?? ''
  return typeof content === 'string' ? content : content.map(part => part.text ?? '').join('')
}

/** Tells the host's calls apart by what they ask. */
export function roleOf(body: ChatBody, reviewerModel: string): Role {
  if (messageText(body.messages[0]).startsWith(TITLE_PROMPT)) return 'title'
  return body.model === reviewerModel ? 'reviewer' : 'primary'
}

// A faulty script must fail the run at once: the host retries a status 500, but not a 400.
async function scripted(script: Script, request: ModelRequest): Promise<Reply> {
  try {
    return await script(request, request.index)
  } catch (error) {
    return httpError(400, { message: `the ${request.role} script failed: ${String(error)}`, type: 'invalid_request_error' })
  }
}

// Providers put the tools before the messages, so a changed tool list costs the whole prefix.
function usageOf({ body, bodyText }: ModelRequest, reply: StreamReply, cache: PrefixCache): Usage | undefined {
  const prompt = JSON.stringify(body.tools ?? []) + body.messages.map(message => JSON.stringify(message)).join('\n')
  const computed: Usage = {
    in: Math.ceil(Buffer.byteLength(bodyText) / BYTES_PER_TOKEN),
    out: Math.ceil(generatedBytes(reply) / BYTES_PER_TOKEN),
    cached: Math.floor(cache.admit(prompt) / BYTES_PER_TOKEN),
  }
  return reply.usage === null ? undefined : { ...computed, ...reply.usage }
}

function perRole<T>(make: () => T): Record<Role, T> {
  return { primary: make(), reviewer: make(), title: make() }
}
