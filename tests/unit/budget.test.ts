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

describe('a grant', () => {
  const BUDGET: Budget = { tokens: 100, cost: 2 }

  test('lets the session spend a whole budget more than it had by then, in each currency', () => {
    const budget = new SessionBudget()
    const judge = (tokens: number, cost: Record<string, number>) => budget.judge(BUDGET, spent({ input: tokens }, cost), next(1, 0.1)).kind
    expect(judge(130, { USD: 0 })).toBe('exhausted')
    budget.grant(spent({ input: 130 }, { USD: 0.5, CNY: 1 }))
    expect([judge(130, { USD: 0.5 }), judge(229, { USD: 2.4 }), judge(0, { USD: 0, CNY: 2.9 })]).toEqual(['fine', 'fine', 'fine'])
    expect([judge(230, {}), judge(0, { USD: 2.5 }), judge(0, { CNY: 3 }), judge(0, { EUR: 2 })]).toEqual(['exhausted', 'exhausted', 'exhausted', 'exhausted'])
  })

  test('is one budget also when several had been spent, as by a session that is resumed', () => {
    const budget = new SessionBudget()
    expect(budget.judge(BUDGET, spent({ input: 420 }), next(1)).kind).toBe('exhausted')
    budget.grant(spent({ input: 420 }))
    expect([budget.judge(BUDGET, spent({ input: 420 }), next(1)).kind, budget.judge(BUDGET, spent({ input: 520 }), next(1)).kind]).toEqual(['fine', 'exhausted'])
  })
})

test('a grant that is too small for the next call is told again: the user has just asked for it', () => {
  const budget = new SessionBudget()
  const judge = () => budget.judge({ tokens: 10 }, spent({ input: 5 }), next(50))
  expect([judge(), judge()]).toMatchObject([{ news: true }, { kind: 'exhausted' }])
  budget.grant(spent({ input: 5 }))
  expect(judge()).toMatchObject({ kind: 'exhausted', news: true })
})

describe('a budget that is reached', () => {
  const over = (budget: SessionBudget, tokens = 100) => budget.judge({ tokens }, spent({ input: 1_000 }), next(1))

  test('is news once, whoever meets it, also when a smaller call still passed in between', () => {
    const budget = new SessionBudget()
    expect(budget.isSpent).toBe(false)
    expect(over(budget)).toMatchObject({ kind: 'exhausted', news: true })
    expect(budget.judge({ tokens: 100 }, spent({ input: 10 }), next(1))).toEqual({ kind: 'fine' })
    expect(over(budget)).not.toHaveProperty('news')
    expect(budget.isSpent).toBe(true)
  })

  test('is no news when the budget is set to what is spent as well', () => {
    const budget = new SessionBudget()
    over(budget, 200)
    expect(over(budget, 100)).not.toHaveProperty('news')
    expect(over(budget, 900)).not.toHaveProperty('news')
    expect(budget.isSpent).toBe(true)
  })

  test('is news again when a grant or a larger budget was spent as well', () => {
    const budget = new SessionBudget()
    over(budget)
    budget.grant(spent({ input: 950 }))
    expect(budget.isSpent).toBe(false)
    expect(over(budget)).toEqual({ kind: 'fine' })
    expect(budget.judge({ tokens: 100 }, spent({ input: 1_050 }), next(1))).toMatchObject({ news: true })
    expect(over(budget, 5_000)).toEqual({ kind: 'fine' })
    expect(budget.isSpent).toBe(false)
    expect(budget.judge({ tokens: 5_000 }, spent({ input: 9_000 }), next(1))).toMatchObject({ news: true })
  })
})

test.each<[Budget, ModelTotals, string | undefined]>([
  [{}, spent({ input: 5 }), undefined],
  [{ tokens: 10_000 }, spent({ input: 1_234 }), '1,234 of 10,000 tokens spent'],
  [{ cost: 1 }, spent({ input: 5 }), 'nothing of 1'],
  [{ tokens: 10, cost: 1 }, spent({ input: 5 }, { USD: 0.25, CNY: 0.5 }), '5 of 10 tokens and 0.25 of 1 USD and 0.5 of 1 CNY spent'],
])('%j in words', (budget, before, words) => {
  expect(new SessionBudget().describe(budget, before)).toBe(words)
})
