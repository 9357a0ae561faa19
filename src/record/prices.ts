// What a call costs. A price nobody knows stays unknown and is never taken for nothing.

import type { Usage } from './totals.ts'

/** Money per million tokens, in units of the currency. */
export interface Price {
  /** Input that was not read from the provider's cache. */
  readonly input: number
  readonly output: number
  /** Without it, what input costs. */
  readonly cacheRead?: number
  /** Without it, what input costs. */
  readonly cacheWrite?: number
  /** As the provider bills it, in three letters. */
  readonly currency: string
}

/** By `provider/model`, as the user wrote it. */
export type Prices = Readonly<Record<string, Price>>

export interface Money {
  readonly amount: number
  readonly currency: string
}

/** A price of the table: half of the peak price holds outside of the peak hours. */
interface Listed {
  readonly peak: Price
}

/*
 * DeepSeek's own list in US dollars, https://api-docs.deepseek.com/quick_start/pricing as it stood after 17 October 2026
 * (DeepSeek-V4.1-Flash-1017, DeepSeek-V4-Pro-0813), where all Flash names are billed alike and off-peak is half of peak.
 * It names no price for writing the cache. An account that is billed in yuan sets `prices`.
 */
const FLASH: Listed = { peak: { input: 0.3, output: 1.2, cacheRead: 0.006, currency: 'USD' } }
const PRO: Listed = { peak: { input: 1.32, output: 3.96, cacheRead: 0.044, currency: 'USD' } }

/** The models that the host ships, and the name which the list gives the first of them now. */
const LISTED: ReadonlyMap<string, Listed> = new Map([
  ['deepseek-official/deepseek-v4-flash', FLASH],
  ['deepseek-official/deepseek-v4-flash-vision-exp', FLASH],
  ['deepseek-official/deepseek-flash', FLASH],
  ['deepseek-official/deepseek-v4-pro', PRO],
])

/** Peak hours of the same list, from and to in UTC, on weekdays of Beijing, which are those of UTC at these hours. */
const PEAK_HOURS = [[1, 4], [6, 10]] as const

const PER_MILLION = 1_000_000

/**
 * The price of a model at a time: the user's, else the table's, else none.
 * Chinese public holidays are off-peak by the list and not known here: on them the table's price is twice the bill.
 * @param model - `provider/model`.
 * @param at - milliseconds since the epoch.
 */
export function priceOf(model: string, prices: Prices, at: number): Price | undefined {
  if (Object.hasOwn(prices, model)) return prices[model]
  const listed = LISTED.get(model)
  return listed === undefined || isPeak(at) ? listed?.peak : half(listed.peak)
}

/** What so many tokens cost. Reasoning is part of the output and not counted again. */
export function costOf(usage: Usage, price: Price): Money {
  const { input, output, cacheRead = input, cacheWrite = input, currency } = price
  const amount = usage.input * input + usage.output * output + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite
  return { amount: amount / PER_MILLION, currency }
}

function isPeak(at: number): boolean {
  const date = new Date(at)
  const [day, hour] = [date.getUTCDay(), date.getUTCHours()]
  return day >= 1 && day <= 5 && PEAK_HOURS.some(([from, to]) => hour >= from && hour < to)
}

function half({ input, output, cacheRead, currency }: Price): Price {
  return { input: input / 2, output: output / 2, ...cacheRead === undefined ? {} : { cacheRead: cacheRead / 2 }, currency }
}
