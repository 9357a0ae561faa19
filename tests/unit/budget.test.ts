import { describe, expect, test } from 'vitest'
import { judgeBudget, SessionBudget, type Budget, type Estimate } from '../../src/record/budget.ts'
import type { ModelTotals } from '../../src/record/totals.ts'
import { used } from './support/records.ts'

const spent = (tokens: Partial<ModelTotals['tokens']> = {}, cost: Record<string, number> = {}): ModelTotals => (
  { calls: 1, unreported: 0, unpriced: 0, tokens: used(tokens), cost }
)
const next = (tokens: number, amount?: number, currency = 'USD'): Estimate => ({ tokens, cost: amount === undefined ? undefined : { amount, currency } })

describe('a session', () => {
  test.each<[string, Budget, ModelTotals, Estimate]>([
    ['has no budget', {}, spent({ input: 1e9 }, { USD: 1e6 }), next(1e9, 1e6)],
    ['has not spent its tokens', { tokens: 100 }, spent({ input: 50 }), next(50)],
    ['has not spent its money', { cost: 1 }, spent({ input: 1e9 }, { USD: 0.5 }), next(1e9, 0.5)],
    ['spent less in each of two currencies', { cost: 1 }, spent({}, { USD: 0.9, CNY: 0.9 }), next(1, 0.1)],
  ])('that %s may go on', (_what, budget, before, estimate) => {
    expect(judgeBudget(budget, before, estimate)).toEqual({ kind: 'fine' })
  })

  test.each<[string, Budget, ModelTotals, Estimate, string]>([
    ['all tokens', { tokens: 1_000 }, spent({ input: 400, output: 100, cacheRead: 400, cacheWrite: 100, reasoning: 100 }), next(0),
      '1,000 of 1,000 tokens of its budget are spent'],
    ['too many tokens for the next call', { tokens: 1_000 }, spent({ input: 950 }), next(51), '950 of 1,000 tokens of its budget are spent, and the next call may take 51'],
    ['too much money for the next call', { cost: 1 }, spent({}, { USD: 0.95 }), next(0, 0.06), '0.95 of 1 USD of its budget are spent, and the next call may take 0.06'],
    ['all money of another currency', { cost: 1 }, spent({}, { CNY: 1.5 }), next(0, 0.01), '1.5 of 1 CNY of its budget are spent'],
    ['nothing, but the next call is too large', { tokens: 10 }, spent(), next(11), '0 of 10 tokens of its budget are spent, and the next call may take 11'],
    ['all money, while the price of the next call is not known', { cost: 1 }, spent({}, { USD: 1 }), next(0), '1 of 1 USD of its budget are spent'],
  ])('that spent %s may not', (_what, budget, before, estimate, reason) => {
    expect(judgeBudget(budget, before, estimate)).toEqual({ kind: 'exhausted', reason })
  })
})

const UNCHECKED = { kind: 'fine', unchecked: 'the price of the model is not known: `budget.cost` cannot be held against it (`prices` sets one)' }

test('a price that is not known lets the call pass, and that is said once', () => {
  const budget = new SessionBudget()
  expect(budget.judge({ cost: 1 }, spent(), next(5))).toEqual(UNCHECKED)
  expect(budget.judge({ cost: 1 }, spent(), next(5))).toEqual({ kind: 'fine' })
})

test('a budget of tokens alone asks for no price', () => {
  expect(new SessionBudget().judge({ tokens: 10 }, spent(), next(5))).toEqual({ kind: 'fine' })
})

test('each grant lets the session spend as much again', () => {
  const budget = new SessionBudget()
  const judge = (tokens: number, amount: number) => budget.judge({ tokens: 100, cost: 2 }, spent({ input: tokens }, { USD: amount }), next(1, 0.1)).kind
  expect(judge(100, 0)).toBe('exhausted')
  budget.grant()
  expect([judge(100, 0), judge(199, 3.9), judge(200, 0), judge(0, 4)]).toEqual(['fine', 'fine', 'exhausted', 'exhausted'])
})
