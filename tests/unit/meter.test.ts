import { beforeEach, describe, expect, test } from 'vitest'
import { toMessages } from '../../src/review/conversation.ts'
import { Meter } from '../../src/review/meter.ts'
import { messageTokens, SUMMARY_TOKENS } from '../../src/review/upkeep.ts'

const LOAD = { bound: 48_000, fixed: 1_000 }
const MESSAGES = toMessages(['x'.repeat(40_000)])
const ESTIMATE = LOAD.fixed + messageTokens(MESSAGES)

let meter: Meter
beforeEach(() => { meter = new Meter() })

test('before the first call a request weighs what is estimated', () => {
  expect(meter.request(MESSAGES, LOAD)).toBe(ESTIMATE)
  expect(meter.weigh(MESSAGES)).toBe(ESTIMATE - LOAD.fixed)
})

describe('the provider\'s own count', () => {
  test.each([
    [{ inputTokens: 2 * ESTIMATE, outputTokens: 9 }, 2],
    [{ inputTokens: 0.5 * ESTIMATE, cacheReadTokens: ESTIMATE, cacheWriteTokens: 0.5 * ESTIMATE, outputTokens: 9 }, 2],
    [{ inputTokens: 0.8 * ESTIMATE, outputTokens: 9 }, 0.8],
    [{ inputTokens: 100 * ESTIMATE, outputTokens: 9 }, 3], [{ inputTokens: 1, outputTokens: 9 }, 0.5], [{ inputTokens: 0, outputTokens: 9 }, 1],
  ])('%j makes everything weigh %f times as much', (usage, scale) => {
    meter.learn(usage, MESSAGES, LOAD)
    expect(meter.request(MESSAGES, LOAD)).toBeCloseTo(scale * ESTIMATE)
    expect(meter.estimate(scale * 700)).toBeCloseTo(700)
  })

  test('is that of the newest call', () => {
    for (const scale of [2, 1.5]) meter.learn({ inputTokens: scale * ESTIMATE, outputTokens: 0 }, MESSAGES, LOAD)
    expect(meter.weigh(MESSAGES)).toBeCloseTo(1.5 * messageTokens(MESSAGES))
  })
})

describe('what is read again', () => {
  const reread = () => meter.sizes(MESSAGES, LOAD).reread

  test('grows by what each request holds beyond a rebuilt one', () => {
    for (const calls of [1, 2, 3]) {
      meter.count(MESSAGES, LOAD)
      expect(reread()).toBe(calls * (ESTIMATE - LOAD.fixed - 2 * SUMMARY_TOKENS))
    }
  })

  test('is nothing for a short request', () => {
    meter.count(toMessages(['short']), LOAD)
    expect(reread()).toBe(0)
  })

  test('begins anew with the conversation', () => {
    meter.count(MESSAGES, LOAD)
    meter.forget()
    expect(reread()).toBe(0)
  })
})

test('upkeep decides over the request to come and what a rebuild would leave', () => {
  expect(meter.sizes(MESSAGES, LOAD)).toEqual({ next: ESTIMATE, bound: 48_000, rebuilt: 1_000 + 2 * SUMMARY_TOKENS, reread: 0 })
})
