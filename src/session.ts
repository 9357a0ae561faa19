// One session under review: observe → review → deliver. It lives as long as the agent; its reviewers only while switched on.

import type { Agent } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import { SessionId, type SessionEvent } from '@deepseek-ai/dsh-session'
import { Advisors } from './advisors.ts'
import { Bookkeeper } from './bookkeeper.ts'
import { configOf, resolveAdvisorConfig, type AdvisorConfig, type ConfigSource, type Override } from './config/resolve.ts'
import type { Config } from './config/schema.ts'
import { isCovered, isSubagent } from './coverage.ts'
import { catchUp, catchUpThreshold } from './deliver/catchup.ts'
import { Delivery } from './deliver/delivery.ts'
import { drain, unseenText } from './deliver/drain.ts'
import { EmissionGuard, isContentFree } from './deliver/guard.ts'
import type { Item } from './deliver/inbox.ts'
import { Logged } from './deliver/logged.ts'
import { isAdvisory } from './deliver/message.ts'
import { describeState, isOf, labelOf, type Note } from './deliver/note.ts'
import { Fold } from './observe/fold.ts'
import type { Hider } from './observe/hide.ts'
import planMode from './prompts/plan-mode.md'
import type { SessionRecord } from './record/session-record.ts'
import type { Present } from './review/chat.ts'
import type { Pinned } from './review/head.ts'
import { Redaction } from './redact/redaction.ts'
import { named, Panel, type Seat } from './review/panel.ts'
import type { ReviewerPort } from './review/reviewer.ts'
import { readWithin } from './review/tools/file.ts'
import type { Toolbox } from './review/tools/toolbox.ts'
import type { Advisor } from './roster/advisor.ts'
import type { Keeper, Shared } from './shared.ts'

/** What a closed session leaves to the next one of the same id. */
export interface Remains {
  readonly notes: readonly Note[]
  readonly guard: EmissionGuard
  readonly override: Override | undefined
  /** By advisor, what the user wanted of it in this session. */
  readonly wishes: ReadonlyMap<string, Override>
  /** Resolves when its record is written. */
  readonly written: Promise<void>
}

/** One agent's session with its fold, its reviewers and its delivery. */
export class AdvisedSession {
  readonly agent: Agent
  readonly advisors: Advisors
  readonly delivery: Delivery
  /** What reviews did, used and cost, and what became of their notes. */
  readonly record: SessionRecord
  override: Override | undefined
  private readonly shared: Shared
  private readonly keeper: Keeper
  private readonly guard: EmissionGuard
  private readonly logged: Logged
  private readonly bookkeeper: Bookkeeper
  /** Notes the user was told of at the end of a run. */
  private readonly told = new Set<number>()
  /** What its reviewers look with. */
  readonly toolbox: Toolbox
  private planRules: string | undefined
  private fold = new Fold()
  private live: Panel | undefined

  constructor(agent: Agent, shared: Shared, keeper: Keeper, remains?: Remains) {
    this.agent = agent
    this.shared = shared
    this.keeper = keeper
    this.guard = remains?.guard ?? new EmissionGuard()
    this.override = remains?.override
    this.toolbox = shared.toolbox(agent)
    this.record = shared.record(agent, isSubagent(agent) ? keeper.parentOf(agent)?.record : undefined, remains?.written)
    const reader = shared.rosterReader(agent.session.header.cwd)
    this.advisors = new Advisors({
      agent, clock: shared.clock,
      read: () => reader.read(shared.source().value.trustedWorkspaces),
      onNews: () => keeper.onNews(this),
      report: error => shared.host.report(error),
    }, remains?.wishes)
    this.bookkeeper = new Bookkeeper({ record: this.record, advisors: this.advisors, host: shared.host, budget: () => this.resolve().config.budget })
    const session = this
    this.delivery = new Delivery({
      agent, guard: this.guard,
      get isOn() { return session.live !== undefined },
      get oneShot() { return shared.host.headless || isSubagent(agent) },
      get fold() { return session.fold },
      config: name => this.configOf(name),
      now: () => shared.clock.now(),
      report: error => shared.host.report(error),
      debug: line => shared.host.debug(line),
      onCard: (note) => {
        const { severity, text } = note
        if (severity !== 'nit') shared.host.show(`${labelOf(note)} ${text.replace(/\s+/g, ' ')}`, severity === 'blocker' ? 'error' : 'warning')
      },
      onMoved: (note, state) => this.bookkeeper.moved(note, state),
      onReopened: (answer) => {
        if (shared.host.headless && !isSubagent(agent)) shared.host.tell(`advice reopened the agent's answer; the answer before it was:\n${answer}`)
      },
    })
    this.delivery.adopt(remains?.notes ?? [])
    this.logged = new Logged(this.delivery, this.guard)
  }

  /** The agent is gone. A subagent is never spoken to again, so the user is told what it did not see. */
  leave(): Remains {
    if (isSubagent(this.agent)) this.tellUnseen()
    this.advisors.dispose()
    return { notes: this.delivery.unheld(), guard: this.guard, override: this.override, wishes: this.advisors.wished, written: this.write() }
  }

  /** The reviewers; none while switched off. */
  get panel(): Panel | undefined {
    return this.live
  }

  /** Topics the user muted, in their words. */
  get muted(): readonly string[] {
    return this.guard.muted
  }

  /** What the layers of configuration say, this session's wish left out. */
  get source(): ConfigSource {
    return this.shared.source()
  }

  /** What hides secrets beside the reviews: another one than theirs, which follows their conversations text by text. */
  hider(config: Pick<Config, 'redact' | 'redactPatterns'>): Promise<Hider | undefined> {
    return new Redaction(this.shared.secrets).hider(config)
  }

  /** What this session may do, its own wish included. */
  resolve(): AdvisorConfig {
    const resolved = resolveAdvisorConfig(this.shared.source(), this.override, this.advisors.known)
    if (resolved.kind !== 'ready' || this.override === 'on' || isCovered(this.agent, resolved.config.subagents)) return resolved
    return { kind: 'off', config: resolved.config, reason: '`subagents` does not cover this one' }
  }

  /** Every note; what became of queued ones while nothing was listened to is read from the log. */
  notes(): readonly Item[] {
    if (this.live === undefined) this.logged.catchUp(this.agent.session.events)
    return this.delivery.inbox.list()
  }

  /** Bring reviewers in line with the configuration and the files, as these are now. */
  async refresh(): Promise<void> {
    await this.apply()
    if (this.resolve().kind !== 'off') await this.advisors.look()
  }

  /** Start or stop reviewing as configuration and files say; reviewers that go on learn of the change. */
  async apply(): Promise<void> {
    const { kind } = this.resolve()
    if (kind !== 'off') for (const line of this.advisors.roster?.trouble ?? []) this.keeper.tellOnce(line)
    if (kind === 'ready') {
      this.live ??= this.start()
      await this.live.set(this.advisors.active)
    } else if (this.live !== undefined) {
      // Off means that nothing of ours reaches the agent any more; the inbox stays.
      this.delivery.recall({ kind: 'card', reason: 'the advisor was switched off' })
      await this.stop()
    }
  }

  /** Switch one advisor for this session alone. */
  async wish(advisor: Advisor, wish: Override): Promise<void> {
    this.advisors.wish(advisor, wish)
    await this.apply()
    this.live?.resume(({ slug }) => slug === advisor.slug)
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
      this.logged.account(event.data, this.fold.position)
      return
    }
    const observed = this.fold.push(event)
    if (event.type === 'plan/mode' && this.fold.planMode) this.learnPlanRules()
    if (observed?.kind === 'update') {
      this.record.observe(observed.update.entries, observed.update.boundary === 'turn')
      live.offer(observed.update)
    }
    if (observed?.kind === 'rewritten') live.reset(this.present())
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

  /** Put notes away, all or one by number, and let their reviewers know. Returns how many. */
  dismiss(which: number | 'all'): number {
    const { inbox } = this.delivery
    const notes = which === 'all' ? this.delivery.undelivered() : [inbox.get(which)?.note].filter(note => note !== undefined)
    for (const note of notes) {
      this.delivery.dismiss(note.id)
      this.live?.remark(`[the user dismissed your note: ${note.text}]\n[do not give it again, in any words]`, ({ name }) => isOf(note, name))
    }
    return notes.length
  }

  /** What the user thinks of a note. False when there is no such note. */
  judge(id: number, verdict: 'good' | 'bad'): boolean {
    const note = this.delivery.inbox.get(id)?.note
    if (note !== undefined) this.bookkeeper.judged(note, verdict)
    return note !== undefined
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
  private start(): Panel {
    const { agent, keeper, advisors } = this
    const { updates, turns } = this.fold
    this.fold = new Fold()
    this.fold.prime(agent.session.events, (event) => {
      if (event.type === 'user/message' && isAdvisory(event.data)) this.logged.account(event.data, this.fold.position)
    })
    const { nextStep, nextTurn } = agent.inbox
    for (const message of [...nextStep, ...nextTurn].filter(isAdvisory)) this.logged.account(message, undefined)
    // Ages of notes go on where they were.
    this.fold.updates = updates
    this.fold.turns = turns
    if (agent.status === 'idle') this.fold.abandonTurn()
    if (this.fold.planMode) this.learnPlanRules()
    this.delivery.onReturn()
    return new Panel({
      config: () => this.resolve().config,
      open: seat => this.open(seat),
      account: ({ slug }) => this.record.account(slug),
      isLooking: () => advisors.isLooking,
      look: () => advisors.look(),
      looked: () => advisors.looked,
      tell: line => keeper.tellOnce(line),
    })
  }

  private async write(): Promise<void> {
    await this.stop().catch((error: unknown) => { this.shared.host.report(error) })
    await this.record.dispose()
  }

  /** What one reviewer works with. Its advisor's entry may change while it does. */
  private open(seat: Seat): ReviewerPort {
    const { shared, delivery, advisors } = this
    const { host } = shared
    const { slug } = seat.advisor
    const redaction = new Redaction(shared.secrets)
    const tell = (line: string, remedy?: string) => host.tell(named(seat.advisor, remedy === undefined || host.headless ? line : `${line}; ${remedy}`))
    return {
      llm: shared.llm, clock: shared.clock,
      sessionId: SessionId([this.agent.id, 'advisor', slug].filter(part => part !== '').join('-')),
      config: () => seat.config,
      brief: () => ({ guidance: advisors.roster?.guidance ?? '', instructions: seat.advisor.instructions }),
      refreshed: () => advisors.looked.then(() => this.bookkeeper.ready()),
      pinned: () => this.pinned(seat.advisor.name),
      present: () => this.present(),
      tools: this.toolbox,
      hider: () => redaction.hider(seat.config),
      readFile: path => readWithin(this.agent.session.header.cwd, path),
      stale: () => delivery.stale(seat.advisor.name),
      onReconfirmed: ids => delivery.onReconfirmed(ids, seat.advisor.name),
      advise: (findings, update, review) => {
        const notes = delivery.offer(findings, { advisor: seat.advisor.name, update, review, others: seat.othersDone() })
        return this.bookkeeper.given(notes, slug)
      },
      reserve: (route, tokens, signal) => this.bookkeeper.reserve(route, tokens, signal),
      mayCall: (route, tokens) => this.bookkeeper.mayCall(route, tokens),
      onReviewed: (record) => {
        const useless = this.record.review(slug, record)
        if (useless !== undefined) tell(useless.reason, useless.remedy)
      },
      isContentFree,
      report: error => host.report(error),
      debug: line => host.debug(named(seat.advisor, line)),
      tell,
    }
  }

  /** The configuration of an advisor by its name, the session's own for none or one that is gone. */
  private configOf(name: string | undefined): Config {
    const { config } = this.resolve()
    const advisor = this.advisors.named(name)
    return advisor === undefined ? config : configOf(config, advisor)
  }

  private async catchUp(threshold: number | undefined, signal: AbortSignal): Promise<void> {
    if (threshold !== undefined && this.live !== undefined) await catchUp(this.live, threshold, this.shared.clock, signal)
  }

  private endHeadless(panel: Panel): void {
    const { end } = this.fold.phase.kind === 'idle' ? this.fold.phase : { end: undefined }
    const run = { seconds: this.resolve().config.drain, failed: end?.kind === 'error' }
    if (!panel.reviewing) return this.tellUnseen()
    const wait = async (cancelled: AbortSignal) => {
      const cut = await drain(signal => panel.finish(signal), run, this.shared.clock, cancelled)
      if (cut !== undefined) for (const steps of panel.unread) this.shared.host.tell(`${steps} not reviewed: no verdict within ${cut} s (\`drain\`)`)
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

  private learnPlanRules(): void {
    void this.shared.planRules(this.agent).then((rules) => { this.planRules = rules }, () => {})
  }

  /** The transcript as it stands. */
  private present(): Present {
    const { fold } = this
    return { entries: fold.present(), at: { number: fold.updates, ...fold.position, final: !fold.isWorking } }
  }

  private pinned(advisor: string | undefined): Pinned {
    const { fold } = this
    return {
      cwd: this.agent.session.header.cwd, task: fold.task, latest: fold.latest, instructions: fold.instructions,
      notes: [
        ...this.logged.pastOf(advisor),
        ...this.delivery.inbox.list().filter(({ note }) => isOf(note, advisor))
          .map(({ note, state }) => ({ text: note.text, severity: note.severity, fate: describeState(state) })),
      ],
      muted: this.guard.muted,
      planRules: fold.planMode ? this.planRules ?? planMode : undefined,
    }
  }
}
