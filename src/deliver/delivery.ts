// The thin shell around guard and route: it alone talks to the host's agent.
// It never acts inside `session/event` and never lets a throw out into the turn.

import type { Agent } from '@deepseek-ai/dsh-agent'
import type { MessageId, UserMessage } from '@deepseek-ai/dsh-llm'
import type { Config } from '../config/schema.ts'
import type { Finding, WaitingNote } from '../finding.ts'
import type { Fold } from '../observe/fold.ts'
import { rank } from '../severity.ts'
import { errorMessage } from '../text.ts'
import type { EmissionGuard } from './guard.ts'
import { Immunity, type Completed } from './immunity.ts'
import { Inbox, type Item } from './inbox.ts'
import { Intake, type Origin } from './intake.ts'
import { advisoryMessage } from './message.ts'
import { activityOf, isSettling, isStopped, type Facts } from './moment.ts'
import { UNDELIVERED, type Note, type NoteState } from './note.ts'
import { Reconfirm } from './reconfirm.ts'
import { route, type Route, type RouteState } from './route.ts'

/** Notes in one message at most. */
const NOTES_TOGETHER = 20

/** What delivery needs from its session. */
export interface DeliveryPort {
  readonly agent: Agent
  readonly fold: Fold
  readonly guard: EmissionGuard
  /** Nobody speaks to this agent again once its run is over: a headless run, or a subagent. */
  readonly oneShot: boolean
  /** Switched on: while it is not, nothing of ours reaches the agent. */
  readonly isOn: boolean
  /** The configuration of an advisor by its name, the session's own for none or one that is gone. */
  config(advisor?: string): Config
  now(): number
  /** A fault of ours that was contained. */
  report(error: unknown): void
  /** For the host's log: what was refused, and why. */
  debug(line: string): void
  /** A note became a card: the user is to see it now, the agent with the user's next message. */
  onCard(note: Note): void
  /** A note went somewhere else. */
  onMoved(note: Note, state: NoteState): void
  /** Advice reopened an answer, which a later one may now hide. */
  onReopened(answer: string): void
}

/** A step about to begin. */
export interface Entrance {
  /** Messages that would enter it. */
  readonly messages: UserMessage[]
  /** Those of them that were taken from the agent's inbox. */
  readonly claimed: readonly UserMessage[]
  readonly step: number
}

/** One session's notes on their way: offered, routed, queued, delivered or kept. */
export class Delivery {
  readonly inbox: Inbox
  private readonly port: DeliveryPort
  private readonly intake: Intake
  private readonly immunity = new Immunity()
  /** Messages we queued, with what had completed by then. */
  private readonly sent = new Map<MessageId, Completed>()
  private readonly reconfirm: Reconfirm
  /** What the user put away while a step held it: settled if that step does not begin. */
  private readonly putAway = new WeakSet<Note>()
  /** Answers reopened, and idle agents woken, since the user last spoke. */
  private reopened = 0
  /** A step is about to begin: what is offered now joins it, instead of the step after. */
  private gathering = false
  private turnSignal: AbortSignal | undefined
  /** Reviews whose advice waits for that of others on the same work, so that the primary is woken once for all of it. */
  private gatheringAdvice = 0

  constructor(port: DeliveryPort) {
    this.port = port
    this.inbox = new Inbox((note, state) => port.onMoved(note, state))
    this.reconfirm = new Reconfirm(this.inbox)
    this.intake = new Intake({
      inbox: this.inbox, guard: port.guard, now: port.now, debug: port.debug,
      takeBack: (item, settled) => this.takeBack(item, settled),
    })
  }

  /** Take the findings of one review, and route what they come to. Returns the notes that the advisor gave. */
  offer(findings: readonly Finding[], origin: Origin): readonly Note[] {
    const given = this.intake.take(findings, origin, this.port.config(origin.advisor))
    if (origin.others !== undefined) this.waitForOthers(origin.others)
    this.routeWaiting()
    return given
  }

  /** Route what waits for the primary to stand still. What it leaves joins the next step. */
  routeWaiting(): void {
    if (!this.port.isOn || this.gathering || isSettling(this.facts())) return
    const holdsBack = this.gatheringAdvice > 0 && this.port.fold.phase.kind === 'idle'
    const steered: Note[] = []
    for (const note of this.inbox.in('unrouted')) {
      const way = route(note.severity, this.routeState(note))
      if (way.kind !== 'steer') this.park(note, way)
      else if (!holdsBack) steered.push(note)
    }
    if (steered.length > 0) this.steer(steered)
  }

  /** The same in an asynchronous chain of our own, where a throw would be the host's end. */
  routeSafely(): void {
    try {
      this.routeWaiting()
    } catch (error) {
      this.port.report(error)
    }
  }

  /** The agent came to rest: what it did not take is settled. */
  onIdle(): void {
    this.settleUnbegun()
    // What is still queued missed its turn, and nothing would wake the agent for it: where it goes is decided anew.
    this.recall({ kind: 'unrouted' })
    this.sent.clear()
    if (isStopped(this.facts())) for (const note of this.inbox.in('aside')) this.inbox.move(note, { kind: 'unrouted' })
    this.routeWaiting()
  }

  /** Take what is queued out of the host's inbox again. */
  recall(state: NoteState): void {
    for (const id of [...this.sent.keys()]) {
      const notes = this.inbox.of(id)
      if (!this.port.agent.inbox.remove(id)) continue
      for (const note of notes) this.inbox.move(note, state)
      this.sent.delete(id)
    }
  }

  /** Keep back what was taken from the host's inbox for a step. Returns the messages without ours. */
  withhold(messages: readonly UserMessage[], reason: string): UserMessage[] {
    return messages.filter((message) => {
      for (const note of this.inbox.of(message.id)) this.inbox.move(note, { kind: 'card', reason })
      return !this.sent.delete(message.id)
    })
  }

  /** Take over what the same session left behind when it was closed. */
  adopt(notes: readonly Note[]): void {
    for (const note of notes) {
      this.port.guard.remember(note.text, note.severity)
      this.inbox.add({ ...note, update: 0 }, { kind: 'card', reason: 'the session was closed' })
    }
  }

  /** Reviewing begins again: what the host let go of in between is a card. */
  onReturn(): void {
    if (this.port.agent.status === 'idle') this.settleUnbegun()
    const { nextStep, nextTurn } = this.port.agent.inbox
    const queued = new Set([...nextStep, ...nextTurn].map(message => message.id))
    for (const { note, state } of this.inbox.list()) {
      if (state.kind === 'steered' && !queued.has(state.message)) {
        this.inbox.move(note, { kind: 'card', reason: 'the queue was cleared' })
      }
    }
  }

  /** A step is about to begin; until {@link enterStep} or {@link endGathering} notes are held for it. */
  beginGathering(signal: AbortSignal): void {
    this.turnSignal = signal
    this.gathering = true
  }

  /** The preparation is over, whether the step came to be or not. */
  endGathering(): void {
    if (!this.gathering) return
    this.gathering = false
    this.routeWaiting()
  }

  /**
   * Whether a step is to be at all. One that only our notes would cause, after the model has given its answer,
   * has to be worth reopening it: the notes are judged again by what is true now.
   */
  admitStep({ claimed, step }: Omit<Entrance, 'messages'>): boolean {
    if (claimed.some(message => message.source.kind === 'user')) this.reopened = 0
    const causedByUs = step > 1 && !this.port.fold.isWorking && claimed.length > 0 && claimed.every(message => this.sent.has(message.id))
    return !causedByUs || this.reopenFor(claimed.flatMap(message => this.inbox.of(message.id)))
  }

  /** The messages of a step that will happen, with what is due added. */
  enterStep({ messages, claimed, step }: Entrance): UserMessage[] {
    this.gathering = false
    const ours = messages.filter((message, index) => this.sent.has(message.id) && messages.findIndex(({ id }) => id === message.id) === index)
    const others = messages.filter(message => !this.sent.has(message.id))
    const spoken = claimed.some(message => message.source.kind === 'user')
    const interrupting = ours.flatMap(message => this.inbox.of(message.id))
    const joining = claimed.length > 0 || (step > 1 && this.port.fold.isWorking) ? this.joining() : []
    const cards = spoken ? this.inbox.in('card') : []
    const entering = weightiest([...interrupting, ...joining.map(({ note }) => note), ...cards])
    if (entering.length === 0) return others
    // Only what really goes out as an interruption earns the primary its peace.
    if (interrupting.length > 0 || joining.some(({ steers }) => steers)) {
      const since = interrupting.length > 0 ? this.sent.get(ours[0]!.id) : undefined
      this.immunity.arm(since ?? this.completed())
    }
    const message = advisoryMessage(entering, this.port.fold.updates, ours[0]?.id)
    this.sent.set(message.id, this.completed())
    for (const note of entering) this.inbox.move(note, { kind: 'entering', message: message.id })
    return [...others, message]
  }

  /** The host took our message for a step, which may still not come to be. */
  onClaimed(message: UserMessage): void {
    for (const note of this.inbox.of(message.id)) this.inbox.move(note, { kind: 'claimed', message: message.id })
  }

  /** Our message stands in the log. */
  onLogged(message: UserMessage, position: { turn: number, step: number }): void {
    for (const note of this.inbox.of(message.id)) this.inbox.move(note, { kind: 'delivered', ...position })
    this.sent.delete(message.id)
  }

  /** These very words stand in the log, in a message that was sent before we took the note over. */
  onSaid(text: string, position: { turn: number, step: number }): void {
    for (const note of this.undelivered()) if (note.text === text) this.inbox.move(note, { kind: 'delivered', ...position })
  }

  /** The host threw our message away. */
  onDiscarded(message: UserMessage): void {
    const reason = isStopped(this.facts()) ? 'the run was stopped' : 'the queue was cleared'
    for (const note of this.inbox.of(message.id)) this.keep(note, reason)
    this.sent.delete(message.id)
  }

  /** Notes of an advisor, so old that it has to say whether they are still true. */
  stale(advisor: string | undefined): WaitingNote[] {
    return this.reconfirm.due(advisor, this.port.config(advisor).reconfirmAfter, this.port.fold.updates)
  }

  /** An advisor was asked about these notes and has answered. */
  onReconfirmed(ids: readonly number[], advisor: string | undefined): void {
    this.reconfirm.answered(ids, advisor, this.port.fold.updates)
  }

  /** The user puts a note away, wherever it stands. False when there is no such note. */
  dismiss(id: number): boolean {
    const item = this.inbox.get(id)
    if (item === undefined) return false
    this.port.guard.dismiss(item.note.text, item.note.severity)
    if (item.state.kind === 'entering') this.putAway.add(item.note)
    else this.takeBack(item, { kind: 'dismissed' })
    return true
  }

  /** What the primary has not seen. */
  undelivered(): readonly Note[] {
    return this.inbox.in(...UNDELIVERED)
  }

  /** Of that, what the host does not hold either: it would be lost with us. */
  unheld(): readonly Note[] {
    const { nextStep, nextTurn } = this.port.agent.inbox
    const held = new Set([...nextStep, ...nextTurn].flatMap(message => this.inbox.of(message.id)))
    return this.undelivered().filter(note => !held.has(note))
  }

  /** Settle a note for good, and let the host's inbox go of it. */
  private takeBack({ note, state }: Item, settled: NoteState): void {
    this.inbox.move(note, settled)
    if (state.kind === 'steered' && this.inbox.of(state.message).length === 0) this.port.agent.inbox.remove(state.message)
  }

  /** Hold back what would wake the agent. The wait is bounded by the deadlines of those who are waited for. */
  private waitForOthers(others: Promise<void>): void {
    this.gatheringAdvice += 1
    void others.finally(() => {
      this.gatheringAdvice -= 1
      this.routeSafely()
    })
  }

  /** Steps that notes were handed to did not begin. */
  private settleUnbegun(): void {
    for (const note of this.inbox.in('claimed', 'entering')) {
      if (this.putAway.has(note)) this.inbox.move(note, { kind: 'dismissed' })
      else this.keep(note, 'its step did not begin')
    }
  }

  /** What joins a step that happens anyway: asides, and what was offered while it was being prepared. */
  private joining(): { readonly note: Note, readonly steers: boolean }[] {
    const joining = this.inbox.in('aside').map(note => ({ note, steers: false }))
    for (const note of this.inbox.in('unrouted')) {
      const way = route(note.severity, { ...this.routeState(note), activity: 'running' })
      if (way.kind === 'card') this.park(note, way)
      else joining.push({ note, steers: way.kind === 'steer' })
    }
    return joining
  }

  /** Judge notes that would reopen an answer; those that may not become cards. Returns whether any may. */
  private reopenFor(notes: readonly Note[]): boolean {
    const { phase } = this.port.fold
    const ways = notes.map(note => ({
      note, way: route(note.severity, { ...this.routeState(note), immune: false, activity: activityOf({ phase, queued: 0 }) }),
    }))
    for (const { note, way } of ways) if (way.kind !== 'steer') this.park(note, way)
    const reopens = ways.some(({ way }) => way.kind === 'steer')
    if (reopens) this.countReopening()
    return reopens
  }

  private park(note: Note, way: Route): void {
    if (way.kind === 'aside') this.inbox.move(note, { kind: 'aside' })
    else this.keep(note, way.reason)
  }

  /** Make a note a card: shown to the user now. */
  private keep(note: Note, reason: string): void {
    this.inbox.move(note, { kind: 'card', reason })
    this.port.onCard(note)
  }

  private steer(notes: readonly Note[]): void {
    const { agent, fold } = this.port
    const wakes = fold.phase.kind === 'idle'
    const message = advisoryMessage(notes, fold.updates)
    this.sent.set(message.id, this.completed())
    for (const note of notes) this.inbox.move(note, { kind: 'steered', message: message.id })
    try {
      agent.steer(message)
    } catch (error) {
      this.port.debug(`the agent could not take a message: ${errorMessage(error)}`)
      for (const note of notes) this.keep(note, 'the agent could not take it')
      this.sent.delete(message.id)
      return
    }
    if (wakes) this.countReopening()
  }

  private countReopening(): void {
    this.reopened += 1
    const { answer } = this.port.fold
    if (answer !== undefined) this.port.onReopened(answer)
  }

  private routeState(note: Note): RouteState {
    const { fold, oneShot } = this.port
    return {
      stopped: isStopped(this.facts()),
      planMode: fold.planMode,
      headlessOver: oneShot && fold.phase.kind === 'idle' && fold.turns > 0,
      immune: fold.goalRound || this.isImmuneTo(note),
      activity: activityOf(this.facts()),
      mayReopen: this.reopened < this.port.config().reopen,
    }
  }

  /** Whether none of a note's advisors may interrupt now. */
  private isImmuneTo({ advisors }: Note): boolean {
    const owners = advisors.length === 0 ? [undefined] : advisors
    return owners.every((advisor) => {
      const { reviewAt, immuneTurns } = this.port.config(advisor)
      return this.immunity.holds(this.completed(), reviewAt === 'turn' ? 'turns' : 'updates', immuneTurns)
    })
  }

  private facts(): Facts {
    const { agent, fold } = this.port
    return {
      phase: fold.phase, stopped: fold.stopped, status: agent.status, queued: agent.inbox.nextStep.length,
      cancelled: this.turnSignal?.aborted === true ? this.turnSignal.reason : undefined,
    }
  }

  private completed(): Completed {
    const { updates, turns } = this.port.fold
    return { updates, turns }
  }
}

/** The notes that one message can carry: the gravest, and of those the newest. */
function weightiest(notes: readonly Note[]): readonly Note[] {
  if (notes.length <= NOTES_TOGETHER) return notes
  return notes.toSorted((a, b) => rank(b.severity) - rank(a.severity) || b.id - a.id).slice(0, NOTES_TOGETHER)
}
