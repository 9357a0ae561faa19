import { describe, expect, test } from 'vitest'
import type { TokenUsage } from '@deepseek-ai/dsh-llm'
import { Ledger, type Book } from '../../src/record/ledger.ts'
import type { Prices } from '../../src/record/prices.ts'
import { billOf, emptyTotals, readTotalsValue, tokensIn } from '../../src/record/totals.ts'
import { HandClock } from './support/clock.ts'
import { after, MODEL, used } from './support/records.ts'

const REPORTED: TokenUsage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 700, cacheWriteTokens: 30, reasoningTokens: 5 }
const PRICES: Prices = { [MODEL]: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 3, currency: 'USD' }, 'q/n': { input: 4, output: 4, currency: 'CNY' } }
const COST = (100 * 1 + 20 * 2 + 700 * 0.1 + 30 * 3) / 1e6

const create = (day?: Book): Ledger => new Ledger({ clock: new HandClock(), prices: () => PRICES, ...day === undefined ? {} : { day } })

describe('a charge', () => {
  test('adds every kind of token and the cost to its advisor and its model', () => {
    const ledger = create()
    const charge = ledger.of('').charge(MODEL, REPORTED)
    expect(charge).toEqual({
      model: MODEL, usage: { input: 100, output: 20, cacheRead: 700, cacheWrite: 30, reasoning: 5 },
      cost: { amount: expect.closeTo(COST, 12) as number, currency: 'USD' },
    })
    ledger.of('').charge(MODEL, REPORTED)
    expect(ledger.session('').models).toEqual({
      [MODEL]: {
        calls: 2, unreported: 0, unpriced: 0, tokens: { input: 200, output: 40, cacheRead: 1400, cacheWrite: 60, reasoning: 10 },
        cost: { USD: expect.closeTo(2 * COST, 12) as number },
      },
    })
  })

  test('without a price leaves its cost unknown, and no amount of it', () => {
    const ledger = create()
    expect(ledger.of('').charge('x/y', REPORTED).cost).toBeUndefined()
    expect(ledger.session().models['x/y']).toMatchObject({ calls: 1, unpriced: 1, cost: {} })
  })

  test('at a price that is no number leaves its cost unknown', () => {
    const ledger = new Ledger({ clock: new HandClock(), prices: () => ({ [MODEL]: { input: NaN, output: 1, currency: 'USD' } }) })
    expect(ledger.of('').charge(MODEL, REPORTED).cost).toBeUndefined()
    expect(ledger.session().models[MODEL]).toMatchObject({ unpriced: 1, cost: {} })
  })

  test('without usage counts as a call that told none', () => {
    const ledger = create()
    expect(ledger.of('').charge(MODEL, undefined)).toEqual({ model: MODEL, usage: undefined, cost: undefined })
    expect(ledger.session().models[MODEL]).toEqual({ calls: 1, unreported: 1, unpriced: 0, tokens: used(), cost: {} })
  })

  test.each([[{ inputTokens: NaN, outputTokens: -5 }], [{ inputTokens: undefined as never, outputTokens: Infinity }]])('of %j spoils no sum', (reported) => {
    const ledger = create()
    ledger.of('').charge(MODEL, reported)
    ledger.of('').charge(MODEL, { inputTokens: 1, outputTokens: 1 })
    expect(ledger.session().models[MODEL]).toMatchObject({ tokens: used({ input: 1, output: 1 }), cost: { USD: expect.closeTo(3e-6, 12) as number } })
  })

  test('of a model named like a part of every object is a charge like any other', () => {
    const ledger = create()
    for (const model of ['__proto__', 'constructor']) ledger.of('').charge(model, REPORTED)
    expect(Object.keys(ledger.session().models)).toEqual(['__proto__', 'constructor'])
    expect(({} as { calls?: number }).calls).toBeUndefined()
  })
})

describe('advisors', () => {
  test('have counts of their own, and sum up', () => {
    const ledger = create()
    ledger.of('a').count('calls')
    ledger.of('a').count('dropped', 3)
    ledger.of('b').count('calls', 2)
    expect(ledger.of('a').totals.counts).toMatchObject({ calls: 1, dropped: 3, reviews: 0 })
    expect(ledger.session().counts).toMatchObject({ calls: 3, dropped: 3 })
    expect(ledger.session('b').counts).toMatchObject({ calls: 2, dropped: 0 })
    expect(ledger.session('c')).toEqual(emptyTotals())
  })

  test('with models of several currencies are billed in each', () => {
    const ledger = create()
    ledger.of('a').charge(MODEL, { inputTokens: 1e6, outputTokens: 0 })
    ledger.of('b').charge('q/n', { inputTokens: 1e6, outputTokens: 0 })
    const bill = billOf(ledger.session())
    expect(bill).toMatchObject({ calls: 2, cost: { USD: 1, CNY: 4 } })
    expect(tokensIn(bill.tokens)).toBe(2e6)
  })
})

describe('what was restored', () => {
  test('stays apart from what this process did, and is part of the whole', () => {
    const ledger = create()
    ledger.restore('a', after(3))
    ledger.of('a').count('reviews')
    ledger.of('a').charge(MODEL, REPORTED)
    expect(ledger.session().counts.reviews).toBe(1)
    expect(ledger.restored().counts.reviews).toBe(3)
    expect(ledger.whole('a').counts.reviews).toBe(4)
    expect(ledger.whole().models[MODEL]).toMatchObject({ calls: 4, cost: { USD: expect.closeTo(0.75 + COST, 12) as number } })
    expect(ledger.session().counts.reviews).toBe(1)
  })

  test('is replaced by what is restored after it', () => {
    const ledger = create()
    ledger.restore('a', after(3))
    ledger.restore('a', after(5))
    expect(ledger.whole().counts.reviews).toBe(5)
    expect(ledger.advisors).toEqual(['a'])
  })
})

describe('notes', () => {
  test('are counted with their fate and the user\'s word, by severity', () => {
    const account = create().of('')
    account.noted('concern')
    account.noted('concern')
    account.judged(1, 'concern', 'touched')
    account.judged(2, 'concern', 'ignored')
    account.judged(1, 'concern', 'good')
    expect(account.totals.outcomes.concern).toEqual({ notes: 2, touched: 1, ignored: 1, good: 1, bad: 0 })
  })

  test('count once for the user, whatever they say last', () => {
    const account = create().of('')
    for (const verdict of ['good', 'good', 'bad', 'bad'] as const) account.judged(7, 'nit', verdict)
    account.judged(8, 'nit', 'good')
    expect(account.totals.outcomes.nit).toMatchObject({ good: 1, bad: 1 })
  })
})

test('the day hears of everything', () => {
  const heard: unknown[] = []
  const ledger = create({
    count: (...what) => { heard.push(what) }, charge: ({ model }) => { heard.push(model) }, outcome: (...what) => { heard.push(what) },
  })
  const account = ledger.of('a')
  account.count('reviews')
  account.charge(MODEL, REPORTED)
  account.noted('nit')
  account.judged(1, 'nit', 'good')
  account.judged(1, 'nit', 'bad')
  expect(heard).toEqual([['reviews', 1], MODEL, ['nit', 'notes', 1], ['nit', 'good', 1], ['nit', 'good', -1], ['nit', 'bad', 1]])
})

describe('totals that were written down', () => {
  test('are read back as they were', () => {
    const totals = after(2)
    totals.outcomes.blocker.touched = 1
    expect(readTotalsValue(JSON.parse(JSON.stringify(totals)))).toEqual(totals)
  })

  test('may lack what a version did not know', () => {
    expect(readTotalsValue({ counts: { calls: 2 }, later: true })).toEqual({ ...emptyTotals(), counts: { ...emptyTotals().counts, calls: 2 } })
  })

  test.each([
    null, 7, [], { counts: 3 }, { counts: { calls: -1 } }, { counts: { calls: '1' } }, { models: [] }, { models: { m: 3 } },
    { models: { m: { tokens: { input: 1e400 } } } }, { models: { m: { cost: { USD: -1 } } } }, { outcomes: { nit: { notes: null } } },
  ])('are refused when they are %j', (value) => {
    expect(readTotalsValue(value)).toBeUndefined()
  })
})
