// When a reviewer's conversation has to become smaller, and how. Pure: sizes in, a step out.

import type { Message } from '@deepseek-ai/dsh-llm'
import type { Config } from '../config/schema.ts'
import { elide } from '../text.ts'

/** What makes a conversation smaller, in the order in which it is tried. */
export const UPKEEP_STEPS = ['drop-results', 'promote', 'summarise', 'clear'] as const

export type UpkeepStep = (typeof UPKEEP_STEPS)[number]

export type Upkeep =
  | { readonly kind: 'none' }
  | { readonly kind: UpkeepStep, readonly reason: 'over the bound' | 'dearer to re-read than to rebuild' }

/** All sizes in tokens. */
export interface Sizes {
  /** The next request as it would be. */
  readonly next: number
  /** What a request may hold. */
  readonly bound: number
  /** A request after a rebuild, by estimate. */
  readonly rebuilt: number
  /** What was read again since the last rebuild, beyond what a rebuilt conversation would have cost. */
  readonly reread: number
}

/** Of the bound, what has to be free once upkeep is over: else it would be due again at once. */
const ROOM_AFTER = 0.3
/** A cached token costs a tenth, an output token four times an input token. */
const CACHED = 0.1
const OUTPUT = 4
/** Tokens of a summary. */
export const SUMMARY_TOKENS = 1_200
/** A rebuild also forgets: re-reading has to cost so many times as much before it is worth it. */
const PATIENCE = 5

/**
 * Decide over the conversation as it stands.
 * @param tried - steps already taken for this review; each is tried once.
 * @param possible - steps that can be taken at all.
 */
export function planUpkeep(sizes: Sizes, tried: ReadonlySet<UpkeepStep>, possible: readonly UpkeepStep[]): Upkeep {
  // The first step is always possible: what began without it was done for the cost, and may fail without harm.
  const makesRoom = tried.has(UPKEEP_STEPS[0])
  if (sizes.next > (makesRoom ? sizes.bound * (1 - ROOM_AFTER) : sizes.bound)) {
    const step = possible.find(candidate => !tried.has(candidate))
    return step === undefined ? { kind: 'none' } : { kind: step, reason: 'over the bound' }
  }
  const dear = tried.size === 0 && possible.includes('summarise') && sizes.reread * CACHED > PATIENCE * rebuildCost(sizes)
  return dear ? { kind: 'summarise', reason: 'dearer to re-read than to rebuild' } : { kind: 'none' }
}

function rebuildCost({ next, rebuilt }: Sizes): number {
  return CACHED * next + OUTPUT * SUMMARY_TOKENS + rebuilt
}

/** Tokens kept free for a reply: what is asked for, but never more than a quarter of a small window. */
export function replyRoom(window: number | undefined, wanted: number): number {
  return Math.min(wanted, Math.floor((window ?? Infinity) / 4))
}

/** Estimates err; so much of a window is left alone. */
const MARGIN = 0.1

/** What a request may hold, in tokens. @param window - the model's, when it says. */
export function contextBound(config: Pick<Config, 'maxContextTokens'>, window: number | undefined, reply: number): number {
  return Math.min(config.maxContextTokens, Math.floor(((window ?? Infinity) - reply) * (1 - MARGIN)))
}

/** Characters of ordinary text in a token, and tokens in a character of scripts that are written without an alphabet. */
const CHARS_PER_TOKEN = 4
const TOKENS_PER_WIDE = 0.8
/** What a message costs beside its text. */
const MESSAGE_TOKENS = 6

/** Tokens of a text, by estimate. */
export function textTokens(text: string): number {
  let wide = 0
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x2e7f) wide += 1
  return Math.ceil((text.length - wide) / CHARS_PER_TOKEN + wide * TOKENS_PER_WIDE)
}

/** A text cut in its middle to so many tokens, by estimate; what is left out is said. */
export function fitText(text: string, tokens: number): string {
  const size = textTokens(text)
  if (size <= tokens) return text
  return elide(text, Math.floor(text.length * Math.max(0, tokens) / size), left => `[cut: ${left} characters here, for want of room]`)
}

/** Tokens of messages, by estimate; counted once a message, as they never change. */
export function messageTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0)
}

const KNOWN = new WeakMap<Message, number>()

function tokensOf(message: Message): number {
  const known = KNOWN.get(message)
  if (known !== undefined) return known
  const tokens = MESSAGE_TOKENS + message.content.reduce((sum, block) => {
    if (block.type === 'text' || block.type === 'reasoning') return sum + textTokens(block.text)
    if (block.type === 'tool-call') return sum + textTokens(block.name) + textTokens(block.arguments)
    if (block.type === 'tool-result') return sum + block.content.reduce((all, part) => all + (part.type === 'text' ? textTokens(part.text) : 0), 0)
    return sum
  }, 0)
  KNOWN.set(message, tokens)
  return tokens
}
