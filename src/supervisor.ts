// The advisor of one host: which sessions are under review, and the host's events on their way to them.
// While no session is, nothing is subscribed.

import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { resolveAdvisorConfig } from './config/resolve.ts'
import { AdvisedSession, type Remains } from './session.ts'
import type { TrustStore } from './roster/trust.ts'
import type { Keeper, Shared } from './shared.ts'

/** Closed sessions that are remembered. */
const CLOSED_SESSIONS_KEPT = 100

/** Lines that sessions share and the user was told. */
const LINES_KEPT = 1_000

/** All sessions of one host that are, or may be, under review. */
export class Supervisor implements Keeper {
  /** By session id; an agent's session shares its identity. */
  private readonly sessions = new Map<string, AdvisedSession>()
  /** What sessions closed in this host left behind, for when they are opened again. */
  private readonly left: Map<string, Remains>
  private readonly ctx: Context
  private readonly shared: Shared
  /** Why the advisor cannot run, as the user was last told. */
  private told: string | undefined
  private readonly toldOnce = new Set<string>()
  /** Sessions that are gone and not yet written down. */
  private readonly closing = new Set<Promise<void>>()
  private readonly awaiting = new Subscription(() => this.awaitSessions())
  private readonly reviewing = new Subscription(() => this.watchSessions())

  constructor(ctx: Context, shared: Shared) {
    this.ctx = ctx
    this.shared = shared
    this.left = remainsOf(ctx.root)
    ctx.effect(() => () => this.dispose(), 'advisor.sessions()')
  }

  /** What the user trusted. */
  get trust(): TrustStore {
    return this.shared.trust
  }

  /** The session of an agent, taken up on first use. */
  of(agent: Agent): AdvisedSession {
    const known = this.sessions.get(agent.id)
    if (known?.agent === agent) return known
    if (known !== undefined) this.close(known)
    const session = new AdvisedSession(agent, this.shared, this, this.left.get(agent.id))
    this.left.delete(agent.id)
    this.sessions.set(agent.id, session)
    return session
  }

  /** Bring subscriptions and reviewers in line with the configuration. */
  async refresh(): Promise<void> {
    const wanted = this.isWanted()
    this.shared.host.whenSettled(() => this.tellInvalid())
    if (wanted) for (const agent of this.ctx.agents.list()) this.guarded(() => this.of(agent))
    this.awaiting.set(wanted)
    this.closeGone()
    this.listen()
    await Promise.all([...this.sessions.values()].map(session => this.contained(session.refresh())))
  }

  /** A session's files say something new. */
  onNews(session: AdvisedSession): void {
    this.listen()
    this.shared.host.background(session.apply())
    const resolved = resolveAdvisorConfig(this.shared.source(), undefined, session.advisors.known)
    if (resolved.kind === 'disabled') this.tellDisabled(resolved.reason)
  }

  parentOf(agent: Agent): AdvisedSession | undefined {
    return this.sessions.get(agent.session.header.parentSession ?? '')
  }

  tellOnce(line: string): void {
    if (this.toldOnce.has(line)) return
    if (this.toldOnce.size >= LINES_KEPT) this.toldOnce.clear()
    this.toldOnce.add(line)
    this.shared.host.tell(line)
  }

  /** While nothing is listened to, nobody says that an agent is gone. */
  private closeGone(): void {
    for (const session of this.sessions.values()) if (this.ctx.agents.get(session.agent.id) !== session.agent) this.close(session)
  }

  /** Listen as long as one session is under review. */
  private listen(): void {
    this.reviewing.set([...this.sessions.values()].some(session => session.resolve().kind === 'ready'))
  }

  /** Sessions to come. */
  private awaitSessions(): (() => void)[] {
    return [
      this.ctx.on('agent/created', ({ agent }) => {
        // A throw in here is the end of the agent.
        this.guarded(() => {
          if (!this.isWanted()) return
          this.closeGone()
          const session = this.of(agent)
          this.listen()
          this.shared.host.background(session.refresh())
        })
      }),
    ]
  }

  /** The events of sessions under review. */
  private watchSessions(): (() => void)[] {
    const { ctx } = this
    const find = (agent: Agent) => this.sessions.get(agent.id)
    return [
      ctx.on('session/event', (session, event) => {
        this.sessions.get(session.id)?.onEvent(event)
      }),
      ctx.on('agent/status', ({ agent, status }) => {
        if (status === 'idle') this.guarded(() => find(agent)?.onIdle())
      }),
      ctx.on('agent/inbox/claimed', ({ agent, message }) => {
        this.guarded(() => find(agent)?.onClaimed(message))
      }),
      ctx.on('agent/inbox/discarded', ({ agent, message }) => {
        this.guarded(() => find(agent)?.onDiscarded(message))
      }),
      // Outermost, so that what other plugins add or refuse is known before we join a step.
      ctx.on('agent/pre-step', async ({ agent, messages: claimed, step, signal }, next) => {
        const session = find(agent)
        if (session?.panel === undefined) return next()
        await this.contained(session.beginStep(signal))
        try {
          // A step that will not be is not prepared by others either: what they would add to it is not lost.
          if (this.guarded(() => session.admitStep(claimed, step)) === false) return { kind: 'enter', messages: [] }
          const decision = await next()
          if (decision.kind === 'reject') return decision
          const messages = this.guarded(() => session.enterStep(decision.messages, claimed, step))
          return messages === undefined ? decision : { ...decision, messages }
        } finally {
          this.guarded(() => session.endStep())
        }
      }, { prepend: true }),
      ctx.on('agent/turn-stopping', async ({ agent, signal }) => {
        const session = find(agent)
        if (session !== undefined) await this.contained(session.prepareEnd(signal))
      }),
      ctx.on('agent/disposed', ({ agent }) => {
        const session = find(agent)
        if (session?.agent === agent) this.guarded(() => this.close(session))
      }),
      ctx.on('llm/adapters-updated', () => {
        for (const session of this.sessions.values()) this.guarded(() => session.panel?.onAdapters())
      }),
    ]
  }

  /** An agent is gone: what its session knows is kept, within bounds, until it is opened again. */
  private close(session: AdvisedSession): void {
    this.shared.host.background(this.remember(session))
  }

  /** Resolves when the session has stopped and all about it is written. */
  private remember(session: AdvisedSession): Promise<void> {
    const { id } = session.agent
    this.sessions.delete(id)
    const remains = session.leave()
    this.left.set(id, remains)
    const [oldest] = this.left.keys()
    if (this.left.size > CLOSED_SESSIONS_KEPT && oldest !== undefined) this.left.delete(oldest)
    const { written } = remains
    this.closing.add(written)
    return written.finally(() => { this.closing.delete(written) })
  }

  /** Settings that nobody can read are told at once. */
  private tellInvalid(): void {
    const source = this.shared.source()
    if (source.kind === 'invalid') this.tellDisabled(source.reason)
    else if (resolveAdvisorConfig(source).kind !== 'disabled') this.told = undefined
  }

  /** Say once why an advisor that is wanted cannot run. */
  private tellDisabled(reason: string): void {
    if (reason !== this.told) this.shared.host.tell(`disabled: ${reason}`)
    this.told = reason
  }

  /** Whether sessions are to be reviewed as far as the settings go; which model does it, a session's files may say. */
  private isWanted(): boolean {
    return resolveAdvisorConfig(this.shared.source(), undefined, 'unread').kind === 'ready'
  }

  /** A fault of ours must not reach the turn it happens in. */
  private guarded<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.shared.host.report(error)
      return undefined
    }
  }

  private async contained(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.shared.host.report(error)
    }
  }

  private async dispose(): Promise<void> {
    this.awaiting.set(false)
    this.reviewing.set(false)
    // Subagents first: what they did is written down with the session they work for, too.
    for (const session of [...this.sessions.values()].reverse()) this.close(session)
    // Those that closed a moment ago are still being written; what they did is of this day.
    await Promise.allSettled(this.closing)
    await this.shared.close()
  }
}

/** By host root: a plugin that is loaded again, after an edit of its row, finds what the one before it knew. */
const REMAINS = new WeakMap<object, Map<string, Remains>>()

function remainsOf(root: object): Map<string, Remains> {
  const known = REMAINS.get(root) ?? new Map<string, Remains>()
  REMAINS.set(root, known)
  return known
}

/** Listeners that are there only while they are needed. */
class Subscription {
  private readonly listen: () => (() => void)[]
  private disposers: (() => void)[] | undefined

  constructor(listen: () => (() => void)[]) {
    this.listen = listen
  }

  set(needed: boolean): void {
    if (needed) this.disposers ??= this.listen()
    else {
      for (const dispose of this.disposers ?? []) dispose()
      this.disposers = undefined
    }
  }
}
