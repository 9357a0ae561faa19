// One session under review: observe → review → deliver. It lives as long as the agent; its reviewer only while switched on.

import type { Agent } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import { SessionId, type SessionEvent } from '@deepseek-ai/dsh-session'
import type { Clock } from './clock.ts'
import { resolveAdvisorConfig, type AdvisorConfig, type ConfigSource, type Override } from './config/resolve.ts'
import type { Config } from './config/schema.ts'
import { catchUp, catchUpThreshold } from './deliver/catchup.ts'
import { Delivery } from './deliver/delivery.ts'
import { drain, unseenText } from './deliver/drain.ts'
import { EmissionGuard, isContentFree } from './deliver/guard.ts'
import type { Item } from './deliver/inbox.ts'
import { isAdvisory, readAdvisory } from './deliver/message.ts'
import { describeState, type Note } from './deliver/note.ts'
import type { PastNote } from './finding.ts'
import type { Host } from './host.ts'
import { textOf } from './observe/entry.ts'
import { Fold } from './observe/fold.ts'
import planMode from './prompts/plan-mode.md'
import { Tally } from './record/tally.ts'
import type { ModelService } from './review/call.ts'
import type { Pinned } from './review/head.ts'
import { Reviewer } from './review/reviewer.ts'

/** What all sessions of a host share. */
export interface Shared {
  readonly llm: ModelService
  readonly clock: Clock
  readonly host: Host
  source(): ConfigSource
  /** The host's rules of plan mode for an agent, where they can be read. */
  planRules(agent: Agent): Promise<string | undefined>
}

/** What a closed session leaves to the next one of the same id. */
export interface Remains {
  readonly notes: readonly Note[]
  readonly guard: EmissionGuard
  readonly override: Override | undefined
}

/** One agent's session with its fold, its reviewer and its delivery. */
export class AdvisedSession {
  readonly agent: Agent
  readonly tally = new Tally()
  readonly delivery: Delivery
  override: Override | undefined
  private readonly shared: Shared
  private readonly guard: EmissionGuard
  /** Ids of logged messages of ours whose notes are known. */
  private readonly accounted = new Set<string>()
  /** Notes the user was told of at the end of a run. */
  private readonly told = new Set<number>()
  /** Notes of an earlier process, read from the log. */
  private past: readonly PastNote[] = []
  private planRules: string | undefined
  private fold = new Fold()
  private live: Reviewer | undefined

  constructor(agent: Agent, shared: Shared, remains?: Remains) {
    this.agent = agent
    this.shared = shared
    this.guard = remains?.guard ?? new EmissionGuard()
    this.override = remains?.override
    const session = this
    this.delivery = new Delivery({
      agent, guard: this.guard,
      get isOn() { return session.live !== undefined },
      get oneShot() { return shared.host.headless || isSubagent(agent) },
      get fold() { return session.fold },
      config: () => this.resolve().config,
      now: () => shared.clock.now(),
      debug: line => shared.host.debug(line),
      onCard: ({ severity, text }) => {
        if (severity !== 'nit') shared.host.show(`[${severity}] ${text.replace(/\s+/g, ' ')}`, severity === 'blocker' ? 'error' : 'warning')
      },
      onReopened: (answer) => {
        if (shared.host.headless && !isSubagent(agent)) shared.host.tell(`advice reopened the agent's answer; the answer before it was:\n${answer}`)
      },
    })
    this.delivery.adopt(remains?.notes ?? [])
  }

  /** The agent is gone. A subagent is never spoken to again, so the user is told what it did not see. */
  leave(): Remains {
    if (isSubagent(this.agent)) this.tellUnseen()
    return { notes: this.delivery.unheld(), guard: this.guard, override: this.override }
  }

  get reviewer(): Reviewer | undefined {
    return this.live
  }

  /** Topics the user muted, in their words. */
  get muted(): readonly string[] {
    return this.guard.muted
  }

  /** What this session may do, its own wish included. */
  resolve(): AdvisorConfig {
    const resolved = resolveAdvisorConfig(this.shared.source(), this.override)
    if (resolved.kind !== 'ready' || this.override === 'on' || isCovered(this.agent, resolved.config.subagents)) return resolved
    return { kind: 'off', config: resolved.config, reason: '`subagents` does not cover this one' }
  }

  /** Every note; what became of queued ones while nothing was listened to is read from the log. */
  notes(): readonly Item[] {
    if (this.live === undefined) this.catchUpWithLog()
    return this.delivery.inbox.list()
  }

  /** Start or stop reviewing as the configuration says; a running reviewer learns of the change. */
  async refresh(): Promise<void> {
    const ready = this.resolve().kind === 'ready'
    if (ready && this.live !== undefined) this.live.reconfigure()
    else if (ready) this.start()
    else if (this.live !== undefined) {
      // Off means that nothing of ours reaches the agent any more; the inbox stays.
      this.delivery.recall({ kind: 'card', reason: 'the advisor was switched off' })
      await this.stop()
    }
  }

  async stop(): Promise<void> {
    const { live } = this
    this.live = undefined
    await live?.dispose()
  }

  onEvent(event: SessionEvent): void {
    const { live } = this
    if (live === undefined) return
    if (event.type === 'user/message' && isAdvisory(event.data)) {
      this.account(event.data, this.fold.position)
      return
    }
    const observed = this.fold.push(event)
    if (event.type === 'turn/start') queueMicrotask(() => this.routeSafely())
    if (event.type === 'plan/mode' && this.fold.planMode) this.learnPlanRules()
    if (observed?.kind === 'update') live.offer(observed.update)
    else if (observed?.kind === 'rewritten') live.reset(this.fold.present(), { number: this.fold.updates, ...this.fold.position, final: !this.fold.isWorking })
  }

  /** The agent came to rest. Synchronous up to the claim on a headless run's end: after it the host would be gone. */
  onIdle(): void {
    if (this.live === undefined) return
    this.fold.abandonTurn()
    this.delivery.onIdle()
    if (this.shared.host.headless && !isSubagent(this.agent) && this.fold.turns > 0 && !this.agent.inbox.hasPending) this.endHeadless(this.live)
  }

  /** A step is being prepared: notes are held for it, and a reviewer that lags is waited for, if so configured. */
  async beginStep(signal: AbortSignal): Promise<void> {
    this.delivery.beginGathering(signal)
    await this.catchUp(catchUpThreshold(this.resolve().config.syncBacklog), signal)
  }

  /** Whether a step that was claimed for is to be at all. */
  admitStep(claimed: readonly UserMessage[], step: number): boolean {
    return this.delivery.admitStep({ claimed, step })
  }

  /** The messages of a step that will happen: with what is due, or, switched off meanwhile, without anything of ours. */
  enterStep(messages: UserMessage[], claimed: readonly UserMessage[], step: number): UserMessage[] {
    if (this.live === undefined) return this.delivery.withhold(messages, 'the advisor was switched off')
    return this.delivery.enterStep({ messages, claimed, step })
  }

  /** The preparation of a step is over, whether it came to be or not. */
  endStep(): void {
    this.delivery.endGathering()
  }

  onClaimed(message: UserMessage): void {
    this.delivery.onClaimed(message)
  }

  onDiscarded(message: UserMessage): void {
    this.delivery.onDiscarded(message)
  }

  /** The turn is about to close: with catch-up on, the last step is reviewed before its answer is final. */
  async prepareEnd(signal: AbortSignal): Promise<void> {
    if (catchUpThreshold(this.resolve().config.syncBacklog) !== undefined) await this.catchUp(1, signal)
  }

  /** Put notes away, all or one by number, and let the reviewer know. Returns how many. */
  dismiss(which: number | 'all'): number {
    const { inbox } = this.delivery
    const notes = which === 'all' ? this.delivery.undelivered() : [inbox.get(which)?.note].filter(note => note !== undefined)
    for (const note of notes) {
      this.delivery.dismiss(note.id)
      this.live?.remark(`[the user dismissed your note: ${note.text}]\n[do not give it again, in any words]`)
    }
    return notes.length
  }

  /** Refuse notes on a topic. False when `words` holds no word. */
  mute(words: string): boolean {
    if (!this.guard.mute(words)) return false
    this.live?.remark(`[the user wants to hear nothing about: ${words.trim()}]`)
    return true
  }

  /** Hear everything again. Returns how many topics were muted. */
  unmute(): number {
    const count = this.guard.unmute()
    if (count > 0) this.live?.remark('[the user wants to hear about everything again]')
    return count
  }

  /** The past is not reviewed: the cursor starts at the end, but the task and earlier notes are known. */
  private start(): void {
    const { agent, shared } = this
    const { updates, turns } = this.fold
    this.fold = new Fold()
    this.fold.prime(agent.session.events, (event) => {
      if (event.type === 'user/message' && isAdvisory(event.data)) this.account(event.data, this.fold.position)
    })
    const { nextStep, nextTurn } = agent.inbox
    for (const message of [...nextStep, ...nextTurn].filter(isAdvisory)) this.account(message, undefined)
    // Ages of notes go on where they were.
    this.fold.updates = updates
    this.fold.turns = turns
    if (agent.status === 'idle') this.fold.abandonTurn()
    if (this.fold.planMode) this.learnPlanRules()
    this.delivery.onReturn()
    this.live = new Reviewer({
      llm: shared.llm, clock: shared.clock, sessionId: SessionId(`${agent.id}-advisor`),
      config: () => this.resolve().config,
      pinned: () => this.pinned(),
      stale: () => this.delivery.stale(),
      onReconfirmed: ids => this.delivery.onReconfirmed(ids),
      advise: (findings, update) => this.delivery.offer(findings, { advisor: undefined, update }),
      isContentFree,
      report: error => shared.host.report(error),
      debug: line => shared.host.debug(line),
      tell: (line, remedy) => shared.host.tell(remedy === undefined || shared.host.headless ? line : `${line}; ${remedy}`),
    }, this.tally)
  }

  private async catchUp(threshold: number | undefined, signal: AbortSignal): Promise<void> {
    if (threshold !== undefined && this.live !== undefined) await catchUp(this.live, threshold, this.shared.clock, signal)
  }

  private endHeadless(reviewer: Reviewer): void {
    const { end } = this.fold.phase.kind === 'idle' ? this.fold.phase : { end: undefined }
    const run = { seconds: this.resolve().config.drain, failed: end?.kind === 'error' }
    if (!reviewer.reviewing) return this.tellUnseen()
    const wait = async (cancelled: AbortSignal) => {
      const cut = await drain(signal => reviewer.finish(signal), run, this.shared.clock, cancelled)
      if (cut !== undefined) this.shared.host.tell(`${reviewer.unread} not reviewed: no verdict within ${cut} s (\`drain\`)`)
      this.tellUnseen()
    }
    try {
      this.shared.host.background(this.agent.runMaintenance(wait))
    } catch {
      // Another plugin holds the agent: the run may end before the reviews do, but what is known is said.
      this.tellUnseen()
    }
  }

  /** Tell the user, once, what the agent has not seen. */
  private tellUnseen(): void {
    const notes = this.delivery.undelivered().filter(note => !this.told.has(note.id))
    for (const note of notes) this.told.add(note.id)
    const text = unseenText(notes)
    if (text !== '') this.shared.host.tell(text)
  }

  /** In a microtask of our own a throw would be the host's end. */
  private routeSafely(): void {
    try {
      this.delivery.routeWaiting()
    } catch (error) {
      this.shared.host.report(error)
    }
  }

  private catchUpWithLog(): void {
    if (this.delivery.inbox.in('steered', 'claimed', 'entering').length === 0) return
    const log = new Fold()
    log.prime(this.agent.session.events, (event) => {
      if (event.type === 'user/message' && isAdvisory(event.data)) this.delivery.onLogged(event.data, log.position)
    })
  }

  private learnPlanRules(): void {
    void this.shared.planRules(this.agent).then((rules) => { this.planRules = rules }, () => {})
  }

  private pinned(): Pinned {
    const { fold } = this
    return {
      cwd: this.agent.session.header.cwd, task: fold.task, latest: fold.latest,
      notes: [...this.past, ...this.delivery.inbox.list().map(({ note, state }) => (
        { text: note.text, severity: note.severity, fate: describeState(state) }
      ))],
      muted: this.guard.muted,
      planRules: fold.planMode ? this.planRules ?? planMode : undefined,
    }
  }

  /**
   * A message of ours stands in the log, or, without a position, in the agent's inbox.
   * One that this session did not send is of an earlier process: its notes count as said.
   */
  private account(message: UserMessage, position: { turn: number, step: number } | undefined): void {
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
}

/** Whether the configuration wants this agent reviewed: always, but for subagents. */
function isCovered(agent: Agent, subagents: Config['subagents']): boolean {
  if (!isSubagent(agent)) return true
  return Array.isArray(subagents) ? subagents.includes(agent.session.header.agentPreset ?? '') : subagents
}

/** Whether an agent works for another one. */
function isSubagent(agent: Agent): boolean {
  const { origin, delegationDepth } = agent.session.header
  return origin === 'subagent' || (delegationDepth ?? 0) > 0
}
