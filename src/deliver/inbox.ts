// Every note of a session and where it stands. A note leaves only when it is old and settled; none is lost on the way.

import type { MessageId } from '@deepseek-ai/dsh-llm'
import { UNDELIVERED, type Note, type NoteState } from './note.ts'

export interface Item {
  readonly note: Note
  readonly state: NoteState
}

/** Settled notes kept for the reader; undelivered ones are kept whatever their number. */
const SETTLED_LIMIT = 500

export class Inbox {
  private readonly items = new Map<number, Item>()
  private nextId = 1
  private readonly onMove: (note: Note, state: NoteState) => void
  /** Notes accepted since the session was opened. */
  accepted = 0

  /** @param onMove - hears where each note goes. */
  constructor(onMove: (note: Note, state: NoteState) => void = () => {}) {
    this.onMove = onMove
  }

  /** Take a note in. */
  add(note: Omit<Note, 'id'>, state: NoteState): Note {
    const complete: Note = { ...note, id: this.nextId++ }
    this.accepted += 1
    this.items.set(complete.id, { note: complete, state })
    this.trim()
    return complete
  }

  move(note: Note, state: NoteState): void {
    if (!this.items.has(note.id)) return
    this.items.set(note.id, { note, state })
    this.onMove(note, state)
  }

  /** The same note, said otherwise. */
  change(id: number, change: Partial<Omit<Note, 'id'>>): void {
    const item = this.items.get(id)
    if (item !== undefined) this.items.set(id, { ...item, note: { ...item.note, ...change } })
  }

  get(id: number): Item | undefined {
    return this.items.get(id)
  }

  /** All notes, oldest first. */
  list(): readonly Item[] {
    return [...this.items.values()]
  }

  /** Notes in any of these states, oldest first. */
  in(...kinds: NoteState['kind'][]): readonly Note[] {
    return this.list().filter(item => kinds.includes(item.state.kind)).map(item => item.note)
  }

  /** Notes that travel in one message of ours. */
  of(message: MessageId): readonly Note[] {
    return this.list().filter(({ state }) => 'message' in state && state.message === message).map(item => item.note)
  }

  private trim(): void {
    if (this.items.size <= SETTLED_LIMIT) return
    for (const [id, { state }] of this.items) {
      if (!(UNDELIVERED as readonly string[]).includes(state.kind)) this.items.delete(id)
      if (this.items.size <= SETTLED_LIMIT) return
    }
  }
}
