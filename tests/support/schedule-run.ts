/** Playing a schedule on the real loop, with every delay in hand, and keeping account of what was done. */
import { onTestFinished, vi } from 'vitest'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import type { GenerateOptions, UserMessage } from '@deepseek-ai/dsh-llm'
import { adviseCall, call, calls, fail, text } from './adapter-replies.ts'
import type { Reply, ToolCall } from './adapter-replies.ts'
import { holdTime, shown, startScene } from './loop-advised.ts'
import type { Scene } from './loop-advised.ts'
import { isAdvice, listed, readNotes } from './loop-moments.ts'
import type { Listed } from './loop-moments.ts'
import { settle } from './poll.ts'
import { finding } from './schedule.ts'
import type { Act, Schedule, Speech, Stop } from './schedule.ts'

const SETTLED = 8

export interface Outcome {
  readonly scene: Scene
  readonly notes: readonly Listed[]
  /** Words of notes that a review has brought to its end without being given up. */
  readonly raised: ReadonlySet<string>
  /** Words of notes the user put away before the primary had read them. */
  readonly dismissed: ReadonlySet<string>
  /** Length of the log when the run was stopped from outside. */
  readonly stops: readonly number[]
  /** Length of the log when somebody else than the advisor said something that wakes. */
  readonly wakes: readonly number[]
  /** What was wrong on the way, in words. */
  readonly seen: readonly string[]
  readonly timersLeft: number
}

/** Play it to its end: everything answered, and two more prompts of the user. `advised: false` plays it without a reviewer. */
export async function play(schedule: Schedule, advised = true): Promise<Outcome> {
  const time = holdTime()
  const scene = await startScene({
    config: { ...schedule.config, enabled: advised }, compaction: true, planMode: true, invariants: !schedule.tainted,
  })
  if (schedule.headless) {
    scene.loop.ctx.provide('headlessStartup', { task: '' } as never)
    const spy = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => spy.mockRestore())
  }
  const doors = keepDoors(scene, schedule)
  const player = new Player(scene, schedule, advised, time, doors)
  for (const move of schedule.moves) {
    await player.act(move)
    await player.wait(move.pause)
  }
  await player.finish()
  const notes = advised ? await listed(scene) : []
  await scene.fiber.dispose()
  return { scene, notes, ...player.account, timersLeft: time.timers }
}

class Player {
  readonly account = {
    raised: new Set<string>(), dismissed: new Set<string>(), stops: [] as number[], wakes: [] as number[], seen: [] as string[],
  }
  private readonly scene: Scene
  private readonly schedule: Schedule
  private readonly advised: boolean
  private readonly time: { pass(ms: number): Promise<void> }
  private readonly doors: Doors
  private answered = 0
  private readonly reviewed = new Set<number>()
  /** Notes of a reply that is out, but may not have been read yet. */
  private fresh: string[] = []
  private said = 0

  constructor(scene: Scene, schedule: Schedule, advised: boolean, time: { pass(ms: number): Promise<void> }, doors: Doors) {
    this.scene = scene
    this.schedule = schedule
    this.advised = advised
    this.time = time
    this.doors = doors
  }

  async act(act: Act): Promise<void> {
    const { scene: { agent, loop } } = this
    switch (act.kind) {
      case 'step': return this.step()
      case 'review': return this.review(act.speech)
      case 'say': return this.say(act.who, act.how)
      case 'stop': return this.stop(act.how)
      case 'compact':
        if (agent.status === 'idle') await this.compact()
        return
      case 'plan':
        await loop.command(agent, act.on ? '/plan' : '/plan off')
        return
      case 'time': return this.time.pass(act.ms)
      case 'let': return void this.doors.letGo()
      case 'advisor':
        if (!this.advised) return
        // What was said in the same breath may or may not have been heard.
        if (act.word === 'off') for (const words of this.fresh) this.account.raised.delete(words)
        await this.scene.advisor(act.word)
        return
      case 'dismiss':
        if (this.advised) await this.dismiss(act.pick)
    }
  }

  /** Let some turns of the event loop pass; after {@link SETTLED} everything that can happen has happened. */
  async wait(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await new Promise(resolve => void setImmediate(resolve))
    if (turns < SETTLED) return
    this.fresh = []
    const { agent, loop } = this.scene
    const queued = agent.status === 'idle' && [...agent.inbox.nextStep, ...agent.inbox.nextTurn].some(isAdvice)
    if (queued) this.account.seen.push(`advice is queued and nothing will take it, at ${loop.events(agent).length}`)
  }

  /** Everything that is open is answered and the user speaks twice, so that nothing has a reason to wait any more. */
  async finish(): Promise<void> {
    this.doors.open()
    if (this.advised) await this.scene.advisor('on')
    await this.scene.loop.command(this.scene.agent, '/plan off')
    await this.quiesce()
    for (let prompt = 0; prompt < 2; prompt += 1) {
      this.say('user', 'followup')
      await this.quiesce()
    }
  }

  private async quiesce(): Promise<void> {
    for (let round = 0; round < 60; round += 1) {
      await settle()
      const step = this.openStep()
      const review = this.openReview()
      if (step !== undefined) this.answer(step, text(`end ${step}`))
      else if (review !== undefined) this.scene.reviewer.answer(this.close(review), text('ok'))
      else if (this.doors.letGo()) continue
      else if (this.isHanging()) this.stop('escape')
      else if (this.scene.agent.status === 'running' || round < 2) await this.time.pass(31_000)
      else return
    }
    throw new Error(`it never comes to rest\n${this.scene.loop.describe()}`)
  }

  private step(): void {
    const step = this.openStep()
    if (step !== undefined) this.answer(step, this.schedule.replies[step] ?? text(`answer ${step}`))
  }

  private answer(index: number, reply: Reply): void {
    this.answered = index + 1
    this.scene.primary.answer(index, reply)
  }

  /** The primary's request that waits, none when the last one was answered or given up. */
  private openStep(): number | undefined {
    const index = this.scene.steps.length - 1
    return index >= this.answered && this.scene.steps[index]?.signal?.aborted !== true ? index : undefined
  }

  private isHanging(): boolean {
    const index = this.scene.steps.length - 1
    return this.scene.agent.status === 'running' && this.schedule.replies[index]?.kind === 'hang' && this.answered === index + 1
  }

  private openReview(): number | undefined {
    const index = this.scene.reviews.length - 1
    return index >= 0 && !this.reviewed.has(index) && this.scene.reviews[index]?.signal?.aborted !== true ? index : undefined
  }

  private close(review: number): number {
    this.reviewed.add(review)
    return review
  }

  private review(speech: Speech): void {
    const index = this.openReview()
    if (index === undefined) return
    this.close(index)
    if (speech.fails) return this.scene.reviewer.answer(index, fail({ code: 'SERVER', status: 500 }))
    this.fresh = speech.notes.map(({ n }) => finding(n))
    for (const words of this.fresh) this.account.raised.add(words)
    this.scene.reviewer.answer(index, spoken(speech, this.scene.reviews[index]))
  }

  private say(who: 'user' | 'plugin', how: 'followup' | 'steer' | 'inject'): void {
    if (how !== 'inject') this.account.wakes.push(this.scene.agent.session.events.length)
    this.scene.agent[how](words(who, `${who} ${how} ${this.said++}`))
  }

  private stop(how: Stop): void {
    const { agent } = this.scene
    if (agent.status === 'running' && !how.startsWith('hook')) this.account.stops.push(agent.session.events.length)
    if (how === 'send-now') {
      agent.cancel({ kind: 'user' })
      this.say('user', 'followup')
    } else if (how === 'parent') agent.cancel({ kind: 'parent' })
    else if (how === 'escape') agent.cancel({ kind: 'user' }, { keepInbox: true })
    else agent.cancel({ kind: 'hook', reason: 'a rule of the house' }, { keepInbox: how === 'hook' })
  }

  private async compact(): Promise<void> {
    const { agent, loop } = this.scene
    await Promise.try(() => loop.ctx.compaction.compactNow(agent, new AbortController().signal)).catch(() => {})
  }

  private async dismiss(pick: number | undefined): Promise<void> {
    const before = readNotes(await this.scene.advisor('notes'))
    const open = before.filter(note => ['waiting', 'queued', 'card'].includes(note.standing))
    const chosen = pick === undefined ? open : before.slice(pick % Math.max(1, before.length)).slice(0, 1)
    await this.scene.advisor(pick === undefined ? 'dismiss all' : `dismiss ${chosen[0]?.id ?? 0}`)
    if (!this.doors.fixed) for (const note of chosen) if (open.includes(note)) this.account.dismissed.add(note.text)
  }
}

interface Doors {
  /** From now on no step is touched. */
  open(): void
  /** Let the step go that is held up; false when none is. */
  letGo(): boolean
  /** A step is held up with its messages fixed: nothing can be taken out of it any more. */
  readonly fixed: boolean
}

/** The other plugins of a schedule. */
function keepDoors(scene: Scene, { doors }: Schedule): Doors {
  const held = new Set<() => void>()
  let count = 0
  let fixed = 0
  let open = false
  const { ctx } = scene.loop
  ctx.on('agent/pre-step', async ({ signal }, next) => {
    const door = open ? 'open' : doors[count]
    if (door === 'hold') await hold(signal)
    if (door === 'break') throw new Error('another plugin breaks')
    return door === 'refuse' ? { kind: 'reject' } : next()
  })
  ctx.on('agent/pre-step', async ({ signal }, next) => {
    count += 1
    const door = open ? 'open' : doors[count]
    const decision = await next()
    fixed += 1
    if (door === 'hold outside') await hold(signal)
    fixed -= 1
    return door === 'refuse outside' ? { kind: 'reject' } : decision
  }, { prepend: true })
  return {
    open() { open = true },
    letGo() {
      const [first] = held
      first?.()
      return first !== undefined
    },
    get fixed() { return fixed > 0 },
  }

  async function hold(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    held.add(resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
    await promise
    held.delete(resolve)
  }
}

function words(who: 'user' | 'plugin', value: string): UserMessage {
  return createUserMessage({
    content: [{ type: 'text', text: value }], source: who === 'user' ? { kind: 'user' } : { kind: 'plugin', plugin: 'another' },
  })
}

/** The reply of a speech to a request that may ask about waiting notes. */
function spoken({ notes, waiting }: Speech, request: GenerateOptions | undefined): Reply {
  const asked = [...shown(request).matchAll(/they will be delivered as they stand\]\n(\d+)\. /g)].at(-1)?.[1]
  const number = asked === undefined || waiting === 'leave' ? undefined : Number(asked)
  const parts: ToolCall[] = notes.map(({ n, severity }, index) => (
    number !== undefined && waiting === 'revise' && index === 0
      ? call('advise', { note: finding(n), severity, replaces: number })
      : adviseCall(finding(n), severity)
  ))
  if (number !== undefined && waiting === 'withdraw') parts.push(call('advise', { note: '', replaces: number }))
  return parts.length === 0 ? text('ok') : calls(...parts)
}
