// Writes one scripted reply as the OpenAI/DeepSeek chat stream. It knows the wire, not roles or scripts.

import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamReply, Usage } from './replies.ts'

const CHUNK_CHARACTERS = 16

/** What the chunks carry besides the reply; `usage` undefined means that none is reported. */
export interface Envelope { id: string; model: string; usage: Usage | undefined }

/**
 * Sends the headers and every event of the reply, and leaves the response open: how it ends is the caller's.
 * @throws AbortError when `signal` fires first, which is when the client left or the server closes.
 */
export async function sendStream(response: ServerResponse, reply: StreamReply, envelope: Envelope, signal: AbortSignal) {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  let first = true
  for (const data of events(reply, envelope)) {
    if (!first && reply.chunkDelayMs) await sleep(reply.chunkDelayMs, undefined, { signal })
    first = false
    // What was written before a cut must have left this process.
    await new Promise<void>(done => response.write(`data: ${data}\n\n`, () => done()))
    signal.throwIfAborted()
  }
}

/** Bytes of everything the model generated, which is what completion tokens are counted from. */
export function generatedBytes(reply: StreamReply): number {
  const parts = [reply.reasoning ?? '', reply.text, ...reply.calls.flatMap(call => [call.name, rawArguments(call.arguments)])]
  return Buffer.byteLength(parts.join(''))
}

function* events(reply: StreamReply, { id, model, usage }: Envelope): Generator<string> {
  const chunk = (choices: object[], rest = {}) =>
    JSON.stringify({ id, object: 'chat.completion.chunk', created: 0, model, choices, ...rest })
  for (const delta of deltas(reply, id)) yield chunk([{ index: 0, delta, finish_reason: null }])
  if (reply.end !== 'done') return
  const finish = reply.finish ?? (reply.calls.length > 0 ? 'tool_calls' : 'stop')
  yield chunk([{ index: 0, delta: {}, finish_reason: finish }])
  if (usage) yield chunk([], { usage: wireUsage(usage) })
  yield '[DONE]'
}

function* deltas(reply: StreamReply, id: string): Generator<object> {
  for (const piece of pieces(reply.reasoning ?? '')) yield { role: 'assistant', reasoning_content: piece }
  for (const piece of pieces(reply.text)) yield { role: 'assistant', content: piece }
  for (const [index, call] of reply.calls.entries()) {
    yield { tool_calls: [{ index, id: `call-${id}-${index}`, type: 'function', function: { name: call.name, arguments: '' } }] }
    for (const piece of pieces(rawArguments(call.arguments))) {
      yield { tool_calls: [{ index, function: { arguments: piece } }] }
    }
  }
}

function pieces(content: string): string[] {
  return content.match(new RegExp(`[^]{1,${CHUNK_CHARACTERS}}`, 'gu')) ?? []
}

function rawArguments(value: string | object): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function wireUsage(usage: Usage): object {
  return {
    prompt_tokens: usage.in,
    completion_tokens: usage.out,
    total_tokens: usage.in + usage.out,
    prompt_cache_hit_tokens: usage.cached,
    prompt_cache_miss_tokens: usage.in - usage.cached,
  }
}
