/** The advisor on the real loop, with the replies of the primary and of the reviewer in the hand of the test. */
import { onTestFinished, vi } from 'vitest'
import type { Fiber } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import type { GenerateOptions, UserMessage } from '@deepseek-ai/dsh-llm'
import * as advisor from '../../src/index.ts'
import { hold, gateOf, text, tool } from './adapter-replies.ts'
import type { Gate, Reply, Script } from './adapter-replies.ts'
import { createLoop, PROVIDER, textOf, userTexts } from './loop.ts'
import type { Loop, LoopOptions } from './loop.ts'
import { settle } from './poll.ts'

/** The least configuration that reviews. Blockers need no evidence, so that a test of anything else need not show any. */
export const REVIEWER = { enabled: true, provider: PROVIDER, model: 'reviewer', evidence: 'off' } as const

/** Answers one model by hand: every request waits until its reply is given, so that the order of events is the test's. */
export class Hand {
  readonly script: Script = (_request, index) => this.held(index)
  private readonly replies: Reply[] = []

  /** The request with this index (from 0), as soon as it comes. */
  asked(index: number): Promise<GenerateOptions> {
    return this.gate(index).reached
  }

  /** Answer the request with this index, whether it has come already or comes later. */
  answer(index: number, reply: Reply): void {
    this.gate(index).release(reply)
  }

  gate(index: number): Gate {
    return gateOf(this.held(index))
  }

  private held(index: number): Reply {
    return this.replies[index] ??= hold(text('ok'))
  }
}

export interface SceneOptions extends Partial<LoopOptions> {
  /** Added to {@link REVIEWER}. */
  readonly config?: object
  /** Scripts in place of the hands. */
  readonly primary?: Script
  readonly reviewer?: Script
  /** What there is before the plugin is mounted. */
  readonly prepare?: (loop: Loop) => Promise<unknown>
}

/** One agent under review. */
export class Scene {
  readonly loop: Loop
  readonly agent: Agent
  readonly fiber: Fiber
  readonly primary: Hand
  readonly reviewer: Hand

  constructor(loop: Loop, agent: Agent, fiber: Fiber, primary: Hand, reviewer: Hand) {
    this.loop = loop
    this.agent = agent
    this.fiber = fiber
    this.primary = primary
    this.reviewer = reviewer
  }

  /** Requests of the primary so far. */
  get steps(): readonly GenerateOptions[] {
    return this.loop.requests.primary
  }

  /** Requests of the reviewer so far. */
  get reviews(): readonly GenerateOptions[] {
    return this.loop.requests.reviewer
  }

  prompt(value: string): Promise<void> {
    return this.loop.prompt(this.agent, value)
  }

  /** Let one held step of the primary be a tool call, and wait for the next request and for what the step set going. */
  async step(index: number, reply: Reply = look(index)): Promise<GenerateOptions> {
    await this.primary.asked(index)
    this.primary.answer(index, reply)
    const request = await this.primary.asked(index + 1)
    // A review begins once the reviewer's files have been looked at.
    await settle()
    return request
  }

  /** Give the review with this index its reply, and let everything that follows from it happen. */
  async review(index: number, reply: Reply = text('ok')): Promise<GenerateOptions> {
    const request = await this.reviewer.asked(index)
    this.reviewer.answer(index, reply)
    await this.loop.settle()
    return request
  }

  /** `/advisor …`, as text. */
  async advisor(words: string, agent: Agent = this.agent): Promise<string> {
    return (await this.loop.command(agent, `/advisor ${words}`))?.text ?? ''
  }

  /** The lines of `/advisor status` by their first word. */
  async status(agent: Agent = this.agent): Promise<Status> {
    return readStatus(await this.advisor('status', agent))
  }

  /** What the plugin told the user through the host's log. */
  get told(): string[] {
    return this.loop.logs.filter(line => line.type === 'warn' && line.text.startsWith('advisor')).map(line => line.text)
  }
}

export type Status = Readonly<Record<'Advisor' | 'Model' | 'Pending' | 'Reviews' | 'Notes' | 'Tokens', string>>

export function readStatus(value: string): Status {
  return Object.fromEntries(value.split('\n').map((line) => {
    const at = line.indexOf(': ')
    return [line.slice(0, at), line.slice(at + 2)]
  })) as Status
}

/** Timers and the time of day in the hand of the test. The event loop itself runs on. */
export function holdTime(): { pass(ms: number): Promise<void>, readonly timers: number } {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  return {
    async pass(ms) {
      await settle()
      await vi.advanceTimersByTimeAsync(ms)
      await settle()
    },
    get timers() { return vi.getTimerCount() },
  }
}

/** Promises that were rejected with nobody listening since the call: each would have ended a real host. */
export function rejections(): readonly unknown[] {
  const seen: unknown[] = []
  const note = (reason: unknown): void => void seen.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  return seen
}

/** A host that goes down with the test, with both models in a hand unless scripted. */
export async function startLoop(options: Partial<LoopOptions>): Promise<Loop> {
  const loop = await createLoop({ invariants: true, commands: true, script: { primary: () => text('done') }, ...options })
  onTestFinished(() => loop.dispose())
  return loop
}

/** A host, the advisor on it, and one agent. */
export async function startScene({ config, primary, reviewer, script, prepare, ...options }: SceneOptions = {}): Promise<Scene> {
  const hands = { primary: new Hand(), reviewer: new Hand() }
  const loop = await startLoop({
    ...options,
    script: { ...script, primary: primary ?? hands.primary.script, reviewer: reviewer ?? hands.reviewer.script },
  })
  await prepare?.(loop)
  const fiber = await loop.mount(advisor, { ...REVIEWER, ...config })
  const agent = await loop.agent()
  // The files of the reviewers have been looked at before a user can speak.
  await settle()
  return new Scene(loop, agent, fiber, hands.primary, hands.reviewer)
}

/** A step that only looks; each index at something else. */
export function look(index: number): Reply {
  return tool('read', { file_path: `file-${index}.txt` })
}

/** What the user types. */
export function said(value: string): UserMessage {
  return createUserMessage({ content: [{ type: 'text', text: value }], source: { kind: 'user' } })
}

/** The advisory messages that a request holds, oldest first. */
export function advisories(request: GenerateOptions | undefined): string[] {
  return request === undefined ? [] : userTexts(request).filter(value => value.startsWith('<advisory'))
}

/** The notes in a request as `severity: text`, oldest first. */
export function notes(request: GenerateOptions | undefined): string[] {
  return advisories(request).flatMap(value => (
    [...value.matchAll(/\[advisor:(\w+)\] ([\s\S]*?)\n<\/advisory>/g)].map(([, severity, body]) => `${severity}: ${body}`)
  ))
}

/** Everything that a request shows its model, system text left out. */
export function shown(request: GenerateOptions | undefined): string {
  return (request?.messages ?? []).map(message => message.content.map((block) => {
    if (block.type === 'tool-call') return `${block.name}(${block.arguments})`
    return block.type === 'tool-result' ? textOf(block.content) : textOf([block])
  }).join('\n')).join('\n\n')
}

/** The texts of a request that an earlier one did not hold. */
export function added(request: GenerateOptions | undefined, earlier: GenerateOptions | undefined): string[] {
  return (request === undefined ? [] : userTexts(request)).slice(earlier === undefined ? 0 : userTexts(earlier).length)
}
