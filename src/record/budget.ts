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
  | { readonly kind: 'exhausted', readonly reason: string }

/**
 * Judge the next call of a session.
 * @param spent - all that was billed to the session, see `billOf`.
 */
export function judgeBudget(budget: Budget, spent: ModelTotals, next: Estimate): BudgetVerdict {
  const tokens = reached(budget.tokens, tokensIn(spent.tokens), next.tokens, amount => number(amount), 'tokens')
  if (tokens !== undefined) return { kind: 'exhausted', reason: tokens }
  if (budget.cost === undefined) return { kind: 'fine' }
  const currencies = new Set([...Object.keys(spent.cost), ...next.cost === undefined ? [] : [next.cost.currency]])
  for (const currency of currencies) {
    const more = next.cost?.currency === currency ? next.cost.amount : 0
    const cost = reached(budget.cost, spent.cost[currency] ?? 0, more, amount => number(amount, 4), currency)
    if (cost !== undefined) return { kind: 'exhausted', reason: cost }
  }
  if (next.cost !== undefined) return { kind: 'fine' }
  return { kind: 'fine', unchecked: 'the price of the model is not known: `budget.cost` cannot be held against it (`prices` sets one)' }
}

/** The budget of one session: how often it was granted, and what was said about it. */
export class SessionBudget {
  private grants = 1
  private told = false

  /** The user lets the session spend as much again. */
  grant(): void {
    this.grants += 1
  }

  /** {@link judgeBudget} against all grants; `unchecked` is given once. */
  judge(budget: Budget, spent: ModelTotals, next: Estimate): BudgetVerdict {
    const times = (limit: number | undefined) => limit === undefined ? undefined : limit * this.grants
    const [tokens, cost] = [times(budget.tokens), times(budget.cost)]
    const verdict = judgeBudget({ ...tokens === undefined ? {} : { tokens }, ...cost === undefined ? {} : { cost } }, spent, next)
    if (verdict.kind !== 'fine' || verdict.unchecked === undefined) return verdict
    if (this.told) return { kind: 'fine' }
    this.told = true
    return verdict
  }
}

function reached(limit: number | undefined, spent: number, next: number, show: (amount: number) => string, unit: string): string | undefined {
  if (limit === undefined || spent + next <= limit && spent < limit) return undefined
  const state = `${show(spent)} of ${show(limit)} ${unit} of its budget are spent`
  return spent >= limit ? state : `${state}, and the next call may take ${show(next)}`
}
