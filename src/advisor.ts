// The advisor of one host: which sessions are under review, and the host's events on their way to them.
// While no session is, nothing is subscribed.

import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { resolveAdvisorConfig } from './config/resolve.ts'
import type { Config } from './config/schema.ts'
import { AdvisedSession, isSubagent, type Shared } from './session.ts'

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

  /** Bring subscriptions and reviewers in line with the configuration. */
  async refresh(): Promise<void> {
    const stored = resolveAdvisorConfig(this.shared.source()).kind === 'ready'
    if (stored) for (const agent of this.ctx.agents.list()) if (this.isReviewed(agent)) this.of(agent)
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
        if (this.isReviewed(agent) && resolveAdvisorConfig(this.shared.source()).kind === 'ready') void this.of(agent).refresh()
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
        const session = find(agent)
        if (session?.reviewer === undefined) return next()
        await this.contained(session.beginStep(signal))
        try {
          const decision = await next()
          if (decision.kind === 'reject') return decision
          const messages = this.guarded(() => session.delivery.enterStep({ messages: decision.messages, claimed, step }))
          return messages === undefined ? decision : { ...decision, messages }
        } finally {
          this.guarded(() => session.delivery.endGathering())
        }
      }, { prepend: true }),
      ctx.on('agent/turn-stopping', async ({ agent, signal }) => {
        const session = find(agent)
        if (session !== undefined) await this.contained(session.prepareEnd(signal))
      }),
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

  private async contained(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.ctx.logger.error(error)
    }
  }

  private async dispose(): Promise<void> {
    this.unsubscribe()
    const sessions = [...this.sessions.values()]
    this.sessions.clear()
    await Promise.all(sessions.map(session => session.stop()))
  }

  private isReviewed(agent: Agent): boolean {
    if (!isSubagent(agent)) return true
    const { subagents }: Config = resolveAdvisorConfig(this.shared.source()).config
    return Array.isArray(subagents) ? subagents.includes(agent.session.header.agentPreset ?? '') : subagents
  }
}
