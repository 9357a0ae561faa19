// What each advisor of a session did, used and cost: this process's, and apart from it what earlier ones wrote down. It adds;
// it neither decides nor shows.

import type { TokenUsage } from '@deepseek-ai/dsh-llm'
import type { Clock } from '../clock.ts'
import type { Severity } from '../severity.ts'
import { costOf, priceOf, type Money, type Prices } from './prices.ts'
import { addCall, addTotals, emptyTotals, sumOf, usageOf, type Counter, type NoteVerdict, type Totals, type Usage } from './totals.ts'

/** What one call was billed, for the journal. */
export interface Charge {
  /** `provider/model`. */
  readonly model: string
  /** None when the provider told none. */
  readonly usage: Usage | undefined
  /** None when the price or the usage is not known. */
  readonly cost: Money | undefined
}

/** Whoever adds up the same things over more than one session. */
export interface Book {
  count(counter: Counter, by: number): void
  charge(charge: Charge): void
  outcome(severity: Severity, what: 'notes' | NoteVerdict, by: number): void
}

/** Sums of what others do. */
export class Sum implements Book {
  /** They go on changing. */
  readonly totals = emptyTotals()

  count(counter: Counter, by: number): void {
    this.totals.counts[counter] += by
  }

  charge({ model, usage, cost }: Charge): void {
    addCall(this.totals, model, usage, cost)
  }

  outcome(severity: Severity, what: 'notes' | NoteVerdict, by: number): void {
    this.totals.outcomes[severity][what] += by
  }
}

/** Write down everything in each of these. */
export function inAll(...books: readonly Book[]): Book {
  return {
    count: (counter, by) => { for (const book of books) book.count(counter, by) },
    charge: (charge) => { for (const book of books) book.charge(charge) },
    outcome: (severity, what, by) => { for (const book of books) book.outcome(severity, what, by) },
  }
}

export interface LedgerPort {
  readonly clock: Pick<Clock, 'now'>
  prices(): Prices
  /** Sums of the day, over all sessions of the host. */
  readonly day?: Book
}

/** One advisor's lines in the ledger. */
export class Account {
  private readonly port: LedgerPort
  private readonly own = emptyTotals()
  /** What was said of a note that the user may still think better of. */
  private readonly opinions = new Map<number, NoteVerdict>()

  constructor(port: LedgerPort) {
    this.port = port
  }

  /** What this process did; it goes on changing. */
  get totals(): Totals {
    return this.own
  }

  count(counter: Counter, by = 1): void {
    if (by === 0) return
    this.own.counts[counter] += by
    this.port.day?.count(counter, by)
  }

  /**
   * Add what a provider reported for one call of a model, at the price of this moment. How many calls there were, `counts.calls`,
   * is counted when they are sent.
   * @param model - `provider/model`.
   */
  charge(model: string, reported: TokenUsage | undefined): Charge {
    const { prices, clock, day } = this.port
    const price = priceOf(model, prices(), clock.now())
    const usage = reported === undefined ? undefined : usageOf(reported)
    const cost = usage === undefined || price === undefined ? undefined : costOf(usage, price)
    // A price of `.nan` is a number to YAML, and would make every sum one.
    const charge = { model, usage, cost: cost !== undefined && Number.isFinite(cost.amount) ? cost : undefined }
    addCall(this.own, charge.model, charge.usage, charge.cost)
    day?.charge(charge)
    return charge
  }

  /** A note was given. */
  noted(severity: Severity): void {
    this.outcome(severity, 'notes', 1)
  }

  /** What became of a note, once for its fate; the user's word takes the place of an earlier one. */
  judged(note: number, severity: Severity, verdict: NoteVerdict): void {
    if (verdict === 'good' || verdict === 'bad') {
      const before = this.opinions.get(note)
      if (before === verdict) return
      if (before !== undefined) this.outcome(severity, before, -1)
      this.opinions.set(note, verdict)
    }
    this.outcome(severity, verdict, 1)
  }

  private outcome(severity: Severity, what: 'notes' | NoteVerdict, by: number): void {
    this.own.outcomes[severity][what] += by
    this.port.day?.outcome(severity, what, by)
  }
}

/** What whoever makes calls needs of an account. */
export type Tally = Pick<Account, 'count' | 'charge'>

/** All accounts of one session. A subagent has its own, as it has its own journal. */
export class Ledger {
  private readonly port: LedgerPort
  private readonly accounts = new Map<string, Account>()
  private readonly earlier = new Map<string, Totals>()

  constructor(port: LedgerPort) {
    this.port = port
  }

  /** @param advisor - its slug. */
  of(advisor: string): Account {
    const account = this.accounts.get(advisor) ?? new Account(this.port)
    this.accounts.set(advisor, account)
    return account
  }

  /** What earlier processes, or others on the same session, wrote down for an advisor; takes the place of what it was given before. */
  restore(advisor: string, totals: Totals): void {
    this.earlier.set(advisor, totals)
  }

  /** Every advisor that did anything, in the order they came. */
  get advisors(): readonly string[] {
    return [...new Set([...this.earlier.keys(), ...this.accounts.keys()])]
  }

  /** What this process did, for one advisor or for all. */
  session(advisor?: string): Totals {
    return sumOf(pick(this.accounts, advisor).map(({ totals }) => totals))
  }

  /** What was restored, for one advisor or for all. */
  restored(advisor?: string): Totals {
    return sumOf(pick(this.earlier, advisor))
  }

  /** All of the session's life. */
  whole(advisor?: string): Totals {
    const totals = this.session(advisor)
    addTotals(totals, this.restored(advisor))
    return totals
  }
}

function pick<T>(all: ReadonlyMap<string, T>, advisor: string | undefined): T[] {
  if (advisor === undefined) return [...all.values()]
  const one = all.get(advisor)
  return one === undefined ? [] : [one]
}
