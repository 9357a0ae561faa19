// How numbers and money are written, the same on every surface and machine.

import type { Money } from './prices.ts'

/** A number with thousands separated and at most so many decimals. */
export function number(value: number, decimals = 0): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: decimals })
}

/** An amount with its currency, as in `0.0421 USD`; what is there but too small to show is `< 0.0001`. */
export function money({ amount, currency }: Money): string {
  const least = 0.0001
  if (amount > 0 && amount < least) return `< ${least} ${currency}`
  return `${number(amount, amount < 100 ? 4 : 2)} ${currency}`
}

/** Amounts by currency, as in `0.42 USD + 1.1 CNY`. Without one it is unknown, for what is unknown is not nothing. */
export function costText(cost: Readonly<Record<string, number>>, unpriced: number): string {
  const known = Object.entries(cost).map(([currency, amount]) => money({ amount, currency })).join(' + ')
  if (unpriced === 0) return known === '' ? 'nothing' : known
  return known === '' ? 'unknown' : `${known} and ${number(unpriced)} ${unpriced === 1 ? 'call' : 'calls'} of unknown price`
}
