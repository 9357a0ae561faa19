// The reviewers of one session, side by side: each with its own conversation, model and counts. What the session has for all
// of them goes to each; it knows neither how notes are delivered nor where a roster comes from.

import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import { orAborted } from '../clock.ts'
import { configOf, missingModel } from '../config/resolve.ts'
import type { Config } from '../config/schema.ts'
import type { Update } from '../observe/fold.ts'
import type { Account } from '../record/ledger.ts'
import type { Advisor } from '../roster/advisor.ts'
import type { Present } from './chat.ts'
import type { Detour } from './routes.ts'
import { Reviewer, stepsText, type ReviewerPort, type ReviewerState } from './reviewer.ts'

/** Updates that are kept for who comes by a look: as many as the slowest cadence waits for. */
const UNSEEN_LIMIT = 1_000

/** One advisor's place in a session. Its entry may change under a reviewer that goes on. */
export interface Seat {
  readonly advisor: Advisor
  /** The session's configuration, and over it what the entry sets. */
  readonly config: Config
  /** Resolves when the other reviewers at work have ended or failed; none when it works alone. */
  othersDone(): Promise<void> | undefined
}

/** One advisor as a status shows it. */
export interface Standing {
  readonly advisor: Advisor
  readonly config: Config
  readonly state: ReviewerState
  /** A fallback in use, and why. */
  readonly detour: Detour & { readonly to: string } | undefined
  /** Updates not reviewed yet. */
  readonly pending: number
  readonly reviewing: boolean
}

/** One advisor's private conversation. */
export interface Transcript {
  readonly advisor: Advisor
  /** As the request that would go on now; none before its first review. */
  readonly request: GenerateOptions | undefined
}

export interface PanelPort {
  /** The session's own configuration. */
  config(): Config
  /** What a reviewer works with. */
  open(seat: Seat): ReviewerPort
  /** What that advisor did and used so far in this session. */
  account(advisor: Advisor): Account
  /** Files are being looked at: who reviews may change. */
  isLooking(): boolean
  /** Look at the files as they are now; resolves when that is known. Never rejects. */
  look(): Promise<void>
  /** Resolves when every look asked for so far has ended. */
  looked(): Promise<void>
  /** One line to the user. */
  tell(line: string): void
}

/** A reviewer is there as soon as its advisor names a model. */
class Member implements Seat {
  advisor: Advisor
  reviewer: Reviewer | undefined
  /** The user was told that no model is named. */
  toldMissing = false
  private readonly panel: Pick<PanelPort, 'config'>
  private readonly others: (than: Member) => Promise<void> | undefined

  constructor(advisor: Advisor, panel: Pick<PanelPort, 'config'>, others: (than: Member) => Promise<void> | undefined) {
    this.advisor = advisor
    this.panel = panel
    this.others = others
  }

  get config(): Config {
    return configOf(this.panel.config(), this.advisor)
  }

  othersDone(): Promise<void> | undefined {
    return this.others(this)
  }
}

/** All reviewers of one session. It has none before the first roster is set. */
export class Panel {
  private readonly port: PanelPort
  /** By slug, in the order of the roster. */
  private members: ReadonlyMap<string, Member> = new Map()
  /** Updates since the look under way began: who comes by it has to see them. */
  private unseen: readonly Update[] = []
  private readonly gone = new AbortController()

  constructor(port: PanelPort) {
    this.port = port
  }

  /** How every advisor at work stands, in the order of the roster. */
  get standings(): readonly Standing[] {
    return [...this.members.values()].map(({ advisor, config, reviewer }) => ({
      advisor, config,
      state: reviewer?.state ?? { kind: 'no_model', reason: missingModel(config) ?? 'no model' },
      detour: reviewer?.detour, pending: reviewer?.pending ?? 0, reviewing: reviewer?.reviewing ?? false,
    }))
  }

  /** What every advisor at work has been shown and said, in the order of the roster. */
  get transcripts(): readonly Transcript[] {
    return [...this.members.values()].map(({ advisor, reviewer }) => ({ advisor, request: reviewer?.transcript }))
  }

  /** A review is under way or due, also one by a reviewer that only the look under way will bring. */
  get reviewing(): boolean {
    return this.isAwaitingRoster || this.reviewers.some(({ reviewing }) => reviewing)
  }

  /** What nobody has reviewed, in words, one line for each reviewer that is behind. */
  get unread(): readonly string[] {
    const [first, last] = [this.unseen[0], this.unseen.at(-1)]
    if (this.isAwaitingRoster && first !== undefined && last !== undefined) return [stepsText(first, last)]
    return [...this.members.values()].filter(({ reviewer }) => (reviewer?.pending ?? 0) > 0)
      .map(({ advisor, reviewer }) => named(advisor, reviewer!.unread))
  }

  /**
   * Let exactly these advisors review: who stays keeps its conversation, who is new sees what was offered since the look
   * that brought it. Who goes has given up its review when the promise resolves.
   */
  async set(advisors: readonly Advisor[]): Promise<void> {
    const before = this.members
    this.members = new Map(advisors.map((advisor) => {
      const member = before.get(advisor.slug) ?? new Member(advisor, this.port, than => this.othersDone(than))
      member.advisor = advisor
      return [advisor.slug, member]
    }))
    const leaving = [...before].flatMap(([slug, { reviewer }]) => this.members.has(slug) ? [] : reviewer ?? [])
    for (const member of this.members.values()) leaving.push(...this.fit(member))
    await Promise.all(leaving.map(reviewer => reviewer.dispose()))
  }

  /** Take one update. Returns at once; files are looked at, and reviews that are due start in the background. */
  offer(update: Update): void {
    this.unseen = [...this.unseen, update].slice(-UNSEEN_LIMIT)
    void this.port.look().then(() => { if (!this.port.isLooking()) this.unseen = [] })
    for (const reviewer of this.reviewers) reviewer.offer(update)
  }

  /** The primary's past was rewritten: everybody starts over from the transcript as it stands. */
  reset({ entries, at }: Present): void {
    this.unseen = []
    for (const reviewer of this.reviewers) reviewer.reset(entries, at)
  }

  /** Tell reviewers something with their next update. @param isMeant - whom of them; all, when left out. */
  remark(text: string, isMeant: (advisor: Advisor) => boolean = () => true): void {
    for (const { advisor, reviewer } of this.members.values()) if (isMeant(advisor)) reviewer?.remark(text)
  }

  /** Wait until everybody has fewer than `threshold` updates unread, or nothing can be expected of those who have more. */
  async whenBelow(threshold: number, signal: AbortSignal): Promise<void> {
    if (this.isAwaitingRoster && this.unseen.length >= threshold) await orAborted(this.port.looked(), signal)
    await Promise.all(this.reviewers.map(reviewer => reviewer.whenBelow(threshold, signal)))
  }

  /** Nobody waits again for a reviewer that is at work now before it succeeds. */
  giveUpWaiting(): void {
    for (const reviewer of this.reviewers) if (reviewer.reviewing) reviewer.giveUpWaiting()
  }

  /** The run is over: resolves when all reviews that are due have ended, well or not. */
  async finish(signal: AbortSignal): Promise<void> {
    if (this.isAwaitingRoster) await orAborted(this.port.looked(), signal)
    await Promise.all(this.reviewers.map(reviewer => reviewer.finish(signal)))
  }

  /** Try again after a pause, a halt or a missing model. @param isMeant - whom; all, when left out. */
  resume(isMeant: (advisor: Advisor) => boolean = () => true): void {
    for (const { advisor, reviewer } of this.members.values()) if (isMeant(advisor)) reviewer?.resume()
  }

  /** The host's adapters changed. */
  onAdapters(): void {
    for (const reviewer of this.reviewers) reviewer.onAdapters()
  }

  /** Give up what is under way, then wait until it is. */
  async dispose(): Promise<void> {
    this.gone.abort(new Error('the advisor was switched off'))
    await Promise.all(this.reviewers.map(reviewer => reviewer.dispose()))
  }

  private get reviewers(): readonly Reviewer[] {
    return [...this.members.values()].flatMap(({ reviewer }) => reviewer ?? [])
  }

  /** Nobody is there yet to review what was offered. */
  private get isAwaitingRoster(): boolean {
    return this.unseen.length > 0 && this.members.size === 0 && this.port.isLooking()
  }

  /** Give a member the reviewer that its entry calls for. Returns one that has to go. */
  private fit(member: Member): readonly Reviewer[] {
    const { advisor, reviewer } = member
    const missing = missingModel(member.config)
    if (missing !== undefined) {
      member.reviewer = undefined
      if (!member.toldMissing) this.port.tell(named(advisor, `no_model: ${missing}`))
      member.toldMissing = true
      return reviewer === undefined ? [] : [reviewer]
    }
    member.toldMissing = false
    if (reviewer !== undefined) {
      reviewer.reconfigure()
      return []
    }
    const fresh = new Reviewer(this.port.open(member), this.port.account(advisor))
    member.reviewer = fresh
    for (const update of this.unseen) fresh.offer(update)
    return []
  }

  private othersDone(than: Member): Promise<void> | undefined {
    const others = [...this.members.values()].flatMap(member => member !== than && member.reviewer?.reviewing === true ? member.reviewer : [])
    // Below nothing: until it has no more to do, or fails.
    return others.length === 0 ? undefined : Promise.all(others.map(reviewer => reviewer.whenBelow(0, this.gone.signal))).then(() => {})
  }
}

/** A line about one advisor of a roster says which. */
export function named({ name }: Pick<Advisor, 'name'>, line: string): string {
  return name === undefined ? line : `${name}: ${line}`
}
