/** Random schedules of everything that can happen to an agent under review, each made from one seed alone. */
import { maxTokens, fail, hang, text } from './adapter-replies.ts'
import type { Reply } from './adapter-replies.ts'
import { look } from './loop-advised.ts'
import { SEVERITIES } from './loop-moments.ts'
import type { Severity } from './loop-moments.ts'

/** What the reviewer says when its turn comes. */
export interface Speech {
  /** Numbers of the notes it raises; {@link finding} has the words. */
  readonly notes: readonly { readonly n: number, readonly severity: Severity }[]
  /** What it does with a waiting note it is asked about: the first note then revises it, or it is taken back. */
  readonly waiting: 'leave' | 'withdraw' | 'revise'
  readonly fails: boolean
}

export type Stop = 'escape' | 'send-now' | 'hook' | 'hook-clearing' | 'parent'

export type Act =
  | { readonly kind: 'step' }
  | { readonly kind: 'review', readonly speech: Speech }
  /** The user speaks, or another plugin does; `inject` wakes nobody. */
  | { readonly kind: 'say', readonly who: 'user' | 'plugin', readonly how: 'followup' | 'steer' | 'inject' }
  | { readonly kind: 'stop', readonly how: Stop }
  | { readonly kind: 'compact' }
  | { readonly kind: 'advisor', readonly word: 'on' | 'off' }
  /** `pick` chooses among the notes listed; all of them when it is undefined. */
  | { readonly kind: 'dismiss', readonly pick: number | undefined }
  | { readonly kind: 'plan', readonly on: boolean }
  | { readonly kind: 'time', readonly ms: number }
  /** Another plugin lets go the step that it holds up. */
  | { readonly kind: 'let' }

/** What other plugins do to a step before it begins, inside of our listener or outside of it. */
export type Door = 'open' | 'hold' | 'hold outside' | 'refuse' | 'refuse outside' | 'break'

/** One act, and the turns of the event loop before the next. */
export type Move = Act & { readonly pause: number }

export interface Schedule {
  readonly seed: number
  readonly config: {
    readonly syncBacklog: 'off' | 1 | 3, readonly immuneTurns: number, readonly reopen: number
    readonly notesPerUpdate: number, readonly reconfirmAfter: number, readonly reviewAt: 'step' | 'turn'
  }
  readonly headless: boolean
  readonly moves: readonly Move[]
  /** By the number of the step that is being prepared. */
  readonly doors: readonly Door[]
  /** The primary's replies by request. */
  readonly replies: readonly Reply[]
  /** Some reply hangs before its first byte, and an abort then goes unlogged. */
  readonly tainted: boolean
}

/** A small generator with one word of state; the same seed gives the same numbers everywhere. */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296
  }
}

/** The words of a note: they share none with those of any other. */
export function finding(n: number): string {
  const root = [...String(n).padStart(3, '0')].map(digit => 'bdfgklmprt'[Number(digit)]).join('o')
  return `${root}alia ${root}emus ${root}ixon ${root}unda, see ${root}.ts`
}

/** So long that a compaction has something to do. */
const LONG = ', at length'.repeat(300)

class Dice {
  private readonly next: () => number

  constructor(seed: number) {
    this.next = mulberry32(seed)
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }
}

const WEIGHTS: readonly (readonly [Act['kind'], number])[] = [
  ['step', 36], ['review', 32], ['say', 14], ['stop', 8], ['time', 4], ['dismiss', 4], ['advisor', 4], ['compact', 4], ['plan', 3], ['let', 16],
]

const DOORS: readonly Door[] = ['hold', 'hold', 'hold', 'hold outside', 'hold outside', 'refuse', 'refuse outside', 'break']

/** Make the schedule of a seed. */
export function makeSchedule(seed: number): Schedule {
  const dice = new Dice(seed)
  const config = {
    syncBacklog: dice.of(['off', 'off', 'off', 1, 3] as const), immuneTurns: dice.of([0, 0, 1, 3]), reopen: dice.of([0, 1, 1, 2]),
    notesPerUpdate: dice.of([1, 2, 3]), reconfirmAfter: dice.of([0, 1, 3]), reviewAt: dice.of(['step', 'step', 'step', 'turn'] as const),
  }
  const headless = dice.chance(0.1)
  let notes = 0
  const moves: Move[] = [{ kind: 'say', who: 'user', how: 'followup', pause: 3 }]
  const length = 20 + dice.below(60)
  while (moves.length < length) moves.push({ ...makeAct(), pause: dice.chance(0.3) ? 8 : 1 + dice.below(3) })
  const replies = Array.from({ length: 200 }, (_, index) => makeReply(index))
  const shut = dice.of([0, 0.1, 0.3])
  const doors = Array.from({ length: 200 }, () => dice.chance(shut) ? dice.of(DOORS) : 'open')
  return { seed, config, headless, moves, replies, doors, tainted: replies.some(reply => reply.kind === 'hang') }

  function makeAct(): Act {
    switch (pickKind()) {
      case 'step': return { kind: 'step' }
      case 'review': return { kind: 'review', speech: makeSpeech() }
      case 'say': {
        const who = dice.of(['user', 'user', 'user', 'plugin'] as const)
        return { kind: 'say', who, how: who === 'user' ? dice.of(['followup', 'followup', 'steer']) : dice.of(['inject', 'inject', 'steer', 'followup']) }
      }
      case 'stop': return { kind: 'stop', how: dice.of(['escape', 'escape', 'send-now', 'send-now', 'hook', 'hook-clearing', 'parent']) }
      case 'compact': return { kind: 'compact' }
      case 'advisor': return { kind: 'advisor', word: dice.of(['off', 'on']) }
      case 'dismiss': return { kind: 'dismiss', pick: dice.chance(0.8) ? dice.below(1000) : undefined }
      case 'plan': return { kind: 'plan', on: dice.chance(0.5) }
      case 'let': return { kind: 'let' }
      case 'time': return { kind: 'time', ms: dice.of([1_000, 5_000, 31_000]) }
    }
  }

  function pickKind(): Act['kind'] {
    let at = dice.below(WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0))
    return WEIGHTS.find(([, weight]) => (at -= weight) < 0)?.[0] ?? 'step'
  }

  function makeSpeech(): Speech {
    const count = dice.chance(0.65) ? 1 + dice.below(config.notesPerUpdate) : 0
    return {
      notes: Array.from({ length: count }, () => ({ n: notes++, severity: dice.of(SEVERITIES) })),
      waiting: dice.of(['leave', 'leave', 'withdraw', 'revise']), fails: dice.chance(0.06),
    }
  }

  function makeReply(index: number): Reply {
    const roll = dice.below(100)
    if (roll < 62) return look(index)
    if (roll < 92) return text(`answer ${index}${LONG}`)
    if (roll < 96) return maxTokens(`the beginning of answer ${index}`)
    return roll < 98 ? fail({ code: 'SERVER', status: 500 }) : hang({ taint: true })
  }
}
