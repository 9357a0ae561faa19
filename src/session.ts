// One session under review: observe → review → deliver. It lives as long as the agent; its reviewer only while switched on.

import type { Agent } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import { SessionId, type SessionEvent } from '@deepseek-ai/dsh-session'
import type { Clock } from './clock.ts'
import { resolveAdvisorConfig, type AdvisorConfig, type ConfigSource, type Override } from './config/resolve.ts'
import { Delivery } from './deliver/delivery.ts'
import { EmissionGuard, isContentFree } from './deliver/guard.ts'
import { isAdvisory, readAdvisory } from './deliver/message.ts'
import { describeState } from './deliver/note.ts'
import { textOf } from './observe/entry.ts'
import { Fold } from './observe/fold.ts'
import { Tally } from './record/tally.ts'
import type { ModelService } from './review/call.ts'
import type { PastNote } from './review/head.ts'
import { Reviewer } from './review/reviewer.ts'

/** What all sessions of a host share. */
export interface Shared {
  readonly llm: ModelService
  readonly clock: Clock
  readonly headless: boolean
  source(): ConfigSource
  /** Text for the user beside the conversation. */
  tell(text: string): void
}

export class AdvisedSession {
  readonly agent: Agent
  readonly tally = new Tally()
  readonly delivery: Delivery
  override: Override | undefined
  private readonly shared: Shared
  private readonly guard = new EmissionGuard()
  /** Notes of an earlier process, read from the log. */
  private past: readonly PastNote[] = []
  private fold = new Fold()
  private live: Reviewer | undefined

  constructor(agent: Agent, shared: Shared) {
    this.agent = agent
    this.shared = shared
    const session = this
    this.delivery = new Delivery({
      agent, guard: this.guard, headless: shared.headless,
      get fold() { return session.fold },
      config: () => this.resolve().config,
      now: () => shared.clock.now(),
      tell: text => shared.tell(text),
    })
  }

  get reviewer(): Reviewer | undefined {
    return this.live
  }

  /** What this session may do, its own wish included. */
  resolve(): AdvisorConfig {
    return resolveAdvisorConfig(this.shared.source(), this.override)
  }

  /** Start or stop reviewing as the configuration says; a running reviewer learns of the change. */
  async refresh(): Promise<void> {
    const ready = this.resolve().kind === 'ready'
    if (ready && this.live !== undefined) this.live.reconfigure()
    else if (ready) this.start()
    else await this.stop()
  }

  async stop(): Promise<void> {
    const { live } = this
    this.live = undefined
    await live?.dispose()
  }

  onEvent(event: SessionEvent): void {
    if (this.live === undefined) return
    if (event.type === 'user/message' && isAdvisory(event.data)) {
      this.delivery.onLogged(event.data, this.fold.position)
      return
    }
    const observed = this.fold.push(event)
    if (event.type === 'turn/start') queueMicrotask(() => this.delivery.routeWaiting())
    if (observed?.kind === 'update') this.live.offer(observed.update)
    else if (observed?.kind === 'rewritten') this.live.reset(this.fold.present(), { number: this.fold.updates, ...this.fold.position })
  }

  onIdle(): void {
    this.fold.abandonTurn()
    this.delivery.onIdle()
  }

  /** The messages of a step about to begin, with what is due added. */
  enterStep(messages: UserMessage[], claimed: readonly UserMessage[], step: number, signal: AbortSignal): UserMessage[] {
    return this.delivery.enterStep(messages, claimed, step, signal)
  }

  /** The past is not reviewed: the cursor starts at the end, but the task and earlier notes are known. */
  private start(): void {
    const { agent, shared } = this
    this.fold = new Fold()
    this.fold.prime(agent.session.events)
    if (agent.status === 'idle') this.fold.abandonTurn()
    if (this.delivery.inbox.accepted === 0) this.recall(agent.session.events)
    this.live = new Reviewer({
      llm: shared.llm, clock: shared.clock, sessionId: SessionId(`${agent.id}-advisor`),
      config: () => this.resolve().config,
      pinned: () => ({ cwd: agent.session.header.cwd, task: this.fold.task, latest: this.fold.latest, notes: this.pastNotes() }),
      advise: (candidates, update) => this.delivery.offer(candidates, { advisor: undefined, update }),
      isContentFree,
      tell: line => shared.tell(`advisor ${line}`),
    }, this.tally)
  }

  private recall(events: readonly SessionEvent[]): void {
    this.past = events.flatMap((event) => {
      if (event.type !== 'user/message' || !isAdvisory(event.data)) return []
      return readAdvisory(textOf(event.data.content)).map(note => ({ ...note, fate: 'delivered in an earlier run' }))
    })
    for (const { text, severity } of this.past) this.guard.remember(text, severity)
  }

  private pastNotes(): PastNote[] {
    const own = this.delivery.inbox.list().map(({ note, state }) => ({ text: note.text, severity: note.severity, fate: describeState(state) }))
    return [...this.past, ...own]
  }
}
