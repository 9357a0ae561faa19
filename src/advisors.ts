// The advisors of one session: what its files say of them, what the user wished here, and which of them review this agent.
// It knows no reviewer.

import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Clock } from './clock.ts'
import type { KnownAdvisors, Override } from './config/resolve.ts'
import { isFor } from './coverage.ts'
import type { Advisor, Roster } from './roster/advisor.ts'
import { RosterWatch } from './roster/watch.ts'

export interface AdvisorsPort {
  readonly agent: Agent
  readonly clock: Clock
  /** Never rejects. */
  read(): Promise<Roster>
  /** The files say something new. */
  onNews(): void
  report(error: unknown): void
}

export class Advisors {
  private readonly agent: Agent
  private readonly watch: RosterWatch
  /** By slug, what the user wants of one advisor in this session. */
  private readonly wishes: Map<string, Override>

  /** @param wishes - what the user wanted when the session was closed. */
  constructor(port: AdvisorsPort, wishes: ReadonlyMap<string, Override> = new Map()) {
    this.agent = port.agent
    this.wishes = new Map(wishes)
    this.watch = new RosterWatch(port)
  }

  /** What the files say; none before they were looked at. */
  get roster(): Roster | undefined {
    return this.watch.roster
  }

  /** All of them in the order of the roster, those that are off too. */
  get all(): readonly Advisor[] {
    return this.roster?.advisors ?? []
  }

  /** Those that review this agent. */
  get active(): readonly Advisor[] {
    return this.all.filter(advisor => this.whyOff(advisor) === undefined)
  }

  /** As the configuration counts them. */
  get known(): KnownAdvisors {
    return this.roster === undefined ? 'unread' : this.all.map(advisor => ({ ...advisor, enabled: this.whyOff(advisor) === undefined }))
  }

  /** For the session that takes over. */
  get wished(): ReadonlyMap<string, Override> {
    return this.wishes
  }

  get isLooking(): boolean {
    return this.watch.isLooking
  }

  /** Resolves when every look asked for so far has ended. */
  get looked(): Promise<void> {
    return this.watch.looked
  }

  /** Look at the files as they are from now on. Never rejects. */
  look(): Promise<void> {
    return this.watch.look()
  }

  /** By name or slug, whatever the case. */
  find(word: string): Advisor | undefined {
    const wanted = word.trim().toLowerCase()
    return this.all.find(({ slug, name }) => name !== undefined && (slug === wanted || name.toLowerCase() === wanted))
  }

  /** By its exact name, as notes have it. */
  named(name: string | undefined): Advisor | undefined {
    return this.all.find(advisor => advisor.name === name)
  }

  /** Why an advisor does not review this agent, or undefined when it does. */
  whyOff(advisor: Advisor): string | undefined {
    const wish = this.wishes.get(advisor.slug)
    if (wish !== undefined) return wish === 'on' ? undefined : 'switched off in this session'
    if (!advisor.enabled) return advisor.held ?? '`enabled` is false'
    return isFor(advisor, this.agent) ? undefined : '`agents` does not name this one'
  }

  /** Switch one advisor for this session alone. */
  wish(advisor: Advisor, wish: Override): void {
    this.wishes.set(advisor.slug, wish)
  }

  /** The session is gone. */
  dispose(): void {
    this.watch.dispose()
  }
}
