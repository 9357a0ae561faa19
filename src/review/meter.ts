// What a reviewer's requests weigh, in the provider's own count as far as it is known, and what was read again and again.

import type { Message, TokenUsage } from '@deepseek-ai/dsh-llm'
import { messageTokens, SUMMARY_TOKENS, type Sizes } from './upkeep.ts'

/** How far the provider's count of tokens may lie from the estimate. */
const [LEAST_SCALE, GREATEST_SCALE] = [0.5, 3]

/** The part of a setting that counts here. */
export interface Load {
  /** Tokens a request may hold, and those of its fixed part by estimate. */
  readonly bound: number
  readonly fixed: number
}

export class Meter {
  /** The provider's count over our estimate. */
  private scale = 1
  /** Tokens read again since the conversation last began; see {@link Sizes}. */
  private reread = 0

  /** Tokens of messages. */
  weigh(messages: readonly Message[]): number {
    return messageTokens(messages) * this.scale
  }

  /** So many tokens of the provider's in tokens by our estimate. */
  estimate(tokens: number): number {
    return tokens / this.scale
  }

  /** Tokens of a whole request. */
  request(messages: readonly Message[], { fixed }: Load): number {
    return fixed * this.scale + this.weigh(messages)
  }

  /** The sizes over which upkeep decides, for a request that would hold `messages`. */
  sizes(messages: readonly Message[], load: Load): Sizes {
    return { next: this.request(messages, load), bound: load.bound, rebuilt: this.rebuilt(load), reread: this.reread }
  }

  /** A request goes out. */
  count(messages: readonly Message[], load: Load): void {
    this.reread += Math.max(0, this.request(messages, load) - this.rebuilt(load))
  }

  /** What the provider says a request weighed. */
  learn({ inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: TokenUsage, messages: readonly Message[], { fixed }: Load): void {
    const reported = inputTokens + cacheReadTokens + cacheWriteTokens
    if (reported > 0) this.scale = Math.min(GREATEST_SCALE, Math.max(LEAST_SCALE, reported / (fixed + messageTokens(messages))))
  }

  /** The conversation begins anew, or was looked at for its cost. */
  forget(): void {
    this.reread = 0
  }

  private rebuilt({ fixed }: Load): number {
    return fixed * this.scale + 2 * SUMMARY_TOKENS
  }
}
