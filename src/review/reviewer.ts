// One advisor at work in one session: it takes updates, keeps a private conversation and hands findings on.
// It knows nothing of how they are delivered, and its trouble is never the primary's.

import type { GenerateOptions, LlmFailure, Message, ReasoningEffortId } from '@deepseek-ai/dsh-llm'
import type { SessionId } from '@deepseek-ai/dsh-session'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/schema.ts'
import type { Finding, WaitingNote } from '../finding.ts'
import { cutUpdate } from '../observe/cut.ts'
import type { Entry } from '../observe/entry.ts'
import type { Update } from '../observe/fold.ts'
import type { Tally } from '../record/tally.ts'
import { errorMessage } from '../text.ts'
import { Backlog, BACKLOG_LIMIT } from './backlog.ts'
import { callModel, describeModel, type CallResult, type ModelService } from './call.ts'
import { composeBatch, type Batch } from './batch.ts'
import { Conversation } from './conversation.ts'
import { classifyFailure, describeFailure, type FailureHistory } from './failure.ts'
import type { Pinned } from './head.ts'
import { Progress } from './progress.ts'
import { ADVISE_TOOL, systemText } from './prompt.ts'
import { readReply } from './reply.ts'
import { tidyReply } from './tidy.ts'
import { ShownResults } from './results.ts'

/** The words of the design's failure table. */
export type ReviewerState =
  | { readonly kind: 'running' }
  | { readonly kind: 'failing', readonly reason: string }
  /** `retryAt`: the first update after it tries once. */
  | { readonly kind: 'quota_exhausted', readonly reason: string, readonly since: number, readonly retryAt: number | undefined }
  | { readonly kind: 'halted', readonly reason: string }
  | { readonly kind: 'no_model', readonly reason: string }

export interface ReviewerPort {
  readonly llm: ModelService
  readonly clock: Clock
  /** Names the conversation to the provider; never the id of a live session. */
  readonly sessionId: SessionId
  config(): Config
  pinned(): Pinned
  /** Notes that wait so long that the reviewer has to say whether they are still true. */
  stale(): readonly WaitingNote[]
  /** The reviewer was asked about these notes; what it says of them, if anything, comes as findings. */
  onReconfirmed(ids: readonly number[]): void
  /** Findings of one review, with the number of the newest update it saw. */
  advise(findings: readonly Finding[], update: number): void
  isContentFree(text: string): boolean
  /** A fault of ours that was contained. */
  report(error: unknown): void
  /** For the host's log: what was dropped, and why. */
  debug(line: string): void
  /** One line to the user about trouble that lasts, and what they can do about it. */
  tell(line: string, remedy?: string): void
}

/** Most tokens one reply may take, thinking included. */
const REPLY_TOKENS = 8_192
/** Pause before the one retry of a passing fault. */
const RETRY_DELAY_MS = 1_000
/** Drops in a row from which on only every 2nd, 4th, … 32nd update is tried. */
const COOLING_DROPS = 3

/** One advisor at work in one session. */
export class Reviewer {
  state: ReviewerState = { kind: 'running' }
  private readonly port: ReviewerPort
  private readonly tally: Tally
  private readonly conversation = new Conversation()
  private readonly backlog = new Backlog()
  private readonly results = new ShownResults()
  private readonly lifetime = new AbortController()
  private working: Promise<void> | undefined
  /** Batches lost in a row. */
  private drops = 0
  /** Updates to let pass before the next try. */
  private cooling = 0
  /** The model that was last asked about, and the efforts it takes. */
  private route = ''
  private efforts: ReadonlySet<string> = new Set()
  /** The model that the conversation was held with. */
  private shownTo = ''
  /** Plan-mode rules that stand in the conversation. */
  private shownPlan: string | undefined
  /** What the user wants the reviewer to know, for the next request. */
  private remarks: readonly string[] = []
  /** A call failed and none has succeeded since: nobody should wait for this reviewer. */
  private lagging = false
  private toldNoModel = false
  /** The model that was configured when the reviewer stopped: only another one is a new chance. */
  private stoppedAt = ''
  /** Aborted when the run is over: what fails after that is not tried again. */
  private closing = new AbortController()
  private readonly progress = new Progress()
  /** Grows with every reset; a review begun before one does not write into the conversation after it. */
  private epoch = 0

  constructor(port: ReviewerPort, tally: Tally) {
    this.port = port
    this.tally = tally
    this.checkModel()
  }

  /** Updates not reviewed yet. */
  get pending(): number {
    return this.backlog.size
  }

  /** The steps among them, in words. */
  get unread(): string {
    const { first, last } = this.backlog
    if (first === undefined || last === undefined) return 'nothing'
    const [from, to] = [first, last].map(({ turn, step }) => `${turn}.${step}`)
    return from === to ? `step ${from} was` : `steps ${from} to ${to} were`
  }

  get reviewing(): boolean {
    return this.working !== undefined
  }

  /** Take one update. Returns at once; a review that is due starts in the background. */
  offer(update: Update): void {
    this.tally.dropped += this.backlog.push(update, Math.max(BACKLOG_LIMIT, this.port.config().reviewEvery))
    if (this.closing.signal.aborted) this.closing = new AbortController()
    if (this.cooling > 0) this.cooling -= 1
    const { state } = this
    if (state.kind !== 'no_model') this.toldNoModel = false
    else if (!this.toldNoModel) this.stop(state)
    if (state.kind === 'quota_exhausted' && this.mayRetry(state)) this.state = { kind: 'running' }
    this.wake()
  }

  /** The primary's past was rewritten: start over from the transcript as it stands. */
  reset(present: readonly Entry[], at: Pick<Update, 'number' | 'turn' | 'step' | 'final'>): void {
    this.clear()
    this.backlog.restart(present, at)
  }

  /** Tell the reviewer something with its next update. */
  remark(text: string): void {
    this.remarks = [...this.remarks, text]
  }

  /**
   * Wait until fewer than `threshold` updates are unread, or nothing can be expected of the reviewer.
   * The bound is the caller's, by the signal.
   */
  async whenBelow(threshold: number, signal: AbortSignal): Promise<void> {
    await this.progress.until(() => this.lagging || this.working === undefined || this.pending < threshold, signal)
  }

  /** Nobody waits again before a review succeeds. */
  giveUpWaiting(): void {
    this.lagging = true
  }

  /** The run is over: resolves when the reviews that are due have ended, well or not. Nothing is tried twice. */
  async finish(signal: AbortSignal): Promise<void> {
    this.closing.abort(new Error('the run is over'))
    await this.progress.until(() => this.working === undefined, signal)
  }

  /** Try again after a pause, a halt or a missing model. */
  resume(): void {
    this.state = { kind: 'running' }
    this.drops = 0
    this.cooling = 0
    this.checkModel()
    this.wake()
  }

  /** The configuration changed: a new model is a new chance. */
  reconfigure(): void {
    if (!this.isAtWork() && routeOf(this.port.config()) !== this.stoppedAt) this.resume()
    else this.wake()
  }

  /** The host's adapters changed: a missing model may have come, a known one may have other efforts. */
  onAdapters(): void {
    this.route = ''
    if (this.state.kind === 'no_model') this.resume()
    else if (this.isAtWork()) this.checkModel()
  }

  /** Give up what is under way, then wait until it is. */
  async dispose(): Promise<void> {
    this.lifetime.abort(new Error('the advisor was switched off'))
    this.progress.made()
    await this.working
  }

  /** Say early, without a call, that the provider is not there. */
  private checkModel(): void {
    const { provider } = this.port.config()
    if (this.port.llm.listProviders().some(({ id }) => id === provider)) return
    this.state = { kind: 'no_model', reason: `no provider "${provider}" in this host` }
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
    if (!this.isAtWork() || this.cooling > 0 || this.lifetime.signal.aborted) return false
    const { reviewAt, reviewEvery } = this.port.config()
    return cutUpdate(this.backlog.waiting(reviewAt), reviewEvery).kind === 'review'
  }

  private isAtWork(): boolean {
    return this.state.kind === 'running' || this.state.kind === 'failing'
  }

  private async workOff(): Promise<void> {
    let history: FailureHistory = { attempts: 0, waits: 0, drops: this.drops, cleared: false }
    while (this.canReview()) {
      const result = await this.review()
      if (result.kind !== 'failed') return
      this.lagging = true
      this.progress.made()
      history = await this.recover(result.failure, history)
      if (this.closing.signal.aborted && this.isAtWork()) return this.abandon(describeFailure(result.failure))
    }
  }

  /** Show everything that waits in one request. */
  private async review(): Promise<CallResult | { readonly kind: 'nothing' }> {
    const config = this.port.config()
    const trouble = await this.prepare(config)
    if (trouble !== undefined) return trouble
    const { epoch } = this
    const updates = this.backlog.take()
    const upTo = updates.at(-1)?.number ?? 0
    const batch = composeBatch({
      updates, pinned: this.port.pinned(), fresh: this.conversation.fresh, gap: this.backlog.gap,
      shownPlan: this.shownPlan, remarks: this.remarks, stale: this.port.stale(), sameResult: this.results.find,
    }, config)
    if (batch.messages.length === 0) {
      this.backlog.settle()
      return { kind: 'nothing' }
    }
    this.tally.calls += 1
    const result = await callModel(this.port.llm, this.request(config, this.conversation.with(batch.messages)), this.callOptions(config))
    if (result.kind !== 'aborted') this.tally.charge(result.usage)
    if (result.kind === 'failed') this.tally.failed += 1
    if (result.kind === 'reply') this.accept(result, epoch === this.epoch ? batch : undefined, upTo)
    return result
  }

  /** @param batch - what the reply answers; none when the conversation was reset meanwhile. */
  private accept({ message, cut }: Extract<CallResult, { kind: 'reply' }>, batch: Batch | undefined, upTo: number): void {
    const verdict = readReply(message, this.port.isContentFree)
    this.state = { kind: 'running' }
    this.drops = 0
    this.lagging = false
    this.tally.reviews += 1
    if (batch !== undefined) {
      const kept = tidyReply(message, verdict)
      this.conversation.commit(batch.messages, kept?.message, kept?.calls)
      this.results.add(this.backlog.settle(), batch.shown)
      this.shownPlan = batch.plan
      this.remarks = this.remarks.slice(batch.remarks)
      this.port.onReconfirmed(batch.asked)
    }
    if (verdict.kind === 'no-verdict') this.port.debug(`no verdict: ${verdict.reason}`)
    if (verdict.kind === 'advice') this.port.advise(verdict.findings, upTo)
    else if (verdict.kind === 'no-verdict' || cut) this.tally.noVerdict += 1
    else this.tally.silent += 1
  }

  private async recover(failure: LlmFailure, history: FailureHistory): Promise<FailureHistory> {
    const decision = classifyFailure(failure, history)
    const { reason } = decision
    switch (decision.kind) {
      case 'wait':
        await this.pause(decision.ms)
        return { ...history, waits: history.waits + 1 }
      case 'retry':
        this.state = { kind: 'failing', reason }
        await this.pause(RETRY_DELAY_MS)
        return { ...history, attempts: history.attempts + 1 }
      case 'clear':
        this.clear()
        return { ...history, cleared: true }
      case 'skip':
        this.tally.dropped += this.backlog.drop('taken')
        return { attempts: 0, waits: 0, drops: this.drops, cleared: false }
      case 'drop':
      case 'flush':
        this.lose(decision.kind === 'flush' ? 'all' : 'taken', reason)
        return { attempts: 0, waits: 0, drops: this.drops, cleared: false }
      case 'pause': {
        const since = this.port.clock.now()
        this.stop({ kind: 'quota_exhausted', reason, since, retryAt: decision.retryMs === undefined ? undefined : since + decision.retryMs })
        return history
      }
      case 'halt':
        this.stop({ kind: 'halted', reason })
        return history
      case 'no-model':
        this.stop({ kind: 'no_model', reason })
        return history
    }
  }

  /** The time the provider named has come, or the clock was set back so that it may never come. */
  private mayRetry({ since, retryAt }: Extract<ReviewerState, { kind: 'quota_exhausted' }>): boolean {
    const now = this.port.clock.now()
    return retryAt !== undefined && (now >= retryAt || now < since)
  }

  private stop(state: Exclude<ReviewerState, { kind: 'running' | 'failing' }>): void {
    this.state = state
    this.toldNoModel = state.kind === 'no_model'
    this.stoppedAt = routeOf(this.port.config())
    const line = `${state.kind}: ${state.reason}`
    if (state.kind === 'no_model') this.port.tell(`${line}; it starts by itself when the model appears`)
    else this.port.tell(line, '`/advisor on` tries again')
  }

  private lose(what: 'taken' | 'all', reason: string): void {
    this.tally.dropped += this.backlog.drop(what)
    this.drops += 1
    this.state = { kind: 'failing', reason }
    if (this.drops === 1) this.port.tell(`failing: ${reason}; updates go unreviewed until it recovers`)
    if (this.drops >= COOLING_DROPS) this.cooling = Math.min(BACKLOG_LIMIT, 2 ** (this.drops - COOLING_DROPS + 1))
  }

  /** The run is over and the last reviews failed. */
  private abandon(reason: string): void {
    const { unread } = this
    this.tally.dropped += this.backlog.drop('all')
    // A reviewer that was failing already has said so.
    if (this.drops === 0) this.port.tell(`${unread} not reviewed: ${reason}`)
  }

  /** Find out once for each model which efforts it takes. A changed model starts a new conversation. */
  private async prepare(config: Config): Promise<Exclude<CallResult, { kind: 'reply' }> | undefined> {
    const route = routeOf(config)
    if (route === this.route) return undefined
    const described = await describeModel(this.port.llm, config.provider, config.model, this.callOptions(config))
    if (described.kind !== 'info') return described
    if (this.shownTo !== route) this.clear()
    this.shownTo = route
    this.route = route
    this.efforts = new Set(described.info.reasoning?.efforts.map(effort => String(effort.id)))
    return undefined
  }

  private clear(): void {
    this.epoch += 1
    this.conversation.clear()
    this.results.clear()
    this.shownPlan = undefined
  }

  private async pause(ms: number): Promise<void> {
    await this.port.clock.sleep(ms, AbortSignal.any([this.lifetime.signal, this.closing.signal]))
  }

  private request(config: Config, messages: Message[]): GenerateOptions {
    return {
      provider: config.provider, model: config.model, system: systemText(config), tools: [ADVISE_TOOL], messages,
      maxTokens: REPLY_TOKENS, sessionId: this.port.sessionId,
      ...this.efforts.has(config.effort) ? { reasoningEffort: config.effort as ReasoningEffortId } : {},
    }
  }

  private callOptions(config: Config) {
    return { timeoutMs: config.timeout * 1000, clock: this.port.clock, signal: this.lifetime.signal }
  }
}

function routeOf(config: Config): string {
  return `${config.provider}/${config.model}`
}
