// What a row of requests costs: bytes, tokens, and how much of each a prefix cache has already seen.

import type { ChatBody, ModelRequest } from '../tests/support/model-server.ts'
import { commonPrefix } from '../tests/support/prefix-cache.ts'
import { bytesOf, median, sum } from './measure.ts'

/** Bytes of whole bodies; tokens are bytes / 4, as the rival was measured. */
export interface Cost {
  readonly requests: number
  readonly firstBytes: number
  readonly lastBytes: number
  /** Bytes by which a request is longer than the one before, on average. */
  readonly growth: number
  readonly totalBytes: number
  readonly tokens: number
  /** Of each request but the first, and of all of them together. */
  readonly shareMedian: number
  readonly shareMin: number
  readonly shareTotal: number
  readonly fresh: number
  /** Fresh tokens, and a tenth of the cached ones. */
  readonly equivalent: number
}

const BYTES_PER_TOKEN = 4
const CACHED_PRICE = 0.1

export function costOf(requests: readonly ModelRequest[]): Cost {
  const bodies = requests.map(request => bytesOf(request.bodyText))
  const prompts = requests.map(request => serialise(request.body))
  const sizes = prompts.map(bytesOf)
  const cached = prompts.map((prompt, index) => index === 0 ? 0 : commonPrefix(Buffer.from(prompts[index - 1]!), Buffer.from(prompt)))
  const shares = cached.map((bytes, index) => bytes / sizes[index]!).slice(1)
  const [firstBytes, lastBytes] = [bodies[0] ?? NaN, bodies.at(-1) ?? NaN]
  const fresh = (sum(sizes) - sum(cached)) / BYTES_PER_TOKEN
  return {
    requests: requests.length, firstBytes, lastBytes, growth: (lastBytes - firstBytes) / (requests.length - 1),
    totalBytes: sum(bodies), tokens: sum(bodies) / BYTES_PER_TOKEN,
    shareMedian: median(shares), shareMin: Math.min(...shares), shareTotal: sum(cached) / sum(sizes),
    fresh, equivalent: fresh + CACHED_PRICE * sum(cached) / BYTES_PER_TOKEN,
  }
}

/** Tools and messages as a provider's cache reads them: system text first, and nothing that a longer list would change. */
function serialise({ tools = [], messages }: ChatBody): string {
  const [system, ...rest] = messages
  return [system, ...tools, ...rest].map(part => JSON.stringify(part)).join(',')
}
