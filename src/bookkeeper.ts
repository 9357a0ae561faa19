// What one session has to have written down, between its notes, its reviewers and its record: whose a note is, when one has
// come to rest, and what the user hears of a budget. It decides nothing about reviews or delivery.

import type { Advisors } from './advisors.ts'
import { describeState, isSettled, type Note, type NoteState } from './deliver/note.ts'
import type { Host } from './host.ts'
import type { Budget, BudgetVerdict } from './record/budget.ts'
import type { JournalNote } from './record/journal.ts'
import type { SessionRecord } from './record/session-record.ts'
import { routeKey, type Route } from './review/model.ts'
import { slugOf } from './roster/entry.ts'

export interface BookkeeperPort {
  readonly record: SessionRecord
  readonly advisors: Advisors
  readonly host: Host
  budget(): Budget
}

export class Bookkeeper {
  private readonly port: BookkeeperPort

  constructor(port: BookkeeperPort) {
    this.port = port
  }

  /** An advisor gave notes. Returns them as its journal has them. */
  given(notes: readonly Note[], slug: string): readonly JournalNote[] {
    for (const note of notes) this.port.record.noted(note, [slug])
    return notes.map(({ id, severity, text, evidence }) => ({ id, severity, text, ...evidence === undefined ? {} : { evidence } }))
  }

  /** A note went somewhere; what comes to rest is written down, for each of its advisors. */
  moved(note: Note, state: NoteState): void {
    if (isSettled(state)) this.port.record.settled(note, this.slugsOf(note), describeState(state), state.kind === 'delivered')
  }

  /** What the user thinks of a note. */
  judged(note: Note, verdict: 'good' | 'bad'): void {
    this.port.record.judged(note, this.slugsOf(note), verdict)
  }

  /** Resolves when all is known that a call is held against. Never rejects. */
  async ready(): Promise<void> {
    const { tokens, cost } = this.port.budget()
    if (tokens !== undefined || cost !== undefined) await this.port.record.restored()
  }

  /** Whether a call may be made. The user hears once that the budget is spent, whichever reviewer meets it. */
  mayCall(route: Route, tokens: number): BudgetVerdict {
    const { record, host, budget } = this.port
    const verdict = record.mayCall(budget(), routeKey(route), tokens)
    if (verdict.kind === 'fine' && verdict.unchecked !== undefined) host.tell(verdict.unchecked)
    if (verdict.kind === 'exhausted' && verdict.news === true) {
      host.tell(`budget_exhausted: ${verdict.reason}${host.headless ? '' : '; `/advisor on` grants as much again'}`)
    }
    return verdict
  }

  /** Wait until a call fits beside those under way; see {@link SessionRecord.reserve}. */
  reserve(route: Route, tokens: number, signal: AbortSignal): Promise<() => void> {
    return this.port.record.reserve(this.port.budget(), routeKey(route), tokens, signal)
  }

  private slugsOf({ advisors }: Note): readonly string[] {
    return advisors.length === 0 ? [''] : advisors.map(name => this.port.advisors.named(name)?.slug ?? slugOf(name))
  }
}
