// What becomes of a finding before it goes anywhere: refused, a note of its own, a revision of an older one, or one more name
// on a note that another advisor gave and nobody has read yet. It sends nothing.

import type { Config } from '../config/schema.ts'
import type { Finding } from '../finding.ts'
import { clampSeverity, rank } from '../severity.ts'
import { isSameFinding, type EmissionGuard } from './guard.ts'
import type { Inbox, Item } from './inbox.ts'
import { isOf, UNDELIVERED, type Note, type NoteState } from './note.ts'

/** Where advice comes from. */
export interface Origin {
  /** None for the one advisor without a roster. */
  readonly advisor: string | undefined
  /** Number of the newest update the reviewer had seen. */
  readonly update: number
  /** Stands for the review, so that all it says has one budget. */
  readonly review: object
  /** Resolves when the other reviewers at work have ended or failed; none when it works alone. */
  readonly others?: Promise<void> | undefined
}

export interface IntakePort {
  readonly inbox: Inbox
  readonly guard: EmissionGuard
  now(): number
  /** For the host's log: what was refused, and why. */
  debug(line: string): void
  /** Settle a note for good, wherever it stands. */
  takeBack(item: Item, settled: NoteState): void
}

/** What a finding came to, and whether it counts against the budget of its update. */
type Outcome =
  | { readonly kind: 'new' | 'raised', readonly costs: boolean, readonly note: Note | undefined }
  | { readonly kind: 'joined', readonly costs: false, readonly note: Note | undefined }
  | { readonly kind: 'refused' | 'withdrawn', readonly costs: false, readonly note?: undefined }

export class Intake {
  private readonly port: IntakePort
  /** By review, how many notes it has yielded: one may speak more than once. */
  private readonly yields = new WeakMap<object, number>()

  constructor(port: IntakePort) {
    this.port = port
  }

  /**
   * Take the findings of one reply. The worst come first, so that the budget is theirs.
   * @param terms - the configuration of the advisor that gives them.
   * @returns the notes that are its own now, or have its name too.
   */
  take(findings: readonly Finding[], origin: Origin, terms: Pick<Config, 'maxSeverity' | 'notesPerUpdate'>): readonly Note[] {
    let spent = this.yields.get(origin.review) ?? 0
    const given: Note[] = []
    for (const finding of findings.toSorted((a, b) => rank(b.severity) - rank(a.severity))) {
      const { costs, note } = this.takeOne({ ...finding, severity: clampSeverity(finding.severity, terms.maxSeverity) }, origin, terms.notesPerUpdate - spent)
      if (costs) spent += 1
      if (note !== undefined) given.push(note)
    }
    this.yields.set(origin.review, spent)
    return given
  }

  /** @param left - notes that this update may still yield. */
  private takeOne(finding: Finding, origin: Origin, left: number): Outcome {
    const { guard } = this.port
    const { note: text, severity } = finding
    const replaced = this.replacedBy(finding, origin)
    // What others found too stands as theirs, whatever one of them says of it now.
    const forgotten = replaced !== undefined && isAlone(replaced, origin) ? replaced.note : undefined
    if (forgotten !== undefined) guard.forget(forgotten.text)
    if (text === '') return this.leave(replaced, origin)
    const twin = this.twinOf(text, forgotten?.id)
    // A revision takes the place of a note that had its turn already, so it costs nothing of the budget.
    // Neither does the same note, said graver.
    const isFree = replaced !== undefined || (twin !== undefined && isOf(twin.note, origin.advisor))
    const admission = guard.admit(text, severity, 0, isFree ? 1 : left)
    if (admission.kind === 'refuse') {
      if (admission.reason === 'repeat' && twin !== undefined && origin.advisor !== undefined && !isOf(twin.note, origin.advisor)) {
        this.join(twin, origin)
        this.leave(replaced, origin)
        return { kind: 'joined', costs: false, note: this.port.inbox.get(twin.note.id)?.note }
      }
      this.port.debug(`note refused, ${admission.reason}: ${text}`)
      if (forgotten !== undefined) guard.remember(forgotten.text, forgotten.severity)
      return { kind: 'refused', costs: false }
    }
    if (replaced !== undefined && replaced.note.id !== twin?.note.id) this.leave(replaced, origin)
    guard.remember(text, severity)
    const costs = !isFree
    if (twin !== undefined) {
      this.raise(twin, finding, origin)
      return { kind: 'raised', costs, note: this.port.inbox.get(twin.note.id)?.note }
    }
    const { evidence } = finding
    const note = this.port.inbox.add({ text, severity, evidence, advisors: namesOf(origin), update: origin.update, at: this.port.now() }, { kind: 'unrouted' })
    return { kind: 'new', costs, note }
  }

  /** The older note of its reviewer that a finding takes the place of, if it can still be taken back. */
  private replacedBy({ replaces }: Finding, { advisor }: Origin): Item | undefined {
    const item = replaces === undefined ? undefined : this.port.inbox.get(replaces)
    return item !== undefined && isOpen(item) && isOf(item.note, advisor) ? item : undefined
  }

  /** A note that says the same and that nobody has read yet. */
  private twinOf(text: string, except: number | undefined): Item | undefined {
    return this.port.inbox.list().findLast(item => isOpen(item) && item.note.id !== except && isSameFinding(item.note.text, text))
  }

  /** One more advisor found it. What waits aside may be one that may interrupt for this advisor. */
  private join({ note, state }: Item, origin: Origin): void {
    this.port.inbox.change(note.id, { advisors: [...note.advisors, ...namesOf(origin)] })
    if (state.kind === 'aside') this.route(note.id)
  }

  /** The same finding, graver: in the words of whoever says so, on the way that it now deserves. */
  private raise({ note, state }: Item, { note: text, severity, evidence }: Finding, origin: Origin): void {
    const advisors = isOf(note, origin.advisor) ? note.advisors : [...note.advisors, ...namesOf(origin)]
    this.port.inbox.change(note.id, { text, severity, evidence: evidence ?? note.evidence, advisors, update: origin.update })
    if (state.kind === 'aside' || state.kind === 'card') this.route(note.id)
  }

  private route(id: number): void {
    const item = this.port.inbox.get(id)
    if (item !== undefined) this.port.inbox.move(item.note, { kind: 'unrouted' })
  }

  /** The advisor no longer stands for a note: it goes, unless others do. */
  private leave(item: Item | undefined, origin: Origin): Outcome {
    if (item !== undefined && isAlone(item, origin)) this.port.takeBack(item, { kind: 'withdrawn' })
    else if (item !== undefined) this.port.inbox.change(item.note.id, { advisors: item.note.advisors.filter(name => name !== origin.advisor) })
    return { kind: 'withdrawn', costs: false }
  }
}

/** The step that it is handed to has not been made yet, and nobody has read it. */
function isOpen({ state }: Item): boolean {
  return state.kind !== 'entering' && (UNDELIVERED as readonly string[]).includes(state.kind)
}

function isAlone({ note }: Item, { advisor }: Origin): boolean {
  return note.advisors.every(name => name === advisor)
}

function namesOf({ advisor }: Origin): readonly string[] {
  return advisor === undefined ? [] : [advisor]
}
