// One reviewer's talk with its model: what it is shown, what it looks up and what it says. One review at a time. It knows
// neither when a review is due nor what a failure means.

import type { AssistantMessage, GenerateOptions, LlmFailure, Message, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import { textOf } from '../observe/entry.ts'
import { indentFraming } from '../observe/markdown.ts'
import { Veil } from '../observe/hide.ts'
import summaryRequest from '../prompts/summary.md'
import type { ReviewRecord } from '../record/journal.ts'
import type { Tally } from '../record/ledger.ts'
import type { Backlog } from './backlog.ts'
import { composeBatch, lengthOf, type Batch } from './batch.ts'
import { callModel, type CallOptions, type CallResult } from './call.ts'
import { KnownCalls, UNCHANGED } from './calls.ts'
import type { ChatPort, Exhausted, ReviewEnd } from './chat-port.ts'
import { Conversation, toMessages, type AnsweredCall } from './conversation.ts'
import { Desk, type Setting } from './desk.ts'
import { Seen } from './evidence.ts'
import { billedFor, describeFailure } from './failure.ts'
import { renderHead, renderSummary, type Pinned } from './head.ts'
import { correction, Inquiry, type Asking } from './inquiry.ts'
import { Meter, type Load } from './meter.ts'
import { Minutes } from './minutes.ts'
import { longRouteOf, routeKey, type Route } from './model.ts'
import { judgeReply } from './quarantine.ts'
import { readReply, type Verdict } from './reply.ts'
import { ShownResults } from './results.ts'
import { CALLS_KEPT, tidyReply } from './tidy.ts'
import { planUpkeep, UPKEEP_STEPS, type UpkeepStep } from './upkeep.ts'
import { weigh } from './weigh.ts'

export type { ChatPort, Exhausted, Present, ReviewEnd } from './chat-port.ts'

/** Milliseconds after which a review may ask for no more. */
const INQUIRY_MS = 120_000
/** Shares of the bound: what one batch may take, the head before a summary, and what has to be free for a look. */
const BATCH_SHARE = 0.5
const HEAD_SHARE = 0.25
const LOOK_SHARE = 0.1
/** Share of the conversation, or of the bound, whose newest reviews outlive a summary. */
const KEPT_SHARE = 0.15
/** A delta is never cut to fewer characters. */
const LEAST_DELTA = 1_000

export class Chat {
  private readonly port: ChatPort
  private readonly account: Tally
  private readonly minutes = new Minutes()
  private readonly desk: Desk
  private readonly conversation = new Conversation()
  private readonly results = new ShownResults()
  private readonly known = new KnownCalls()
  private readonly seen = new Seen()
  private readonly veil = new Veil()
  private readonly meter = new Meter()
  /** The review under way, or one that a failed call broke off. */
  private inquiry: Inquiry | undefined
  /** The model and the way of answering that the conversation began with. */
  private heldWith = ''
  /** Whether it goes on with the model for long conversations. */
  private longer: 'unused' | 'used' | 'failed' = 'unused'
  /** Plan-mode rules that stand in the conversation. */
  private shownPlan: string | undefined
  /** What the reviewer is to know, for the next request. */
  private remarks: readonly string[] = []
  /** Grows with every reset; a review begun before one does not write into the conversation after it. */
  private epoch = 0

  constructor(port: ChatPort, account: Tally) {
    this.port = port
    this.account = account
    this.desk = new Desk(port)
  }

  /** The request that would go on now: all that the reviewer has been shown and that it said. None before its first review. */
  get transcript(): GenerateOptions | undefined {
    return this.desk.setting?.request(this.conversation.with(this.inquiry?.messages ?? []))
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

  /** Give up a review that was broken off: what it looked up stands nowhere. */
  abandon(): void {
    this.inquiry = undefined
    this.known.clear()
  }

  /** Show what waits, answer what the reviewer asks, and hand on what it says. Never throws on a failed call. */
  async review(backlog: Backlog, signal: AbortSignal): Promise<ReviewEnd> {
    await this.port.refreshed()
    // What was shown before it had to be hidden must not be sent again.
    if (this.veil.use(await this.port.hider())) this.clear()
    const held = `${routeKey(this.port.route())} ${this.port.config().tools.length === 0 ? 'frame' : 'tools'}`
    if (this.heldWith !== held) this.clear()
    this.heldWith = held
    const prepared = await this.prepare(signal)
    if (prepared.kind !== 'setting') return prepared
    let { setting } = prepared
    // A review that was never answered is shown what has come since, too; one that was, goes on.
    if (this.inquiry?.exchanged.length === 0) this.inquiry = undefined
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
    for (;;) {
      const messages = this.conversation.with(inquiry.messages)
      this.meter.count(messages, setting)
      const result = await this.call(setting, messages, signal)
      if (result.kind === 'failed' && setting.long) {
        this.leaveLonger(setting.route, result.failure)
        this.abandon()
        return this.review(backlog, signal)
      }
      if (result.kind !== 'reply') return this.breakOff(inquiry, result)
      const end = await this.hear(result, inquiry, setting, signal)
      if (signal.aborted) return this.breakOff(inquiry, { kind: 'aborted', usage: undefined })
      if (end !== undefined || !this.stands(inquiry)) {
        this.count(end, inquiry, result.cut)
        this.write(this.minutes.take(inquiry, inquiry.advised ? 'advice' : end === 'advice' || end === undefined ? 'silent' : end, this.port.clock.now()))
        if (this.stands(inquiry)) this.settle(inquiry, backlog)
        return { kind: 'reviewed' }
      }
    }
  }

  /** A review ends without a verdict; it may go on later. */
  private breakOff(inquiry: Inquiry, end: Exclude<ReviewEnd, { kind: 'reviewed' | 'nothing' }>): ReviewEnd {
    this.write(this.minutes.breakOff(inquiry, end, this.port.clock.now(), text => this.veil.text(text)))
    return end
  }

  /** What was shown has its secrets replaced; a reply may hold some that were not. */
  private write(record: ReviewRecord | undefined): void {
    if (record !== undefined) this.port.onReviewed({ ...record, replies: this.veil.value(record.replies), notes: this.veil.value(record.notes) })
  }

  /** Whether the conversation that a review began in is still the same. */
  private stands(inquiry: Inquiry): boolean {
    return this.inquiry === inquiry
  }

  /** Hear one reply. Returns how the review ended with it, or undefined while the reviewer still looks. */
  private async hear({ message }: Extract<CallResult, { kind: 'reply' }>, inquiry: Inquiry, setting: Setting, signal: AbortSignal): Promise<Verdict['kind'] | undefined> {
    const judgement = judgeReply(message, this.seen)
    if (judgement.kind === 'unsafe') {
      this.account.count('quarantined')
      this.port.debug(`reply thrown away: ${judgement.reason}`)
      this.port.onQuarantine(judgement.reason)
      this.minutes.replied(message, [])
      return 'no-verdict'
    }
    const asked = message.content.filter((block): block is ToolCallBlock => block.type === 'tool-call' && setting.granted.has(block.name))
    const verdict = readReply({ content: message.content.filter(block => !(asked as unknown[]).includes(block)) }, this.port.isContentFree, text => this.seen.has(text))
    if (verdict.kind === 'no-verdict') this.port.debug(`no verdict: ${verdict.reason}`)
    const { findings, heard, remarks, refused } = await weigh(verdict, {
      policy: setting.config.evidence, seen: this.seen, readFile: path => this.port.readFile(path), hide: text => this.veil.text(text),
    })
    if (signal.aborted) return 'silent'
    for (const line of refused) this.port.debug(`note refused, ${line}`)
    for (const remark of remarks) this.remark(remark)
    if (verdict.kind === 'advice') inquiry.advised = true
    if (findings.length > 0) this.minutes.gave(this.port.advise(findings, inquiry.span[1], inquiry))
    if (asked.length === 0) {
      // Silence leaves no trace, and neither does prose; what was called has to be answered.
      if (verdict.kind === 'advice' || heard.length > 0) this.keep(inquiry, message, heard)
      else this.minutes.replied(message, [])
      return verdict.kind
    }
    if (!this.stands(inquiry)) return undefined
    const room = this.roomLeft(inquiry, message, setting)
    const asking = inquiry.judge(asked, { calls: setting.config.toolCalls, ms: INQUIRY_MS }, this.port.clock.now(), room <= 0)
    if (asking.kind === 'end') this.port.debug(`the review ended, for it was told before: ${asking.reason}`)
    const answers = asking.kind === 'run'
      ? await this.investigate(asked, { calls: Math.min(asking.calls, CALLS_KEPT - heard.length), room }, inquiry, setting, signal)
      : asked.map(call => ({ call, answer: correction(asking.reason), failed: true }))
    // What ends as silence leaves no trace either, unless something was said with it.
    if (asking.kind !== 'end' || heard.length > 0) this.keep(inquiry, message, [...heard, ...answers], asking.kind)
    return asking.kind === 'end' ? 'silent' : undefined
  }

  private keep(inquiry: Inquiry, message: AssistantMessage, calls: readonly AnsweredCall[], asking?: Asking['kind']): void {
    const inOrder = message.content.flatMap(block => calls.filter(({ call }) => call === block))
    const kept = tidyReply(message, inOrder)
    inquiry.add(kept.message, kept.calls, asking)
    this.minutes.replied(kept.message, kept.calls)
  }

  /** Run so many calls of one reply side by side; together their results take the room there is. */
  private async investigate(calls: readonly ToolCallBlock[], left: { calls: number, room: number }, inquiry: Inquiry, setting: Setting, signal: AbortSignal): Promise<AnsweredCall[]> {
    const { tools } = this.port
    const running = tools === undefined ? [] : calls.slice(0, Math.max(0, left.calls))
    this.account.count('lookups', running.length)
    const results = await Promise.all(running.map(call => tools!.run(call, [...setting.granted], signal)))
    // After a reset nothing of it stands anywhere.
    if (!this.stands(inquiry)) return []
    const texts = this.veil.texts(results.map(({ text }) => indentFraming(text)))
    const answers = this.known.answerAll(running, texts, left.room)
    for (const answer of answers) if (answer !== UNCHANGED) this.seen.add(answer)
    return calls.map((call, index) => ({
      call, answer: answers[index] ?? correction('too many calls'), failed: results[index]?.isError ?? true,
    }))
  }

  private settle(inquiry: Inquiry, backlog: Backlog): void {
    const { batch } = inquiry
    this.conversation.commit(batch.messages, inquiry.exchanged)
    this.results.add(backlog.settle().map(update => this.veil.update(update)), batch.shown)
    this.shownPlan = batch.plan
    this.remarks = this.remarks.slice(batch.remarks)
    this.port.onReconfirmed(batch.asked)
    this.inquiry = undefined
  }

  private count(end: Verdict['kind'] | undefined, inquiry: Inquiry, cut: boolean): void {
    this.account.count('reviews')
    if (inquiry.advised) return
    if (end === 'no-verdict' || cut) this.account.count('noVerdict')
    else this.account.count('silent')
  }

  /** Compose the next batch, and make room for it first where that is due. */
  private async begin(backlog: Backlog, first: Setting, signal: AbortSignal): ReturnType<Desk['prepare']> {
    let setting = first
    let batch = this.compose(backlog, setting)
    const tried = new Set<UpkeepStep>()
    while (batch.messages.length > 0 && !this.conversation.fresh) {
      const plan = planUpkeep(this.meter.sizes(this.conversation.with(batch.messages), withRoomToLook(setting)), tried, this.possible(setting))
      if (plan.kind === 'none') break
      tried.add(plan.kind)
      this.port.debug(`upkeep: ${plan.kind}, ${plan.reason}`)
      await this.upkeep(plan.kind, backlog, setting, signal)
      if (signal.aborted) return { kind: 'aborted', usage: undefined }
      const again = await this.prepare(signal)
      if (again.kind !== 'setting') return again
      setting = again.setting
      batch = this.compose(backlog, setting)
    }
    if (batch.messages.length > 0) {
      for (const message of batch.messages) this.seen.add(textOf(message.content))
      this.inquiry = new Inquiry(batch, [backlog.first?.number ?? 0, backlog.last?.number ?? 0], this.port.clock.now())
    }
    return { kind: 'setting', setting }
  }

  private async upkeep(step: UpkeepStep, backlog: Backlog, setting: Setting, signal: AbortSignal): Promise<void> {
    switch (step) {
      case 'drop-results': return this.dropResults()
      case 'promote':
        this.longer = 'used'
        return
      case 'summarise': return this.summarise(setting, signal)
      case 'clear': {
        const { entries, at } = this.port.present()
        const { last = { ...at, entries } } = backlog
        // What the agent has done since the last update was cut comes with the next one.
        const end = entries.lastIndexOf(last.entries.at(-1)!)
        this.clear()
        backlog.restart(end < 0 ? entries : entries.slice(0, end + 1), last)
      }
    }
  }

  /** Have the reviewer put its older reviews into words of its own. A summary that fails changes nothing. */
  private async summarise(setting: Setting, signal: AbortSignal): Promise<void> {
    this.meter.forget()
    const { epoch } = this
    const result = await this.call(setting, this.conversation.with(toMessages([summaryRequest.trim()])), signal)
    if (result.kind !== 'reply' || epoch !== this.epoch) return
    const summary = textOf(result.message.content)
    if (summary.trim() === '' || judgeReply(result.message, this.seen).kind === 'unsafe') return
    const weigh = (messages: readonly Message[]) => this.meter.weigh(messages)
    const kept = this.conversation.newestWithin(Math.min(setting.bound, weigh(this.conversation.messages)) * KEPT_SHARE, weigh)
    const lead = (share: number) => toMessages([...renderHead(this.pinned(), [], share), renderSummary(summary)])
    const whole = lead(1)
    this.conversation.replaceOlder(weigh(whole) <= setting.bound * HEAD_SHARE ? whole : lead(setting.bound * HEAD_SHARE / weigh(whole)), kept)
    this.forgetShown()
  }

  private dropResults(): void {
    if (this.conversation.dropResults()) this.known.clear()
  }

  /** Tokens, by estimate, that may still be looked up behind a reply; none when too little is free. Old results go first. */
  private roomLeft(inquiry: Inquiry, reply: AssistantMessage, setting: Setting): number {
    const room = () => setting.bound - this.meter.request(this.conversation.with([...inquiry.messages, reply]), setting)
    const needed = setting.bound * LOOK_SHARE
    if (room() < needed) this.dropResults()
    return room() < needed ? 0 : this.meter.estimate(room())
  }

  private compose(backlog: Backlog, setting: Setting): Batch {
    const { config } = setting
    const input = {
      updates: backlog.take().map(update => this.veil.update(update)),
      pinned: this.conversation.fresh ? this.pinned() : this.port.pinned(),
      fresh: this.conversation.fresh, gap: this.veil.value(backlog.gap), shownPlan: this.shownPlan, remarks: this.remarks,
      stale: this.port.stale(), sameResult: this.results.find, hide: (texts: readonly string[]) => this.veil.texts(texts),
    }
    const batch = composeBatch(input, config)
    const share = setting.bound * BATCH_SHARE / this.meter.weigh(batch.messages)
    if (share >= 1) return batch
    const delta = lengthOf(batch.messages.slice(-batch.shown.size))
    return composeBatch({ ...input, share }, { ...config, maxDeltaChars: Math.max(LEAST_DELTA, Math.floor(delta * share)) })
  }

  private async prepare(signal: AbortSignal): ReturnType<Desk['prepare']> {
    const prepare = (longer?: Route) => this.desk.prepare(longer, text => this.veil.text(text), this.callOptions(signal))
    const route = this.longer === 'used' ? longRouteOf(this.port.config()) : undefined
    const prepared = await prepare(route)
    if (prepared.kind !== 'failed' || route === undefined) return prepared
    this.leaveLonger(route, prepared.failure)
    return prepare()
  }

  /** The model for long conversations is no help: the configured one goes on, with a conversation that fits it. */
  private leaveLonger(route: Route, failure: LlmFailure): void {
    this.desk.tellLonger(route, describeFailure(failure))
    if (this.longer === 'used') this.longer = 'failed'
  }

  private async call(setting: Setting, messages: Message[], signal: AbortSignal): Promise<CallResult | Exhausted> {
    const tokens = this.meter.request(messages, setting)
    const release = await this.port.reserve(setting.route, tokens, signal)
    try {
      // Whoever was switched off while it got ready asks nothing any more.
      if (signal.aborted) return { kind: 'aborted', usage: undefined }
      const allowed = this.port.mayCall(setting.route, tokens)
      return allowed.kind === 'exhausted' ? allowed : await this.callAtOnce(setting, messages, signal)
    } finally {
      release()
    }
  }

  private async callAtOnce(setting: Setting, messages: Message[], signal: AbortSignal): Promise<CallResult> {
    const sentAt = this.port.clock.now()
    this.account.count('calls')
    const result = await callModel(this.port.llm, setting.request(messages), this.callOptions(signal))
    this.minutes.called(this.account.charge(routeKey(setting.route), billedFor(result)), sentAt)
    if (result.kind === 'failed') this.account.count('failed')
    else if (result.kind === 'reply' && result.usage !== undefined) this.meter.learn(result.usage, messages, setting)
    return result
  }

  private possible({ config }: Setting): readonly UpkeepStep[] {
    const longer = this.longer === 'unused' && longRouteOf(config) !== undefined
    return UPKEEP_STEPS.filter(step => (step !== 'promote' || longer) && (step !== 'summarise' || this.conversation.length > 1))
  }

  /** Nothing that later texts could refer to stands in the conversation. */
  private forgetShown(): void {
    this.results.clear()
    this.known.clear()
    this.desk.forgetTools()
    this.shownPlan = undefined
    this.meter.forget()
    this.longer = 'unused'
  }

  private pinned(): Pinned {
    return this.veil.value(this.port.pinned())
  }

  private callOptions(signal: AbortSignal): CallOptions {
    return { timeoutMs: this.port.config().timeout * 1000, clock: this.port.clock, signal }
  }
}

/** A review that begins has to find room for what it looks up. */
function withRoomToLook({ bound, fixed, granted }: Setting): Load {
  return { bound: granted.size === 0 ? bound : bound * (1 - LOOK_SHARE), fixed }
}
