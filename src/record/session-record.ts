// All that is written down about one session: the sums of each advisor, a journal for each, what became of the notes, and what
// the session may still spend. It decides nothing about reviews.

import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Entry } from '../observe/entry.ts'
import type { Evidence } from '../finding.ts'
import type { Severity } from '../severity.ts'
import { SessionBudget, type Budget, type BudgetVerdict, type Estimate } from './budget.ts'
import { Journal, SUBAGENTS, type ReviewRecord } from './journal.ts'
import { inAll, Ledger, Sum, type Account, type Book } from './ledger.ts'
import { judgeStep, pursue, type Pursuit } from './outcome.ts'
import { costOf, priceOf, type Prices } from './prices.ts'
import { readTotals } from './read-totals.ts'
import { Reservations } from './reservations.ts'
import { addBill, billOf, emptyTotals, sumOf, type NoteVerdict, type Totals } from './totals.ts'
import { Usefulness, type Useless } from './usefulness.ts'

export interface SessionRecordPort {
  /** Where the journals are. */
  readonly folder: string
  readonly clock: Clock
  prices(): Prices
  /** Sums of the day, over all sessions of the host. */
  readonly day: Book & { today(): Promise<Totals> }
  /** One line for the user. */
  onTrouble(line: string, cause: string): void
  /** The session that this one works for: what is spent here is spent there, too. */
  readonly parent?: SessionRecord | undefined
  /** Resolves when whoever kept these journals before has ended. */
  readonly after?: Promise<void> | undefined
}

/** A note, as far as its record is concerned. */
export interface RecordedNote {
  readonly id: number
  readonly severity: Severity
  readonly text: string
  readonly evidence?: Evidence | undefined
}

/** Output tokens that a call is taken to need, when it is held against a budget. */
const REPLY_GUESS = 300

export class SessionRecord {
  readonly ledger: Ledger
  private readonly port: SessionRecordPort
  private readonly budget = new SessionBudget()
  private readonly reservations = new Reservations()
  private readonly journals = new Map<string, Journal>()
  private readonly restoring = new Map<string, Promise<void>>()
  /** What its subagents did: in this process, and as it was written down before. */
  private readonly helped = new Sum()
  private helpedEarlier = emptyTotals()
  private readonly usefulness = new Map<string, Usefulness>()
  /** By note, what it names, while it is open whether the agent acts on it. */
  private readonly pursuits = new Map<number, { readonly note: RecordedNote, readonly slugs: readonly string[], readonly pursuit: Pursuit }>()
  /** What the agent did and nobody has looked at, with the notes that it had read by then. */
  private steps: { readonly notes: readonly number[], readonly entries: readonly Entry[], readonly isOver: boolean }[] = []

  constructor(port: SessionRecordPort) {
    this.port = port
    this.ledger = new Ledger({ ...port, day: port.parent === undefined ? port.day : inAll(port.day, port.parent.forSubagents()) })
  }

  /** An advisor's sums; with its first use its journal is opened and what stands there is counted in. */
  account(slug: string): Account {
    this.journal(slug)
    this.journal(SUBAGENTS)
    return this.ledger.of(slug)
  }

  /** Resolves when what earlier runs wrote down is counted in, for the session it works for as well. Never rejects. */
  async restored(): Promise<void> {
    await Promise.all([...this.restoring.values(), this.port.parent?.restored()])
  }

  /** Count in what was done and written down by now, by other processes on the same session too. Never rejects. */
  async reread(): Promise<void> {
    this.judgeSteps()
    await this.restored()
    await Promise.all([...this.journals].map(([slug, journal]) => this.read(slug, journal)))
  }

  /** A review, or an attempt at one, came to its end. Returns what the user has to be told of an advisor that is of no use. */
  review(slug: string, record: ReviewRecord): Useless | undefined {
    this.journal(slug).append(record)
    this.port.parent?.onSubagent()
    const usefulness = this.usefulness.get(slug) ?? new Usefulness()
    this.usefulness.set(slug, usefulness)
    return usefulness.observe(this.ledger.of(slug).totals)
  }

  /** Why an advisor is of no use as things stand; undefined when it is, or nothing speaks against it. */
  uselessness(slug: string): Useless | undefined {
    const verdict = this.usefulness.get(slug)?.verdict
    return verdict?.kind === 'useless' ? verdict : undefined
  }

  /** Where the journals are. */
  get folder(): string {
    return this.port.folder
  }

  /** Advisors gave a note. */
  noted(note: RecordedNote, slugs: readonly string[]): void {
    for (const slug of slugs) this.account(slug).noted(note.severity)
  }

  /** A note came to rest somewhere. @param isRead - the agent's model has it before it now. */
  settled(note: RecordedNote, slugs: readonly string[], fate: string, isRead: boolean): void {
    for (const slug of slugs) this.journal(slug).append({ kind: 'fate', note: note.id, fate })
    if (!isRead) return
    const outcome = pursue(note.text, note.evidence?.path === undefined ? [] : [note.evidence.path])
    if (outcome.kind === 'open') this.pursuits.set(note.id, { note, slugs, pursuit: outcome.pursuit })
  }

  /** What the agent did in one update, held against the notes it has read. @param isOver - its turn ended with it. */
  observe(entries: readonly Entry[], isOver: boolean): void {
    if (this.pursuits.size === 0) return
    this.steps.push({ notes: [...this.pursuits.keys()], entries, isOver })
    // To read through a large change takes longer than the agent should wait for.
    if (this.steps.length === 1) setImmediate(() => { this.judgeSteps() })
  }

  /** What became of a note, or what the user thinks of it. */
  judged(note: RecordedNote, slugs: readonly string[], verdict: NoteVerdict): void {
    for (const slug of slugs) {
      this.account(slug).judged(note.id, note.severity, verdict)
      this.journal(slug).append({ kind: 'verdict', note: note.id, verdict })
    }
  }

  /** What the subagents of this session did in all of its life. */
  bySubagents(): Totals {
    return sumOf([this.helped.totals, this.helpedEarlier])
  }

  /** All that was spent for this session, subagents included. */
  spent(): Totals {
    return sumOf([this.ledger.whole(), this.bySubagents()])
  }

  /** What all sessions did on the local day. */
  today(): Promise<Totals> {
    return this.port.day.today()
  }

  /** Whether one more call of `model` may be made, by a guess at its tokens. A subagent draws from the session it works for. */
  mayCall(budget: Budget, model: string, tokens: number): BudgetVerdict {
    const { parent } = this.port
    if (parent !== undefined) return parent.mayCall(budget, model, tokens)
    if (budget.tokens === undefined && budget.cost === undefined) return { kind: 'fine' }
    return this.budget.judge(budget, billOf(this.spent()), this.estimate(model, tokens))
  }

  /**
   * Wait until a call fits into the budget beside those that are under way, which end by their own deadlines. Never rejects.
   * @returns to be called when the call has ended and was charged.
   */
  async reserve(budget: Budget, model: string, tokens: number, signal: AbortSignal): Promise<() => void> {
    const { parent } = this.port
    if (parent !== undefined) return parent.reserve(budget, model, tokens, signal)
    if (budget.tokens === undefined && budget.cost === undefined) return () => {}
    const next = this.estimate(model, tokens)
    return this.reservations.reserve(next, (reserved) => {
      const spent = billOf(this.spent())
      addBill(spent, reserved)
      return this.budget.fits(budget, spent, next)
    }, signal)
  }

  private estimate(model: string, tokens: number): Estimate {
    const { prices, clock } = this.port
    const price = priceOf(model, prices(), clock.now())
    const usage = { input: tokens, output: REPLY_GUESS, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
    return { tokens: tokens + REPLY_GUESS, cost: price === undefined ? undefined : costOf(usage, price) }
  }

  /** How much of a budget is spent, in words; undefined without one. */
  budgetText(budget: Budget): string | undefined {
    const { parent } = this.port
    return parent === undefined ? this.budget.describe(budget, billOf(this.spent())) : parent.budgetText(budget)
  }

  /** The user lets the session spend as much again, when its budget is spent. */
  grant(): void {
    if (this.port.parent !== undefined) return this.port.parent.grant()
    if (this.budget.isSpent) this.budget.grant(billOf(this.spent()))
  }

  /** Write what waits, 2 s at most. What is spent here stays with the parent. */
  async dispose(): Promise<void> {
    this.judgeSteps()
    await Promise.all([...this.journals.values()].map(journal => journal.dispose()))
  }

  private judgeSteps(): void {
    const { steps } = this
    this.steps = []
    for (const { notes, entries, isOver } of steps) for (const id of notes) this.judgeStep(id, entries, isOver)
  }

  private judgeStep(id: number, entries: readonly Entry[], isOver: boolean): void {
    const open = this.pursuits.get(id)
    if (open === undefined) return
    const { note, slugs, pursuit } = open
    const outcome = judgeStep(pursuit, entries, isOver)
    if (outcome.kind === 'open') this.pursuits.set(id, { note, slugs, pursuit: outcome.pursuit })
    else this.pursuits.delete(id)
    if (outcome.kind === 'touched' || outcome.kind === 'ignored') this.judged(note, slugs, outcome.kind)
  }

  private journal(slug: string): Journal {
    const known = this.journals.get(slug)
    if (known !== undefined) return known
    const { folder, clock, onTrouble, after } = this.port
    const totals = () => slug === SUBAGENTS ? this.helped.totals : this.ledger.of(slug).totals
    const journal = new Journal({ folder, slug, clock, totals, onTrouble })
    this.journals.set(slug, journal)
    this.restoring.set(slug, (after ?? Promise.resolve()).then(() => this.read(slug, journal), () => this.read(slug, journal)))
    return journal
  }

  private async read(slug: string, { path, run }: Journal): Promise<void> {
    const { totals } = await readTotals(path, run)
    if (slug === SUBAGENTS) this.helpedEarlier = totals
    else this.ledger.restore(slug, totals)
  }

  /** Where subagents have what they do written down as well, up to the session that nobody gave an order. */
  private forSubagents(): Book {
    const { parent } = this.port
    return parent === undefined ? this.helped : inAll(this.helped, parent.forSubagents())
  }

  /** A subagent's review, or an attempt at one, came to its end. */
  private onSubagent(): void {
    this.journal(SUBAGENTS).append({ kind: 'subagent' })
    this.port.parent?.onSubagent()
  }
}

/**
 * Where the journals of a session are.
 * @param log - path of the session's own log, when it is in a file.
 */
export function recordFolder(log: string | undefined, dshHome: string, sessionId: string): string {
  if (log !== undefined) return join(dirname(log), 'advisor')
  // An id out of a log may be anything; it must stay one segment of a path, and another one than that of any other.
  const safe = sessionId.slice(0, 100).replace(/[^\w.-]/g, '_').replace(/^\.+/, '_')
  return join(dshHome, 'advisor', safe === sessionId ? safe : `${safe}-${createHash('sha1').update(sessionId).digest('hex').slice(0, 8)}`)
}
