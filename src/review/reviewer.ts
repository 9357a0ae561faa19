// One advisor at work in one session: when it reviews, and what becomes of it when that fails. What is said in a review is
// `chat.ts`; its trouble is never the primary's.

import type { GenerateOptions, LlmFailure } from '@deepseek-ai/dsh-llm'
import { cutUpdate } from '../observe/cut.ts'
import type { Entry } from '../observe/entry.ts'
import type { Update } from '../observe/fold.ts'
import type { Account } from '../record/ledger.ts'
import { errorMessage } from '../text.ts'
import { Backlog, BACKLOG_LIMIT } from './backlog.ts'
import { Chat, type ChatPort } from './chat.ts'
import { configuredRoute } from './desk.ts'
import { classifyFailure, describeFailure, type FailureHistory } from './failure.ts'
import { Health, type ReviewerState } from './health.ts'
import { routeKey, type Route } from './model.ts'
import { Progress } from '../progress.ts'
import { Routes, type Detour, type Trouble } from './routes.ts'

export type { ReviewerState } from './health.ts'

export interface ReviewerPort extends Omit<ChatPort, 'onQuarantine' | 'route' | 'tell'> {
  /** A fault of ours that was contained. */
  report(error: unknown): void
  /** One line to the user about trouble that lasts, and what they can do about it. */
  tell(line: string, remedy?: string): void
}

/** Pause before the one retry of a passing fault. */
const RETRY_DELAY_MS = 1_000

/** One advisor at work in one session. */
export class Reviewer {
  private readonly port: ReviewerPort
  private readonly account: Account
  private readonly chat: Chat
  private readonly health: Health
  private readonly routes = new Routes()
  private readonly backlog = new Backlog()
  private readonly progress = new Progress()
  private readonly lifetime = new AbortController()
  private working: Promise<void> | undefined
  /** Aborted when the run is over: what fails after that is not tried again. */
  private closing = new AbortController()

  constructor(port: ReviewerPort, account: Account) {
    this.port = port
    this.account = account
    this.health = new Health(port)
    this.chat = new Chat(extend(port, { route: () => this.route(), onQuarantine: reason => this.health.quarantine(reason) }), account)
    this.checkModel()
  }

  get state(): ReviewerState {
    return this.health.state
  }

  /** Its conversation as it stands, as the request that would go on now; none before its first review. */
  get transcript(): GenerateOptions | undefined {
    return this.chat.transcript
  }

  /** The fallback in use, and why; none while the configured model answers. */
  get detour(): (Detour & { readonly to: string }) | undefined {
    return this.routes.detour(this.port.config(), this.port.clock.now())
  }

  /** Updates not reviewed yet. */
  get pending(): number {
    return this.backlog.size
  }

  /** The steps among them, in words. */
  get unread(): string {
    const { first, last } = this.backlog
    return first === undefined || last === undefined ? 'nothing' : stepsText(first, last)
  }

  get reviewing(): boolean {
    return this.working !== undefined
  }

  /** Take one update. Returns at once; a review that is due starts in the background. */
  offer(update: Update): void {
    this.account.count('dropped', this.backlog.push(update, Math.max(BACKLOG_LIMIT, this.port.config().reviewEvery)))
    if (this.closing.signal.aborted) this.closing = new AbortController()
    this.health.onUpdate(this.configured)
    this.wake()
  }

  /** The primary's past was rewritten: start over from the transcript as it stands. */
  reset(present: readonly Entry[], at: Pick<Update, 'number' | 'turn' | 'step' | 'final'>): void {
    this.chat.clear()
    this.backlog.restart(present, at)
  }

  /** Tell the reviewer something with its next update. */
  remark(text: string): void {
    this.chat.remark(text)
  }

  /**
   * Wait until fewer than `threshold` updates are unread, or nothing can be expected of the reviewer.
   * The bound is the caller's, by the signal.
   */
  async whenBelow(threshold: number, signal: AbortSignal): Promise<void> {
    await this.progress.until(() => this.health.lagging || this.working === undefined || this.pending < threshold, signal)
  }

  /** Nobody waits again before a review succeeds. */
  giveUpWaiting(): void {
    this.health.lagging = true
  }

  /** The run is over: resolves when the reviews that are due have ended, well or not. Nothing is tried twice. */
  async finish(signal: AbortSignal): Promise<void> {
    this.closing.abort(new Error('the run is over'))
    await this.progress.until(() => this.working === undefined, signal)
  }

  /** Try again after a pause, a halt or a missing model. */
  resume(): void {
    this.health.resume()
    this.routes.reset()
    this.checkModel()
    this.wake()
  }

  /** The configuration changed: a new model is a new chance, and so is a larger budget. */
  reconfigure(): void {
    const granted = this.state.kind === 'budget_exhausted' && this.port.mayCall(this.route(), 0).kind === 'fine'
    if (granted || this.health.isNewChance(this.configured)) this.resume()
    else this.wake()
  }

  /** The host's adapters changed: a missing model may have come, a known one may have other efforts. */
  onAdapters(): void {
    this.chat.onAdapters()
    if (this.state.kind === 'no_model') this.resume()
    else if (this.health.isAtWork) this.checkModel()
  }

  /** Give up what is under way, then wait until it is. */
  async dispose(): Promise<void> {
    this.lifetime.abort(new Error('the advisor was switched off'))
    this.progress.made()
    await this.working
  }

  /** The model of the configuration, as one word. */
  private get configured(): string {
    return configuredRoute(this.port.config())
  }

  /** Say early, without a call, that the provider is not there. */
  private checkModel(): void {
    const { provider, model } = this.port.config()
    if (provider === '' || model === '') return this.health.miss('no model: its entry and the settings name none')
    if (this.port.llm.listProviders().some(({ id }) => id === provider)) return
    this.health.miss(`no provider "${provider}" in this host`)
  }

  private wake(): void {
    if (this.working !== undefined || !this.canReview()) return
    this.working = Promise.resolve().then(() => this.workOff())
      .catch((error: unknown) => {
        this.port.report(error)
        this.lose('all', `internal error: ${errorMessage(error)}`)
      })
      .finally(() => {
        this.working = undefined
        this.wake()
        this.progress.made()
      })
      .catch((error: unknown) => { this.port.report(error) })
  }

  private canReview(): boolean {
    if (!this.health.mayReview || this.lifetime.signal.aborted) return false
    const { reviewAt, reviewEvery } = this.port.config()
    return cutUpdate(this.backlog.waiting(reviewAt), reviewEvery).kind === 'review'
  }

  private async workOff(): Promise<void> {
    let history = this.newHistory()
    while (this.canReview()) {
      const end = await this.chat.review(this.backlog, this.lifetime.signal)
      if (end.kind === 'reviewed') this.health.succeeded()
      if (end.kind === 'exhausted') this.health.stop({ kind: 'budget_exhausted', reason: end.reason }, this.configured)
      if (end.kind !== 'failed') return
      this.health.lagging = true
      this.progress.made()
      const before = this.detour?.to
      history = await this.recover(end.failure, history)
      // Another model is no second try.
      if (this.closing.signal.aborted && this.health.isAtWork && this.detour?.to === before) return this.abandon(describeFailure(end.failure))
    }
  }

  private async recover(failure: LlmFailure, history: FailureHistory): Promise<FailureHistory> {
    const decision = classifyFailure(failure, history)
    const { reason } = decision
    switch (decision.kind) {
      case 'wait':
        await this.pause(decision.ms)
        return { ...history, waits: history.waits + 1 }
      case 'retry':
        this.health.failing(reason)
        await this.pause(RETRY_DELAY_MS)
        return { ...history, attempts: history.attempts + 1 }
      case 'clear':
        this.chat.clear()
        return { ...history, cleared: true }
      case 'skip':
        this.drop('taken')
        return this.newHistory()
      case 'drop':
      case 'flush':
        this.lose(decision.kind === 'flush' ? 'all' : 'taken', reason)
        return this.newHistory()
      case 'pause':
        return this.fallBack({ kind: 'pause', reason, retryMs: decision.retryMs }) ? this.newHistory() : history
      case 'halt':
        return this.fallBack({ kind: 'halt', reason, retryMs: undefined }) ? this.newHistory() : history
      case 'no-model':
        // A configured model that is not there yet is waited for; a fallback is not.
        if (this.routes.isAway) return this.fallBack({ kind: 'halt', reason, retryMs: undefined }) ? this.newHistory() : history
        this.health.stop({ kind: 'no_model', reason }, this.configured)
        return history
    }
  }

  /** The model to use now. Every change of it is one line to the user. */
  private route(): Route {
    const { isAway } = this.routes
    const route = this.routes.current(this.port.config(), this.port.clock.now())
    if (isAway && !this.routes.isAway) this.port.tell(`back to ${routeKey(route)}`)
    return route
  }

  /** Go on with the next model, or stop. False when there is none left. */
  private fallBack(trouble: Trouble): boolean {
    const now = this.port.clock.now()
    const providers = new Set(this.port.llm.listProviders().map(({ id }) => id))
    const next = this.routes.fail(this.port.config(), trouble, now, provider => providers.has(provider))
    if (next.kind === 'switched') {
      const passed = next.passed.map(model => `; ${model} is not in this host`).join('')
      this.port.tell(`${next.from} failed (${trouble.reason}); going on with ${routeKey(next.to)}${passed}`)
      return true
    }
    const { kind, reason, retryMs } = next.trouble
    const stopped = kind === 'halt' ? { kind: 'halted', reason } as const
      : { kind: 'quota_exhausted', reason, since: now, retryAt: retryMs === undefined ? undefined : now + retryMs } as const
    this.health.stop(stopped, this.configured)
    return false
  }

  private newHistory(): FailureHistory {
    return { attempts: 0, waits: 0, drops: this.health.lost, cleared: false }
  }

  private drop(what: 'taken' | 'all'): void {
    this.account.count('dropped', this.backlog.drop(what))
    this.chat.abandon()
  }

  private lose(what: 'taken' | 'all', reason: string): void {
    this.drop(what)
    this.health.lose(reason, this.configured)
  }

  /** The run is over and the last reviews failed. */
  private abandon(reason: string): void {
    const { unread } = this
    this.drop('all')
    // A reviewer that was failing already has said so.
    if (this.health.lost === 0) this.port.tell(`${unread} not reviewed: ${reason}`)
  }

  private async pause(ms: number): Promise<void> {
    await this.port.clock.sleep(ms, AbortSignal.any([this.lifetime.signal, this.closing.signal]))
  }
}

/** A port may be made of getters: it is extended, not copied. */
function extend(port: ReviewerPort, more: Pick<ChatPort, 'onQuarantine' | 'route'>): ChatPort {
  return Object.assign(Object.create(port) as ChatPort, more)
}

/** The steps of updates, as the beginning of a sentence on what became of them. */
export function stepsText(first: Pick<Update, 'turn' | 'step'>, last: Pick<Update, 'turn' | 'step'>): string {
  const [from, to] = [first, last].map(({ turn, step }) => `${turn}.${step}`)
  return from === to ? `step ${from} was` : `steps ${from} to ${to} were`
}
