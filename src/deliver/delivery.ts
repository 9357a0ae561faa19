// The thin shell around guard and route: it alone talks to the host's agent.
// It never acts inside `session/event` and never lets a throw out into the turn.

import type { Agent } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import type { Config } from '../config/schema.ts'
import type { Fold } from '../observe/fold.ts'
import { clampSeverity, rank } from '../severity.ts'
import type { Candidate } from '../review/reply.ts'
import type { EmissionGuard } from './guard.ts'
import { Immunity } from './immunity.ts'
import { Inbox } from './inbox.ts'
import { advisoryMessage, isAdvisory } from './message.ts'
import type { Note } from './note.ts'
import { route, type Activity, type Route, type RouteState } from './route.ts'

/** What delivery needs from its session. */
export interface DeliveryHost {
  readonly agent: Agent
  readonly fold: Fold
  readonly guard: EmissionGuard
  /** A one-shot run, whose process ends with the answer. */
  readonly headless: boolean
  config(): Config
  now(): number
  /** Text for the user beside the conversation. */
  tell(text: string): void
}

/** Where advice comes from. */
export interface Origin {
  readonly advisor: string | undefined
  /** Number of the newest update the reviewer had seen. */
  readonly update: number
}

export class Delivery {
  readonly inbox = new Inbox()
  private readonly host: DeliveryHost
  private readonly immunity = new Immunity()
  /** Answers reopened, and idle agents woken, since the user last spoke. */
  private reopened = 0
  private turnSignal: AbortSignal | undefined

  constructor(host: DeliveryHost) {
    this.host = host
  }

  /** Take the findings of one review: guard, then route. The worst come first, so that the budget is theirs. */
  offer(candidates: readonly Candidate[], origin: Origin): void {
    const { guard } = this.host
    const { maxSeverity, notesPerUpdate } = this.host.config()
    let spent = 0
    for (const candidate of candidates.toSorted((a, b) => rank(b.severity) - rank(a.severity))) {
      const severity = clampSeverity(candidate.severity, maxSeverity)
      if (guard.admit(candidate.note, severity, spent, notesPerUpdate).kind === 'refuse') continue
      guard.remember(candidate.note, severity)
      spent += 1
      this.inbox.add({ text: candidate.note, severity, at: this.host.now(), ...origin }, { kind: 'unrouted' })
    }
    this.routeWaiting()
  }

  /** Route what waits for the primary to stand still. Called when a turn opens and when the agent is idle. */
  routeWaiting(): void {
    if (this.isSettling()) return
    const steered: Note[] = []
    for (const note of this.inbox.in('unrouted')) {
      const way = route(note.severity, this.routeState())
      if (way.kind === 'steer') steered.push(note)
      else this.park(note, way)
    }
    if (steered.length > 0) this.steer(steered)
  }

  /** The agent came to rest: what it did not take is settled. */
  onIdle(): void {
    const stopped = this.isStopped()
    for (const note of this.inbox.in('entering')) this.inbox.move(note, { kind: 'card', reason: 'its step did not begin' })
    if (stopped) {
      for (const note of this.inbox.in('aside')) this.inbox.move(note, { kind: 'card', reason: 'the run was stopped' })
      for (const note of this.inbox.in('steered')) this.recall(note)
    }
    this.routeWaiting()
  }

  /** Add what is due to a step that will happen, and take back what must not cause one. */
  enterStep(messages: UserMessage[], claimed: readonly UserMessage[], step: number, signal: AbortSignal): UserMessage[] {
    this.turnSignal = signal
    const ours = messages.filter(message => isAdvisory(message) && this.inbox.of(message.id).length > 0)
    const others = messages.filter(message => !ours.includes(message))
    const company = claimed.some(message => !isAdvisory(message))
    if (claimed.some(message => message.source.kind === 'user')) this.reopened = 0

    const { phase } = this.host.fold
    const answered = step > 1 && phase.kind === 'turn' && phase.answered
    let entering = ours.flatMap(message => this.inbox.of(message.id))
    if (answered && !company) {
      entering = this.reopenFor(entering)
      if (entering.length === 0) return ours.length > 0 ? [] : messages
    }
    if (claimed.length > 0 || (step > 1 && !answered)) entering = [...entering, ...this.inbox.in('aside')]
    if (claimed.some(message => message.source.kind === 'user')) entering = [...entering, ...this.inbox.in('card')]
    if (entering.length === 0) return others
    const message = advisoryMessage(entering, this.host.fold.updates, ours[0]?.id)
    for (const note of entering) this.inbox.move(note, { kind: 'entering', message: message.id })
    return [...others, message]
  }

  /** Our message stands in the log. */
  onLogged(message: UserMessage, position: { turn: number, step: number }): void {
    for (const note of this.inbox.of(message.id)) this.inbox.move(note, { kind: 'delivered', ...position })
  }

  /** The host threw our message away. */
  onDiscarded(message: UserMessage): void {
    for (const note of this.inbox.of(message.id)) {
      this.inbox.move(note, { kind: 'card', reason: this.isStopped() ? 'the run was stopped' : 'its place in the queue was cleared' })
    }
  }

  /**
   * An answer was given and only our notes would keep the turn open: judge each again by what is true now.
   * @returns the notes that may reopen it; the others become cards.
   */
  private reopenFor(notes: readonly Note[]): Note[] {
    const state = { ...this.routeState(), immune: false, activity: 'finished' as const }
    const reopening: Note[] = []
    for (const note of notes) {
      const way = route(note.severity, state)
      if (way.kind === 'steer') reopening.push(note)
      else this.park(note, way)
    }
    if (reopening.length > 0) this.countReopening()
    return reopening
  }

  private park(note: Note, way: Route): void {
    this.inbox.move(note, way.kind === 'aside' ? { kind: 'aside' } : { kind: 'card', reason: way.reason })
  }

  private steer(notes: readonly Note[]): void {
    const { agent, fold } = this.host
    const wakes = fold.phase.kind === 'idle'
    const message = advisoryMessage(notes, fold.updates)
    for (const note of notes) this.inbox.move(note, { kind: 'steered', message: message.id })
    try {
      agent.steer(message)
    } catch {
      for (const note of notes) this.inbox.move(note, { kind: 'card', reason: 'the agent could not take it' })
      return
    }
    if (wakes) this.countReopening()
    this.immunity.arm(this.completed(), this.host.config().immuneTurns)
  }

  /** A headless run prints only its last answer; the one before is not lost. */
  private countReopening(): void {
    this.reopened += 1
    const { answer } = this.host.fold
    if (this.host.headless && answer !== undefined) {
      this.host.tell(`advice reopened the agent's answer; the answer before it was:\n${answer}`)
    }
  }

  private recall(note: Note): void {
    const item = this.inbox.list().find(known => known.note === note)
    if (item?.state.kind === 'steered' && this.host.agent.inbox.remove(item.state.message)) return
    this.inbox.move(note, { kind: 'card', reason: 'the run was stopped' })
  }

  private routeState(): RouteState {
    const { fold, headless } = this.host
    return {
      stopped: this.isStopped(),
      planMode: fold.planMode,
      headlessOver: headless && fold.phase.kind === 'idle' && fold.turns > 0,
      immune: this.immunity.holds(this.completed()),
      activity: this.activity(),
      mayReopen: this.reopened < this.host.config().reopen,
    }
  }

  private activity(): Activity {
    const { agent, fold } = this.host
    if (fold.phase.kind === 'turn') return fold.phase.answered && agent.inbox.nextStep.length === 0 ? 'finished' : 'running'
    if (agent.inbox.hasPending) return 'running'
    const end = fold.phase.end?.kind
    return end === undefined || end === 'completed' ? 'finished' : 'unfinished'
  }

  /** Between `turn/end` and idle a message would neither join the turn nor wake the agent. */
  private isSettling(): boolean {
    return this.host.fold.phase.kind === 'idle' && this.host.agent.status === 'running'
  }

  /** The user stopped the run, or it broke on an error: nothing of ours may start it again. */
  private isStopped(): boolean {
    const { phase } = this.host.fold
    if (phase.kind === 'turn') return this.turnSignal?.aborted === true && isUserCancel(this.turnSignal.reason)
    return phase.end?.kind === 'error' || (phase.end?.kind === 'aborted' && phase.end.reason.kind === 'user')
  }

  private completed(): number {
    const { fold } = this.host
    return this.host.config().reviewAt === 'turn' ? fold.turns : fold.updates
  }
}

function isUserCancel(reason: unknown): boolean {
  return (reason as { kind?: unknown } | undefined)?.kind === 'user'
}
