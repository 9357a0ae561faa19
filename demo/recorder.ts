// Stands between the host and its provider on loopback and notes what passes, the same for a scripted and a real one.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { roleOf, type ChatBody, type Role, type Usage } from '../tests/support/model-server.ts'

/** One model call. Times are milliseconds on this process's `performance.now()` clock. */
export interface Exchange {
  role: Role
  body: ChatBody
  arrivedAt: number
  /** Absent when the call was cut before its end. */
  endedAt?: number
  status?: number
  text: string
  /** `arguments` is the JSON as it came. */
  calls: { name: string; arguments: string }[]
  usage?: Usage
}

export interface Recorder extends AsyncDisposable {
  baseURL: string
  /** In order of arrival. */
  exchanges: Exchange[]
}

/** Answers once the provider's own answer begins; `upstream` is its base URL. */
export async function startRecorder(upstream: string, reviewerModel: string): Promise<Recorder> {
  const exchanges: Exchange[] = []
  const server = createServer((incoming, response) => {
    forward(incoming, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 0

  async function forward(incoming: IncomingMessage, response: ServerResponse) {
    const arrivedAt = performance.now()
    const bodyText = await readText(incoming)
    const exchange = incoming.url?.endsWith('/chat/completions') ? note(JSON.parse(bodyText), arrivedAt) : undefined
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const answer = await fetch(upstream + incoming.url, {
      method: incoming.method ?? 'POST', headers: passedOn(incoming), signal: gone.signal, ...bodyText === '' ? {} : { body: bodyText },
    })
    const headers = [...answer.headers].filter(([name]) => !/^(content-(encoding|length)|transfer-encoding|connection)$/.test(name))
    response.writeHead(answer.status, Object.fromEntries(headers)).flushHeaders()
    const decoder = new TextDecoder()
    let seen = ''
    for await (const part of answer.body ?? []) {
      response.write(part)
      seen += decoder.decode(part, { stream: true })
    }
    // Read before the end goes out: the host may act, and exit, at once.
    if (exchange !== undefined) Object.assign(exchange, { status: answer.status, endedAt: performance.now() }, readReply(seen))
    response.end()
  }

  function note(body: ChatBody, arrivedAt: number): Exchange {
    const exchange: Exchange = { role: roleOf(body, reviewerModel), body, arrivedAt, text: '', calls: [] }
    exchanges.push(exchange)
    return exchange
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function passedOn(incoming: IncomingMessage): [string, string][] {
  const own = /^(host|connection|content-length|transfer-encoding|accept-encoding|expect)$/
  return Object.entries(incoming.headers).flatMap(([name, value]) => own.test(name) ? [] : [[name, String(value)]])
}

/** Puts a chat stream together; what is no chunk is passed over. */
function readReply(stream: string): Pick<Exchange, 'text' | 'calls' | 'usage'> {
  const reply: Pick<Exchange, 'text' | 'calls' | 'usage'> = { text: '', calls: [] }
  for (const [, data = ''] of stream.matchAll(/^data: (\{.*\})\r?$/gm)) {
    const { choices = [], usage } = JSON.parse(data)
    if (usage) reply.usage = { in: usage.prompt_tokens, out: usage.completion_tokens, cached: usage.prompt_cache_hit_tokens ?? 0 }
    const { content, tool_calls = [] } = choices[0]?.delta ?? {}
    reply.text += content ?? ''
    for (const { index, function: part } of tool_calls) {
      const call = reply.calls[index] ??= { name: '', arguments: '' }
      call.name += part?.name ?? ''
      call.arguments += part?.arguments ?? ''
    }
  }
  return reply
}
