// All that is written down about one session: the sums of each advisor, a journal for each, what became of the notes, and what
// the session may still spend. It decides nothing about reviews.

import { dirname, join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Entry } from '../observe/entry.ts'
import type { Evidence } from '../finding.ts'
import type { Severity } from '../severity.ts'
import { SessionBudget, type Budget, type BudgetVerdict } from './budget.ts'
import { Journal, type ReviewRecord } from './journal.ts'
import { Ledger, type Account, type Book } from './ledger.ts'
import { judgeStep, pursue, type Pursuit } from './outcome.ts'
import { costOf, priceOf, type Prices } from './prices.ts'
import { readTotals } from './read-totals.ts'
import { billOf, sumOf, type NoteVerdict, type Totals } from './totals.ts'
import { Usefulness, type Useless } from './usefulness.ts'

export interface SessionRecordPort {
  /** Where the journals are. */
  readonly folder: string
  readonly clock: Clock
  prices(): Prices
  /** Sums of the day, over all sessions of the host. */
  readonly day: Book & { today(): Promise<Totals> }
  /** One line for the user. */
  onTrouble(line: string): void
  /** The session that this one works for: what is spent here is spent there. */
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
  private readonly journals = new Map<string, Journal>()
  private readonly restoring = new Map<string, Promise<void>>()
  private readonly children = new Set<SessionRecord>()
  private readonly usefulness = new Map<string, Usefulness>()
  /** By note, what it names, while it is open whether the agent acts on it. */
  private readonly pursuits = new Map<number, { readonly note: RecordedNote, readonly slugs: readonly string[], readonly pursuit: Pursuit }>()

  constructor(port: SessionRecordPort) {
    this.port = port
    this.ledger = new Ledger(port)
    port.parent?.children.add(this)
  }

  /** An advisor's sums; with its first use its journal is opened and what stands there is counted in. */
  account(slug: string): Account {
    this.journal(slug)
    return this.ledger.of(slug)
  }

  /** Resolves when what earlier runs wrote down is counted in. Never rejects. */
  async restored(): Promise<void> {
    await Promise.all(this.restoring.values())
  }

  /** A review, or an attempt at one, came to its end. Returns what the user has to be told of an advisor that is of no use. */
  review(slug: string, record: ReviewRecord): Useless | undefined {
    this.journal(slug).append(record)
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

  /** What the agent did in one update, held against the notes it has read. */
  observe(entries: readonly Entry[]): void {
    for (const [id, { note, slugs, pursuit }] of this.pursuits) {
      const outcome = judgeStep(pursuit, entries)
      if (outcome.kind === 'open') this.pursuits.set(id, { note, slugs, pursuit: outcome.pursuit })
      else this.pursuits.delete(id)
      if (outcome.kind === 'touched' || outcome.kind === 'ignored') this.judged(note, slugs, outcome.kind)
    }
  }

  /** What became of a note, or what the user thinks of it. */
  judged(note: RecordedNote, slugs: readonly string[], verdict: NoteVerdict): void {
    for (const slug of slugs) {
      this.account(slug).judged(note.id, note.severity, verdict)
      this.journal(slug).append({ kind: 'verdict', note: note.id, verdict })
    }
  }

  /** All that was spent for this session, subagents included. */
  spent(): Totals {
    return sumOf([this.ledger.whole(), ...[...this.children].map(child => child.spent())])
  }

  /** What all sessions did on the local day. */
  today(): Promise<Totals> {
    return this.port.day.today()
  }

  /** Whether one more call of `model` may be made, by a guess at its tokens. A subagent draws from the session it works for. */
  mayCall(budget: Budget, model: string, tokens: number): BudgetVerdict {
    const { parent, prices, clock } = this.port
    if (parent !== undefined) return parent.mayCall(budget, model, tokens)
    if (budget.tokens === undefined && budget.cost === undefined) return { kind: 'fine' }
    const price = priceOf(model, prices(), clock.now())
    const usage = { input: tokens, output: REPLY_GUESS, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
    return this.budget.judge(budget, billOf(this.spent()), { tokens: tokens + REPLY_GUESS, cost: price === undefined ? undefined : costOf(usage, price) })
  }

  /** The user lets the session spend as much again. */
  grant(): void {
    this.port.parent?.grant()
    this.budget.grant()
  }

  /** Write what waits, 2 s at most. What is spent here stays with the parent. */
  async dispose(): Promise<void> {
    await Promise.all([...this.journals.values()].map(journal => journal.dispose()))
  }

  private journal(slug: string): Journal {
    const known = this.journals.get(slug)
    if (known !== undefined) return known
    const { folder, clock, onTrouble, after } = this.port
    const journal = new Journal({ folder, slug, clock, totals: () => this.ledger.of(slug).totals, onTrouble })
    this.journals.set(slug, journal)
    this.restoring.set(slug, (after ?? Promise.resolve())
      .then(() => readTotals(journal.path, journal.run))
      .then(({ totals }) => this.ledger.restore(slug, totals), () => {}))
    return journal
  }
}

/**
 * Where the journals of a session are.
 * @param log - path of the session's own log, when it is in a file.
 */
export function recordFolder(log: string | undefined, dshHome: string, sessionId: string): string {
  // An id out of a log may be anything; it must stay one segment of a path.
  return log === undefined ? join(dshHome, 'advisor', sessionId.replace(/[^\w.-]/g, '_').replace(/^\.+/, '_')) : join(dirname(log), 'advisor')
}
