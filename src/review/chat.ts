// One reviewer's talk with its model: what it is shown, what it looks up and what it says. One review at a time. It knows
// neither when a review is due nor what a failure means.

import type { AssistantMessage, Message, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import type { Clock } from '../clock.ts'
import type { Finding, WaitingNote } from '../finding.ts'
import { textOf, type Entry } from '../observe/entry.ts'
import type { Update } from '../observe/fold.ts'
import { Veil, type Hider } from '../observe/hide.ts'
import summaryRequest from '../prompts/summary.md'
import type { Tally } from '../record/tally.ts'
import type { Backlog } from './backlog.ts'
import { composeBatch, type Batch } from './batch.ts'
import { callModel, type CallOptions, type CallResult } from './call.ts'
import { KnownCalls, UNCHANGED } from './calls.ts'
import { Conversation, toMessages, type AnsweredCall } from './conversation.ts'
import { Desk, type DeskPort, type Setting } from './desk.ts'
import { Seen } from './evidence.ts'
import { renderHead, renderSummary, type Pinned } from './head.ts'
import { correction, Inquiry } from './inquiry.ts'
import { longRouteOf, routeKey } from './model.ts'
import { judgeReply } from './quarantine.ts'
import { readReply, type Verdict } from './reply.ts'
import { ShownResults } from './results.ts'
import { CALLS_KEPT, tidyReply } from './tidy.ts'
import { messageTokens, planUpkeep, SUMMARY_TOKENS, UPKEEP_STEPS, type Sizes, type UpkeepStep } from './upkeep.ts'
import { weigh } from './weigh.ts'

/** The transcript as it stands now, for a conversation that starts over. */
export interface Present {
  readonly entries: readonly Entry[]
  readonly at: Pick<Update, 'number' | 'turn' | 'step' | 'final'>
}

export interface ChatPort extends DeskPort {
  readonly clock: Clock
  pinned(): Pinned
  present(): Present
  /** Notes that wait so long that the reviewer has to say whether they are still true. */
  stale(): readonly WaitingNote[]
  /** Resolves once the user's files are known as they are now. */
  refreshed(): Promise<void>
  /** What hides secrets; none when the user switched that off. */
  hider(): Promise<Hider | undefined>
  /** A file of the workspace as it is now, or undefined. */
  readFile(path: string): Promise<string | undefined>
  /** The reviewer was asked about these notes; what it says of them, if anything, comes as findings. */
  onReconfirmed(ids: readonly number[]): void
  /** Findings of one reply, with the number of the newest update the reviewer had seen. */
  advise(findings: readonly Finding[], update: number): void
  /** A whole reply was thrown away. */
  onQuarantine(reason: string): void
  isContentFree(text: string): boolean
  /** For the host's log: what was dropped, and why. */
  debug(line: string): void
}

/** How a review ended. */
export type ReviewEnd =
  | { readonly kind: 'reviewed' }
  /** There was nothing to show. */
  | { readonly kind: 'nothing' }
  | Exclude<CallResult, { kind: 'reply' }>

/** Milliseconds after which a review may ask for no more. */
const INQUIRY_MS = 120_000
/** Shares of the bound: what one batch may take, and the newest reviews that outlive a summary. */
const BATCH_SHARE = 0.5
const KEPT_SHARE = 0.15
/** How far the provider's count of tokens may lie from the estimate. */
const [LEAST_SCALE, GREATEST_SCALE] = [0.5, 3]

export class Chat {
  private readonly port: ChatPort
  private readonly tally: Tally
  private readonly desk: Desk
  private readonly conversation = new Conversation()
  private readonly results = new ShownResults()
  private readonly known = new KnownCalls()
  private readonly seen = new Seen()
  private readonly veil = new Veil()
  /** The review under way, or one that a failed call broke off. */
  private inquiry: Inquiry | undefined
  /** The model that the conversation began with. */
  private heldWith = ''
  /** It goes on with the model for long conversations. */
  private long = false
  /** Plan-mode rules that stand in the conversation. */
  private shownPlan: string | undefined
  /** What the reviewer is to know, for the next request. */
  private remarks: readonly string[] = []
  /** Tokens read again since the conversation last began; see {@link Sizes}. */
  private reread = 0
  /** The provider's count over our estimate. */
  private scale = 1
  /** Grows with every reset; a review begun before one does not write into the conversation after it. */
  private epoch = 0

  constructor(port: ChatPort, tally: Tally) {
    this.port = port
    this.tally = tally
    this.desk = new Desk(port)
  }

  /** Tell the reviewer something with its next update. */
  remark(text: string): void {
    this.remarks = [...this.remarks, text]
  }

  /** The host's adapters changed: a known model may have become another. */
  onAdapters(): void {
    this.desk.forgetModels()
  }

  /** Start over: nothing that was shown stands any more. */
  clear(): void {
    this.epoch += 1
    this.conversation.clear()
    this.forgetShown()
    this.abandon()
  }

  /** Give up a review that was broken off. */
  abandon(): void {
    this.inquiry = undefined
  }

  /** Show what waits, answer what the reviewer asks, and hand on what it says. Never throws on a failed call. */
  async review(backlog: Backlog, signal: AbortSignal): Promise<ReviewEnd> {
    await this.port.refreshed()
    this.veil.use(await this.port.hider())
    const route = routeKey(this.port.route())
    const prepared = await this.prepare(signal)
    if (prepared.kind !== 'setting') return prepared
    if (this.heldWith !== route) this.clear()
    this.heldWith = route
    let { setting } = prepared
    if (this.inquiry === undefined) {
      const begun = await this.begin(backlog, setting, signal)
      if (begun.kind !== 'setting') return begun
      setting = begun.setting
    }
    const inquiry: Inquiry | undefined = this.inquiry
    if (inquiry === undefined) {
      backlog.settle()
      return { kind: 'nothing' }
    }
    return this.converse(inquiry, setting, backlog, signal)
  }

  private async converse(inquiry: Inquiry, setting: Setting, backlog: Backlog, signal: AbortSignal): Promise<ReviewEnd> {
    const { epoch } = this
    for (;;) {
      const messages = this.conversation.with(inquiry.messages)
      this.reread += Math.max(0, this.sizeOf(messages, setting) - this.rebuiltSize(setting))
      const result = await this.call(setting, messages, signal)
      if (result.kind !== 'reply') return result
      const end = await this.hear(result, inquiry, setting, signal)
      if (signal.aborted) return { kind: 'aborted' }
      if (epoch !== this.epoch || end !== undefined) {
        this.count(end, inquiry, result.cut)
        if (epoch === this.epoch) this.settle(inquiry, backlog)
        return { kind: 'reviewed' }
      }
    }
  }

  /** Hear one reply. Returns how the review ended with it, or undefined while the reviewer still looks. */
  private async hear({ message }: Extract<CallResult, { kind: 'reply' }>, inquiry: Inquiry, setting: Setting, signal: AbortSignal): Promise<Verdict['kind'] | undefined> {
    const judgement = judgeReply(message, this.seen)
    if (judgement.kind === 'unsafe') {
      this.tally.quarantined += 1
      this.port.debug(`reply thrown away: ${judgement.reason}`)
      this.port.onQuarantine(judgement.reason)
      return 'no-verdict'
    }
    const asked = message.content.filter((block): block is ToolCallBlock => block.type === 'tool-call' && setting.granted.has(block.name))
    const verdict = readReply({ content: message.content.filter(block => !(asked as unknown[]).includes(block)) }, this.port.isContentFree)
    if (verdict.kind === 'no-verdict') this.port.debug(`no verdict: ${verdict.reason}`)
    const { findings, heard, remarks, refused } = await weigh(verdict, {
      policy: setting.config.evidence, seen: this.seen, readFile: path => this.readFile(path),
    })
    for (const line of refused) this.port.debug(`note refused, ${line}`)
    for (const remark of remarks) this.remark(remark)
    if (verdict.kind === 'advice') inquiry.advised = true
    if (findings.length > 0) this.port.advise(findings, inquiry.upTo)
    if (asked.length === 0) {
      // Silence leaves no trace, and neither does prose; what was called has to be answered.
      if (verdict.kind === 'advice' || heard.length > 0) this.keep(inquiry, message, heard)
      return verdict.kind
    }
    const asking = inquiry.judge(asked, { calls: setting.config.toolCalls, ms: INQUIRY_MS }, this.port.clock.now(), this.isFull(inquiry, setting))
    if (asking.kind === 'end') {
      this.port.debug(`the review ended without a word: ${asking.reason}`)
      return 'silent'
    }
    const answers = asking.kind === 'run'
      ? await this.investigate(asked, asking.calls, setting, signal)
      : asked.map(call => ({ call, answer: correction(asking.reason), failed: true }))
    this.keep(inquiry, message, [...heard, ...answers], asking.kind)
    return undefined
  }

  private keep(inquiry: Inquiry, message: AssistantMessage, calls: readonly AnsweredCall[], asking?: 'run' | 'correct'): void {
    const inOrder = message.content.flatMap(block => calls.filter(({ call }) => call === block))
    const kept = tidyReply(message, inOrder)
    inquiry.add(kept.message, kept.calls, asking)
  }

  /** Run the calls of one reply side by side. */
  private async investigate(calls: readonly ToolCallBlock[], left: number, setting: Setting, signal: AbortSignal): Promise<AnsweredCall[]> {
    const room = Math.min(left, CALLS_KEPT)
    return Promise.all(calls.map(async (call, index) => {
      if (index >= room || this.port.tools === undefined) return { call, answer: correction('too many calls'), failed: true }
      this.tally.lookups += 1
      const { text, isError } = await this.port.tools.run(call, [...setting.granted], signal)
      const [shown = ''] = this.veil.texts([text])
      const answer = this.known.answer(call, shown)
      if (answer !== UNCHANGED) this.seen.add(shown)
      return { call, answer, failed: isError }
    }))
  }

  private settle(inquiry: Inquiry, backlog: Backlog): void {
    const { batch } = inquiry
    this.conversation.commit(batch.messages, inquiry.exchanged)
    this.results.add(backlog.settle().map(update => this.veil.update(update)), batch.shown)
    this.shownPlan = batch.plan
    this.remarks = this.remarks.slice(batch.remarks)
    this.port.onReconfirmed(batch.asked)
    this.abandon()
  }

  private count(end: Verdict['kind'] | undefined, inquiry: Inquiry, cut: boolean): void {
    this.tally.reviews += 1
    if (inquiry.advised) return
    if (end === 'no-verdict' || cut) this.tally.noVerdict += 1
    else this.tally.silent += 1
  }

  /** Compose the next batch, and make room for it first where that is due. */
  private async begin(backlog: Backlog, first: Setting, signal: AbortSignal): Promise<{ kind: 'setting', setting: Setting } | Exclude<CallResult, { kind: 'reply' }>> {
    let setting = first
    let batch = this.compose(backlog, setting)
    const tried = new Set<UpkeepStep>()
    while (batch.messages.length > 0 && !this.conversation.fresh) {
      const plan = planUpkeep(this.sizes(batch, setting), tried, this.possible(setting))
      if (plan.kind === 'none') break
      tried.add(plan.kind)
      this.port.debug(`upkeep: ${plan.kind}, ${plan.reason}`)
      await this.upkeep(plan.kind, backlog, setting, signal)
      if (signal.aborted) return { kind: 'aborted' }
      const again = await this.prepare(signal)
      if (again.kind !== 'setting') return again
      setting = again.setting
      batch = this.compose(backlog, setting)
    }
    if (batch.messages.length > 0) {
      for (const message of batch.messages) this.seen.add(textOf(message.content))
      this.inquiry = new Inquiry(batch, backlog.last?.number ?? 0, this.port.clock.now())
    }
    return { kind: 'setting', setting }
  }

  private async upkeep(step: UpkeepStep, backlog: Backlog, setting: Setting, signal: AbortSignal): Promise<void> {
    switch (step) {
      case 'drop-results': return this.dropResults()
      case 'promote':
        this.long = true
        return
      case 'summarise': return this.summarise(setting, signal)
      case 'clear': {
        this.clear()
        const { entries, at } = this.port.present()
        backlog.restart(entries, at)
      }
    }
  }

  /** Have the reviewer put its older reviews into words of its own. A summary that fails changes nothing. */
  private async summarise(setting: Setting, signal: AbortSignal): Promise<void> {
    this.reread = 0
    const { epoch } = this
    const result = await this.call(setting, this.conversation.with(toMessages([summaryRequest.trim()])), signal)
    if (result.kind !== 'reply' || epoch !== this.epoch) return
    const summary = textOf(result.message.content)
    if (summary.trim() === '' || judgeReply(result.message, this.seen).kind === 'unsafe') return
    const kept = this.conversation.newestWithin(setting.bound * KEPT_SHARE, messageTokens)
    this.conversation.replaceOlder(toMessages([...renderHead(this.pinned(), []), renderSummary(summary)]), kept)
    this.forgetShown()
  }

  private dropResults(): void {
    if (this.conversation.dropResults()) this.known.clear()
  }

  /** Whether nothing more may be looked up for want of room; old results go first. */
  private isFull(inquiry: Inquiry, setting: Setting): boolean {
    const size = () => this.sizeOf(this.conversation.with(inquiry.messages), setting)
    if (size() <= setting.bound) return false
    this.dropResults()
    return size() > setting.bound
  }

  private compose(backlog: Backlog, setting: Setting): Batch {
    const { config } = setting
    const input = {
      updates: backlog.take().map(update => this.veil.update(update)),
      pinned: this.conversation.fresh ? this.pinned() : this.port.pinned(),
      fresh: this.conversation.fresh, gap: backlog.gap, shownPlan: this.shownPlan, remarks: this.remarks,
      stale: this.port.stale(), sameResult: this.results.find, hide: (texts: readonly string[]) => this.veil.texts(texts),
    }
    const batch = composeBatch(input, config)
    const [size, room] = [messageTokens(batch.messages) * this.scale, setting.bound * BATCH_SHARE]
    if (size <= room) return batch
    return composeBatch(input, { ...config, maxDeltaChars: Math.floor(Math.min(config.maxDeltaChars, textLength(batch.messages)) * room / size) })
  }

  private prepare(signal: AbortSignal) {
    return this.desk.prepare(this.long, text => this.veil.text(text), this.callOptions(signal))
  }

  private async call(setting: Setting, messages: Message[], signal: AbortSignal): Promise<CallResult> {
    this.tally.calls += 1
    const result = await callModel(this.port.llm, setting.request(messages), this.callOptions(signal))
    if (result.kind === 'aborted') return result
    this.tally.charge(result.usage)
    if (result.kind === 'failed') this.tally.failed += 1
    else if (result.usage !== undefined) this.calibrate(result.usage, setting.fixed + messageTokens(messages))
    return result
  }

  private calibrate({ inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: { inputTokens: number, cacheReadTokens?: number, cacheWriteTokens?: number }, estimate: number): void {
    const reported = inputTokens + cacheReadTokens + cacheWriteTokens
    if (reported > 0) this.scale = Math.min(GREATEST_SCALE, Math.max(LEAST_SCALE, reported / estimate))
  }

  private sizes(batch: Batch, setting: Setting): Sizes {
    return {
      next: this.sizeOf(this.conversation.with(batch.messages), setting), bound: setting.bound,
      rebuilt: this.rebuiltSize(setting), reread: this.reread,
    }
  }

  private sizeOf(messages: readonly Message[], { fixed }: Setting): number {
    return (fixed + messageTokens(messages)) * this.scale
  }

  private rebuiltSize({ fixed }: Setting): number {
    return fixed * this.scale + 2 * SUMMARY_TOKENS
  }

  private possible({ config }: Setting): readonly UpkeepStep[] {
    const longer = !this.long && longRouteOf(config) !== undefined
    return UPKEEP_STEPS.filter(step => (step !== 'promote' || longer) && (step !== 'summarise' || this.conversation.length > 1))
  }

  /** Nothing that later texts could refer to stands in the conversation. */
  private forgetShown(): void {
    this.results.clear()
    this.known.clear()
    this.desk.forgetTools()
    this.shownPlan = undefined
    this.reread = 0
    this.long = false
  }

  private pinned(): Pinned {
    return this.veil.value(this.port.pinned())
  }

  private async readFile(path: string): Promise<string | undefined> {
    const text = await this.port.readFile(path)
    return text === undefined ? undefined : this.veil.text(text)
  }

  private callOptions(signal: AbortSignal): CallOptions {
    return { timeoutMs: this.port.config().timeout * 1000, clock: this.port.clock, signal }
  }
}

function textLength(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + textOf(message.content).length, 0)
}
