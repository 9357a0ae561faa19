// What one reviewer did and used, in counts. Kept in memory; a session starts at zero.

import type { TokenUsage } from '@deepseek-ai/dsh-llm'

export interface Tokens {
  /** Input not read from the provider's cache. */
  input: number
  output: number
  cached: number
}

export class Tally {
  /** Calls sent to the provider, failed ones included. */
  calls = 0
  /** Reviews that came to an end with a reply. */
  reviews = 0
  /** Of those: replies that said nothing on purpose. */
  silent = 0
  /** Of those: replies in which nothing could be used. */
  noVerdict = 0
  /** Failed calls. */
  failed = 0
  /** Updates that no review ever saw. */
  dropped = 0
  readonly tokens: Tokens = { input: 0, output: 0, cached: 0 }

  /** Add what a provider reported for one call. */
  charge(usage: TokenUsage | undefined): void {
    if (usage === undefined) return
    this.tokens.input += usage.inputTokens + (usage.cacheWriteTokens ?? 0)
    this.tokens.output += usage.outputTokens
    this.tokens.cached += usage.cacheReadTokens ?? 0
  }
}
