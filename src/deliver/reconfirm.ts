// Which notes have waited so long that their advisor has to say whether they are still true. The wait doubles with each answer.

import type { WaitingNote } from '../finding.ts'
import type { Inbox } from './inbox.ts'
import { isOf } from './note.ts'

export class Reconfirm {
  private readonly inbox: Inbox
  /** By note, then by advisor, the update at which that advisor was last asked about it, and how often it was. */
  private asked: ReadonlyMap<number, ReadonlyMap<string, { readonly at: number, readonly times: number }>> = new Map()

  constructor(inbox: Inbox) {
    this.inbox = inbox
  }

  /**
   * @param after - updates that a note may wait unasked; 0 = for ever.
   * @param updates - the newest update's number.
   */
  due(advisor: string | undefined, after: number, updates: number): WaitingNote[] {
    if (after === 0) return []
    return this.inbox.in('unrouted', 'aside', 'card')
      .filter((note) => {
        const { at, times } = this.asked.get(note.id)?.get(advisor ?? '') ?? { at: note.update, times: 0 }
        return isOf(note, advisor) && updates - at >= after * 2 ** times
      })
      .map(note => ({ id: note.id, text: note.text, severity: note.severity, age: updates - note.update }))
  }

  /** The advisor was asked about these notes and has answered. */
  answered(ids: readonly number[], advisor: string | undefined, updates: number): void {
    const asked = new Map([...this.asked].filter(([id]) => this.inbox.get(id) !== undefined))
    for (const id of ids) {
      const known = this.asked.get(id)
      asked.set(id, new Map(known).set(advisor ?? '', { at: updates, times: (known?.get(advisor ?? '')?.times ?? 0) + 1 }))
    }
    this.asked = asked
  }
}
