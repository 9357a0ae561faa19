// What reviewers did and used, in counts. Kept in memory; a session starts at zero.

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
  /** Calls of tools to look with. */
  lookups = 0
  /** Replies thrown away whole. */
  quarantined = 0
  /** Notes it gave, those among them that another advisor gave too. */
  notes = 0
  readonly tokens: Tokens = { input: 0, output: 0, cached: 0 }

  /** Add what a provider reported for one call. */
  charge(usage: TokenUsage | undefined): void {
    if (usage === undefined) return
    this.tokens.input += usage.inputTokens + (usage.cacheWriteTokens ?? 0)
    this.tokens.output += usage.outputTokens
    this.tokens.cached += usage.cacheReadTokens ?? 0
  }

  /** What several did and used together. */
  static sum(tallies: Iterable<Tally>): Tally {
    const sum = new Tally()
    for (const tally of tallies) {
      for (const key of COUNTS) sum[key] += tally[key]
      for (const key of ['input', 'output', 'cached'] as const) sum.tokens[key] += tally.tokens[key]
    }
    return sum
  }
}

const COUNTS = ['calls', 'reviews', 'silent', 'noVerdict', 'failed', 'dropped', 'lookups', 'quarantined', 'notes'] as const
