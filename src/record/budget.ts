// Whether a session may spend more. Asked before every call, with a guess at what that call will take.

import { number } from './figures.ts'
import type { Money } from './prices.ts'
import { tokensIn, type ModelTotals } from './totals.ts'

/** What one session may spend, subagents included; what is not set is not bounded. */
export interface Budget {
  /** All tokens the provider counts, cached ones too. */
  readonly tokens?: number
  /** In the currency of the price; amounts in several currencies are each held against it. */
  readonly cost?: number
}

/** What the next call will take. */
export interface Estimate {
  readonly tokens: number
  /** None when the price is not known. */
  readonly cost: Money | undefined
}

export type BudgetVerdict =
  /** `unchecked`: why part of the budget could not be held against anything. */
  | { readonly kind: 'fine', readonly unchecked?: string }
  /** `news`: nobody was told of it. */
  | { readonly kind: 'exhausted', readonly reason: string, readonly news?: true }

/** What may be spent, amounts by currency; those of any other currency are bounded by `cost`. */
interface Limits {
  readonly tokens: number | undefined
  readonly cost: number | undefined
  readonly costs: Readonly<Record<string, number>>
}

/**
 * Judge the next call of a session.
 * @param spent - all that was billed to the session, see `billOf`.
 */
export function judgeBudget({ tokens, cost }: Budget, spent: ModelTotals, next: Estimate): BudgetVerdict {
  return judge({ tokens, cost, costs: {} }, spent, next)
}

function judge(limits: Limits, spent: ModelTotals, next: Estimate): BudgetVerdict {
  const tokens = reached(limits.tokens, tokensIn(spent.tokens), next.tokens, amount => number(amount), 'tokens')
  if (tokens !== undefined) return { kind: 'exhausted', reason: tokens }
  if (limits.cost === undefined) return { kind: 'fine' }
  const currencies = new Set([...Object.keys(spent.cost), ...next.cost === undefined ? [] : [next.cost.currency]])
  for (const currency of currencies) {
    const more = next.cost?.currency === currency ? next.cost.amount : 0
    const cost = reached(limits.costs[currency] ?? limits.cost, spent.cost[currency] ?? 0, more, amount => number(amount, 4), currency)
    if (cost !== undefined) return { kind: 'exhausted', reason: cost }
  }
  if (next.cost !== undefined) return { kind: 'fine' }
  return { kind: 'fine', unchecked: 'the price of the model is not known: `budget.cost` cannot be held against it (`prices` sets one)' }
}

/** The budget of one session: what the user let it spend beyond, and what was said about it. */
export class SessionBudget {
  /** What had been spent when the user last granted a budget. */
  private granted: Pick<ModelTotals, 'tokens' | 'cost'> | undefined
  private toldUnchecked = false
  /** The limits that the last call was held against, and those that the user was told are reached. */
  private limits = ''
  private told = ''

  /** It is spent, as far as anybody tried. */
  get isSpent(): boolean {
    return this.told !== '' && this.told === this.limits
  }

  /** The user lets the session spend a whole budget more than it has. */
  grant(spent: ModelTotals): void {
    this.granted = spent
    this.told = ''
  }

  /** {@link judgeBudget} with what was granted; `unchecked` is given once, `news` once until larger limits let a call pass. */
  judge(budget: Budget, spent: ModelTotals, next: Estimate): BudgetVerdict {
    const limits = this.limitsOf(budget)
    this.limits = JSON.stringify(limits)
    const verdict = judge(limits, spent, next)
    if (verdict.kind === 'exhausted') {
      const isNews = this.told === ''
      this.told = this.limits
      return isNews ? { ...verdict, news: true } : verdict
    }
    // A smaller call than the one that met the limits is no news of them.
    if (this.told !== this.limits) this.told = ''
    if (verdict.unchecked === undefined || this.toldUnchecked) return { kind: 'fine' }
    this.toldUnchecked = true
    return verdict
  }

  /** Whether one more call is within it; says and remembers nothing. */
  fits(budget: Budget, spent: ModelTotals, next: Estimate): boolean {
    return judge(this.limitsOf(budget), spent, next).kind === 'fine'
  }

  /** How much of it is spent, in words; undefined when nothing is bounded. */
  describe(budget: Budget, spent: ModelTotals): string | undefined {
    const { tokens, cost, costs } = this.limitsOf(budget)
    const parts = [
      ...tokens === undefined ? [] : [`${number(tokensIn(spent.tokens))} of ${number(tokens)} tokens`],
      ...cost === undefined ? [] : Object.entries(spent.cost).map(([currency, amount]) => `${number(amount, 4)} of ${number(costs[currency] ?? cost, 4)} ${currency}`),
    ]
    if (parts.length === 0) return cost === undefined ? undefined : `nothing of ${number(cost, 4)}`
    return `${parts.join(' and ')} spent`
  }

  private limitsOf({ tokens, cost }: Budget): Limits {
    const { granted } = this
    return {
      tokens: tokens === undefined || granted === undefined ? tokens : tokensIn(granted.tokens) + tokens,
      cost,
      costs: cost === undefined || granted === undefined ? {} : Object.fromEntries(Object.entries(granted.cost).map(([currency, amount]) => [currency, amount + cost])),
    }
  }
}

function reached(limit: number | undefined, spent: number, next: number, show: (amount: number) => string, unit: string): string | undefined {
  if (limit === undefined || spent + next <= limit && spent < limit) return undefined
  const state = `${show(spent)} of ${show(limit)} ${unit} of its budget are spent`
  return spent >= limit ? state : `${state}, and the next call may take ${show(next)}`
}
