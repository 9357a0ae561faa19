// Calls under way that draw from one budget: what they will take is not spent yet, and no longer there for others.

import { Progress } from '../progress.ts'
import type { Estimate } from './budget.ts'
import { billOf, emptyTotals, type ModelTotals } from './totals.ts'

export class Reservations {
  private readonly open = new Set<Estimate>()
  private readonly progress = new Progress()

  /**
   * Wait until a call fits beside those under way, and reserve what it will take. One that fits into no budget waits only
   * until it is alone: it is judged by what is spent. Never rejects.
   * @param fits - whether it does, by what the calls under way will take.
   * @returns gives the reservation back.
   */
  async reserve(next: Estimate, fits: (reserved: ModelTotals) => boolean, signal: AbortSignal): Promise<() => void> {
    const mayGo = () => this.open.size === 0 || fits(this.reserved())
    // Whoever waited beside it may have been quicker.
    while (!signal.aborted && !mayGo()) await this.progress.until(mayGo, signal)
    this.open.add(next)
    return () => {
      this.open.delete(next)
      this.progress.made()
    }
  }

  private reserved(): ModelTotals {
    const sum = billOf(emptyTotals())
    for (const { tokens, cost } of this.open) {
      sum.tokens.input += tokens
      if (cost !== undefined) sum.cost[cost.currency] = (sum.cost[cost.currency] ?? 0) + cost.amount
    }
    return sum
  }
}
