import { describe, expect, test } from 'vitest'
import { costText, money } from '../../src/record/figures.ts'
import { costOf, priceOf, type Price, type Prices } from '../../src/record/prices.ts'
import { used } from './support/records.ts'

const FLASH = 'deepseek-official/deepseek-v4-flash'
const PRO = 'deepseek-official/deepseek-v4-pro'
const TUESDAY = '2026-12-01T'
const at = (time: string): number => Date.parse(time)

const million = 1_000_000
const own: Price = { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 3, currency: 'CNY' }

describe('the price of a model', () => {
  test.each([
    [FLASH, `${TUESDAY}03:59:59Z`, { input: 0.3, output: 1.2, cacheRead: 0.006, currency: 'USD' }],
    [FLASH, `${TUESDAY}04:00:00Z`, { input: 0.15, output: 0.6, cacheRead: 0.003, currency: 'USD' }],
    [PRO, `${TUESDAY}06:00:00Z`, { input: 1.32, output: 3.96, cacheRead: 0.044, currency: 'USD' }],
    [PRO, `${TUESDAY}10:00:00Z`, { input: 0.66, output: 1.98, cacheRead: 0.022, currency: 'USD' }],
    ['deepseek-official/deepseek-flash', `${TUESDAY}00:59:59Z`, { input: 0.15, output: 0.6, cacheRead: 0.003, currency: 'USD' }],
    ['deepseek-official/deepseek-v4-flash-vision-exp', '2026-12-05T02:00:00Z', { input: 0.15, output: 0.6, cacheRead: 0.003, currency: 'USD' }],
    [FLASH, '2026-12-06T07:00:00Z', { input: 0.15, output: 0.6, cacheRead: 0.003, currency: 'USD' }],
    [FLASH, '2026-12-07T01:00:00Z', { input: 0.3, output: 1.2, cacheRead: 0.006, currency: 'USD' }],
  ])('%s at %s is the list\'s', (model, time, price) => {
    expect(priceOf(model, {}, at(time))).toEqual(price)
  })

  test.each(['deepseek-official/other', 'other/deepseek-v4-flash', '', 'toString', '__proto__'])('%j has none', (model) => {
    expect(priceOf(model, {}, 0)).toBeUndefined()
  })

  test('what the user set goes before the list, at every hour', () => {
    const prices: Prices = { [FLASH]: own }
    expect(priceOf(FLASH, prices, at(`${TUESDAY}02:00:00Z`))).toBe(own)
    expect(priceOf(FLASH, prices, at(`${TUESDAY}12:00:00Z`))).toBe(own)
    expect(priceOf(PRO, prices, at(`${TUESDAY}12:00:00Z`))).toMatchObject({ input: 0.66 })
  })
})

describe('the cost of a call', () => {
  test.each<[string, Parameters<typeof used>[0], Price, number]>([
    ['input', { input: million }, own, 2],
    ['output, of which reasoning is a part', { output: million, reasoning: million }, own, 8],
    ['cached input', { cacheRead: million }, own, 0.5],
    ['input that went into the cache', { cacheWrite: million }, own, 3],
    ['cached input without a price of its own', { cacheRead: million }, { input: 2, output: 8, currency: 'CNY' }, 2],
    ['cache writes without a price of their own', { cacheWrite: million }, { input: 2, output: 8, currency: 'CNY' }, 2],
    ['cached input that is free', { cacheRead: million }, { ...own, cacheRead: 0 }, 0],
    ['nothing', {}, own, 0],
  ])('counts %s', (_what, usage, price, amount) => {
    expect(costOf(used(usage), price)).toEqual({ amount, currency: 'CNY' })
  })

  test('a hundred thousand calls add up to the billionth of a unit', () => {
    const price: Price = { input: 0.435, output: 0.87, cacheRead: 0.003625, currency: 'USD' }
    let [amount, exact] = [0, 0n]
    for (let call = 0; call < 100_000; call += 1) {
      const usage = used({ input: 977 + call % 911, output: 13 + call % 7, cacheRead: 48_017 + call % 1013 })
      amount += costOf(usage, price).amount
      exact += BigInt(usage.input) * 435_000n + BigInt(usage.output) * 870_000n + BigInt(usage.cacheRead) * 3_625n
    }
    expect(Math.abs(amount - Number(exact) / 1e12)).toBeLessThan(1e-9)
  })
})

describe('money in words', () => {
  test.each([
    [0.0421, '0.0421 USD'], [1.5, '1.5 USD'], [1234.567, '1,234.57 USD'], [0, '0 USD'], [0.00001, '< 0.0001 USD'],
  ])('%d', (amount, text) => {
    expect(money({ amount, currency: 'USD' })).toBe(text)
  })

  test.each<[Record<string, number>, unpriced: number, unreported: number, string]>([
    [{}, 0, 0, 'nothing'], [{}, 3, 0, 'unknown'], [{}, 0, 1, 'unknown'], [{}, 2, 2, 'unknown'],
    [{ USD: 0.5 }, 0, 0, '0.5 USD'], [{ USD: 0.5, CNY: 2 }, 0, 0, '0.5 USD + 2 CNY'],
    [{ USD: 0.5 }, 1, 0, '0.5 USD and 1 call of unknown price'], [{ USD: 0.5 }, 2, 1, '0.5 USD and 2 calls of unknown price'],
    [{ USD: 0.5 }, 0, 1, '0.5 USD'], [{ USD: 0 }, 0, 0, '0 USD'], [{ USD: 0, CNY: 2 }, 0, 0, '2 CNY'],
  ])('%j with %i calls of unknown price and %i of unknown usage is %s', (cost, unpriced, unreported, text) => {
    expect(costText(cost, unpriced, unreported)).toBe(text)
  })
})
