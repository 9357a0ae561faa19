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

/** Amounts by currency, as in `0.42 USD + 1.1 CNY`. */
export function costsText(cost: Readonly<Record<string, number>>): string {
  const costs = Object.entries(cost)
  // A currency in which nothing was billed says nothing beside another.
  const paid = costs.filter(([, amount]) => amount > 0)
  return (paid.length === 0 ? costs.slice(0, 1) : paid).map(([currency, amount]) => money({ amount, currency })).join(' + ')
}

/**
 * What some calls cost, for what is unknown is not nothing.
 * @param unreported - calls whose usage nobody told; the caller says so beside it.
 */
export function costText(cost: Readonly<Record<string, number>>, unpriced: number, unreported: number): string {
  const known = costsText(cost)
  if (unpriced === 0) return known !== '' ? known : unreported === 0 ? 'nothing' : 'unknown'
  return known === '' ? 'unknown' : `${known} and ${number(unpriced)} ${unpriced === 1 ? 'call' : 'calls'} of unknown price`
}
