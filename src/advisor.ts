// The advisor of one host: which sessions are under review, and the host's events on their way to them.
// While no session is, nothing is subscribed.

import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { resolveAdvisorConfig, type Override } from './config/resolve.ts'
import { AdvisedSession, type Shared } from './session.ts'

export class Advisor {
  /** By session id; an agent's session shares its identity. */
  private readonly sessions = new Map<string, AdvisedSession>()
  private readonly ctx: Context
  private readonly shared: Shared
  private subscription: (() => void) | undefined

  constructor(ctx: Context, shared: Shared) {
    this.ctx = ctx
    this.shared = shared
    ctx.effect(() => () => this.dispose(), 'advisor.sessions()')
  }

  /** The session of an agent, taken up on first use. */
  of(agent: Agent): AdvisedSession {
    const known = this.sessions.get(agent.id)
    if (known?.agent === agent) return known
    const session = new AdvisedSession(agent, this.shared)
    this.sessions.set(agent.id, session)
    return session
  }

  /** Set a session's own wish; it is forgotten with the session. */
  async setOverride(agent: Agent, override: Override): Promise<AdvisedSession> {
    const session = this.of(agent)
    session.override = override
    await this.refresh()
    return session
  }

  /** Bring subscriptions and reviewers in line with the configuration. */
  async refresh(): Promise<void> {
    const stored = resolveAdvisorConfig(this.shared.source()).kind === 'ready'
    if (stored) for (const agent of this.ctx.agents.list()) if (isReviewed(agent)) this.of(agent)
    const sessions = [...this.sessions.values()]
    if (sessions.some(session => session.resolve().kind === 'ready') || stored) this.subscribe()
    else this.unsubscribe()
    await Promise.all(sessions.map(session => session.refresh()))
  }

  private subscribe(): void {
    if (this.subscription !== undefined) return
    const { ctx } = this
    const find = (agent: Agent) => this.sessions.get(agent.id)
    const disposers = [
      ctx.on('session/event', (session, event) => {
        this.sessions.get(session.id)?.onEvent(event)
      }),
      ctx.on('agent/created', ({ agent }) => {
        if (isReviewed(agent) && resolveAdvisorConfig(this.shared.source()).kind === 'ready') void this.of(agent).refresh()
      }),
      ctx.on('agent/disposed', ({ agent }) => {
        const session = find(agent)
        if (session?.agent !== agent) return
        this.sessions.delete(agent.id)
        void session.stop()
      }),
      ctx.on('agent/status', ({ agent, status }) => {
        if (status === 'idle') this.guarded(() => find(agent)?.onIdle())
      }),
      ctx.on('agent/inbox/discarded', ({ agent, message }) => {
        this.guarded(() => find(agent)?.delivery.onDiscarded(message))
      }),
      // Outermost, so that what other plugins add or refuse is known before we join a step.
      ctx.on('agent/pre-step', async ({ agent, messages: claimed, step, signal }, next) => {
        const decision = await next()
        const session = find(agent)
        if (decision.kind === 'reject' || session?.reviewer === undefined) return decision
        const messages = this.guarded(() => session.enterStep(decision.messages, claimed, step, signal))
        return messages === undefined ? decision : { ...decision, messages }
      }, { prepend: true }),
      ctx.on('llm/adapters-updated', () => {
        for (const session of this.sessions.values()) this.guarded(() => session.reviewer?.onAdapters())
      }),
    ]
    this.subscription = () => { for (const dispose of disposers) dispose() }
  }

  private unsubscribe(): void {
    this.subscription?.()
    this.subscription = undefined
  }

  /** A fault of ours must not reach the turn it happens in. */
  private guarded<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.ctx.logger.error(error)
      return undefined
    }
  }

  private async dispose(): Promise<void> {
    this.unsubscribe()
    const sessions = [...this.sessions.values()]
    this.sessions.clear()
    await Promise.all(sessions.map(session => session.stop()))
  }
}

/** Subagents are not reviewed. */
function isReviewed(agent: Agent): boolean {
  const { origin, delegationDepth } = agent.session.header
  return origin !== 'subagent' && (delegationDepth ?? 0) === 0
}
