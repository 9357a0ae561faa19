// Notes as the session's log has them: which of ours were delivered, and which an earlier process said. It reads and remembers;
// it sends nothing.

import type { UserMessage } from '@deepseek-ai/dsh-llm'
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import type { PastNote } from '../finding.ts'
import { textOf } from '../observe/entry.ts'
import { Fold } from '../observe/fold.ts'
import type { Delivery } from './delivery.ts'
import type { EmissionGuard } from './guard.ts'
import { isAdvisory, isLoggedOf, readAdvisory, type LoggedNote } from './message.ts'

/** Where in the session something stands. */
export interface Position {
  readonly turn: number
  readonly step: number
}

export class Logged {
  private readonly delivery: Delivery
  private readonly guard: EmissionGuard
  /** Ids of logged messages of ours whose notes are known. */
  private readonly accounted = new Set<string>()
  /** Notes of an earlier process. */
  private past: readonly (LoggedNote & PastNote)[] = []

  constructor(delivery: Delivery, guard: EmissionGuard) {
    this.delivery = delivery
    this.guard = guard
  }

  /** What an advisor said in an earlier process. */
  pastOf(advisor: string | undefined): readonly PastNote[] {
    return this.past.filter(note => isLoggedOf(note, advisor))
  }

  /**
   * A message of ours stands in the log, or, without a position, in the agent's inbox.
   * One that this session did not send is of an earlier process: its notes count as said.
   */
  account(message: UserMessage, position: Position | undefined): void {
    const known = this.delivery.inbox.of(message.id).length > 0
    if (known && position !== undefined) this.delivery.onLogged(message, position)
    if (known || this.accounted.has(message.id)) {
      this.accounted.add(message.id)
      return
    }
    this.accounted.add(message.id)
    const fate = position === undefined ? 'on its way since an earlier run' : 'delivered in an earlier run'
    const notes = readAdvisory(textOf(message.content))
    for (const { text, severity } of notes) this.guard.remember(text, severity)
    // A step may have taken a note while this session was between two plugins, or closed.
    if (position !== undefined) for (const { text } of notes) this.delivery.onSaid(text, position)
    this.past = [...this.past, ...notes.map(note => ({ ...note, fate }))]
  }

  /** What became of queued notes while nothing was listened to. */
  catchUp(events: readonly SessionEvent[]): void {
    if (this.delivery.inbox.in('steered', 'claimed', 'entering').length === 0) return
    const log = new Fold()
    log.prime(events, (event) => {
      if (event.type === 'user/message' && isAdvisory(event.data)) this.delivery.onLogged(event.data, log.position)
    })
  }
}
