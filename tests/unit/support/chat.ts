/** One reviewer's talk with a scripted model and scripted tools, everything around it in the hand of the test. */
import { SessionId } from '@deepseek-ai/dsh-session'
import { CallId } from '@deepseek-ai/dsh-llm'
import type { GenerateOptions, LlmFailure, LlmResolvedModelInfo, Message, StreamChunk } from '@deepseek-ai/dsh-llm'
import { defaults, type Config } from '../../../src/config/schema.ts'
import { isContentFree } from '../../../src/deliver/guard.ts'
import type { Finding } from '../../../src/finding.ts'
import { textOf, type Entry } from '../../../src/observe/entry.ts'
import type { Update } from '../../../src/observe/fold.ts'
import type { Hider } from '../../../src/observe/hide.ts'
import type { ReviewRecord } from '../../../src/record/journal.ts'
import { Account } from '../../../src/record/ledger.ts'
import type { Counts } from '../../../src/record/totals.ts'
import { Backlog } from '../../../src/review/backlog.ts'
import { Chat, type ChatPort, type ReviewEnd } from '../../../src/review/chat.ts'
import type { Pinned } from '../../../src/review/head.ts'
import { routeOf } from '../../../src/review/model.ts'
import { messageTokens } from '../../../src/review/upkeep.ts'
import { HandClock } from './clock.ts'
import { failed, FakeModel, INFO, stop } from './model.ts'

/** What the model says to one request: text, calls by name and arguments, or a failure. */
export interface Said {
  readonly text?: string
  readonly calls?: readonly (readonly [name: string, args: object])[]
  readonly fails?: Partial<LlmFailure>
  /** Runs before the reply goes out. */
  readonly first?: () => void
}

const SCHEMA = { description: 'd', parameters: { type: 'object', properties: {} } }

export class Talk {
  readonly backlog = new Backlog()
  readonly clock = new HandClock()
  readonly account = new Account({ clock: this.clock, prices: () => ({}) })
  readonly llm = new FakeModel()
  readonly lifetime = new AbortController()
  readonly requests: GenerateOptions[] = []
  readonly advised: { readonly findings: readonly Finding[], readonly update: number }[] = []
  readonly told: string[] = []
  readonly lookups: string[] = []
  readonly reconfirmed: number[] = []
  readonly reviewed: ReviewRecord[] = []
  config: Config = { ...defaults, provider: 'p', model: 'm', longContextModel: '' }
  pinned: Pinned = { cwd: '/w', task: 'Fix a.', latest: 'Fix a.', instructions: [], notes: [], muted: [], planRules: undefined }
  /** All that the agent did, as the fold keeps it. */
  past: Entry[] = []
  hider: Hider | undefined
  /** What a tool answers. */
  look: (name: string, args: string) => string | Promise<string> = () => 'nothing found'
  /** A file of the workspace. */
  readFile: (path: string) => Promise<string | undefined> = async () => undefined
  /** The next replies, in order; `ok` once they are used up. */
  script: Said[] = []
  /** Replies to the request for a summary, which is no part of the script. */
  summary: Said = { text: 'The agent works on a.' }
  readonly chat: Chat
  private calls = 0
  private number = 0

  constructor() {
    this.llm.onCall = (call) => {
      this.requests.push(call.request)
      const asked = textOf(call.request.messages.at(-1)?.content ?? [])
      const { text = '', calls = [], fails, first } = asked.startsWith('Your conversation has grown long') ? this.summary : this.script.shift() ?? { text: 'ok' }
      first?.()
      if (fails !== undefined) return void call.send(failed(fails)).end()
      const chunks: StreamChunk[] = text === '' ? [] : [{ type: 'text-delta', index: 0, text }]
      calls.forEach(([name, args], index) => {
        chunks.push({ type: 'tool-call-delta', index: index + 1, id: CallId(`c${this.calls += 1}`), name, argumentsDelta: JSON.stringify(args) })
      })
      // As many tokens as we estimate, so that sizes stay what they are.
      const usage: StreamChunk = { type: 'usage', usage: { inputTokens: this.sizeOf(call.request), outputTokens: 10 } }
      call.send(...chunks, usage, stop).end()
    }
    this.chat = new Chat(this.port(), this.account)
  }

  /** Let the model of a name say what its window is. */
  windows(sizes: Readonly<Record<string, number>>): void {
    this.llm.resolveModelInfo = (_provider?: string, model = '') => {
      const contextWindow = sizes[model]
      return contextWindow === undefined
        ? Promise.reject(Object.assign(new Error('gone'), { failure: { code: 'UNKNOWN_MODEL', message: 'gone' } }))
        : Promise.resolve<LlmResolvedModelInfo>({ ...INFO, context: { contextWindow } })
    }
  }

  /** The agent did something: one update more waits. */
  work(...texts: readonly string[]): Update {
    const entries = texts.map((text): Entry => ({ kind: 'agent', seq: this.past.length, text, reasoning: '', interrupted: false }))
    this.past = [...this.past, ...entries]
    this.number += 1
    const update: Update = { number: this.number, turn: 1, step: this.number, boundary: 'step', mutated: false, final: false, entries }
    this.backlog.push(update, 32)
    return update
  }

  review(...script: readonly Said[]): Promise<ReviewEnd> {
    this.script = [...script]
    return this.chat.review(this.backlog, this.lifetime.signal)
  }

  get tally(): Readonly<Counts> {
    return this.account.totals.counts
  }

  get last(): GenerateOptions {
    return this.requests.at(-1)!
  }

  /** Tokens of a request, by estimate. */
  sizeOf({ system = '', messages, tools = [] }: GenerateOptions): number {
    return Math.ceil(system.length / 4) + Math.ceil(JSON.stringify(tools).length / 4) + messageTokens(messages)
  }

  private port(): ChatPort {
    const talk = this
    return {
      llm: this.llm, clock: this.clock, sessionId: SessionId('s-advisor'),
      tools: {
        offer: async names => ({ schemas: names.map(name => ({ ...SCHEMA, name })), unknown: [] }),
        async run({ name, arguments: args }) {
          talk.lookups.push(`${name} ${args}`)
          return { text: await talk.look(name, args), isError: false }
        },
      },
      config: () => this.config,
      route: () => routeOf(this.config),
      reserve: async () => () => {},
      mayCall: () => ({ kind: 'fine' }),
      onReviewed: record => void this.reviewed.push(record),
      brief: () => ({ guidance: '', instructions: '' }),
      tell: line => void this.told.push(line),
      pinned: () => this.pinned,
      present: () => ({ entries: this.past, at: { number: this.number, turn: 1, step: this.number, final: false } }),
      stale: () => [],
      refreshed: async () => {},
      hider: async () => this.hider,
      readFile: path => this.readFile(path),
      onReconfirmed: ids => void this.reconfirmed.push(...ids),
      advise: (findings, update) => {
        this.advised.push({ findings, update })
        return []
      },
      onQuarantine: () => {},
      isContentFree,
      debug: () => {},
    }
  }
}

/** All that a request shows, one text a block. */
export function shown({ messages }: { readonly messages: readonly Message[] }): string {
  return messages.map(message => message.content.map((block) => {
    if (block.type === 'tool-call') return `${block.name}(${block.arguments})`
    return block.type === 'tool-result' ? textOf(block.content) : block.type === 'text' ? block.text : ''
  }).join('\n')).join('\n')
}

/** Calls of a request without an answer, and answers without a call. */
export function unanswered({ messages }: { readonly messages: readonly Message[] }): string[] {
  const blocks = messages.flatMap(message => [...message.content])
  const calls = blocks.flatMap(block => block.type === 'tool-call' ? [String(block.id)] : [])
  const answers = blocks.flatMap(block => block.type === 'tool-result' ? [String(block.toolCallId)] : [])
  return [...calls.filter(id => !answers.includes(id)), ...answers.filter(id => !calls.includes(id))]
}

/** Whether a request begins with the whole of an earlier one. */
export function extendsIt(request: GenerateOptions, earlier: GenerateOptions): boolean {
  return earlier.messages.every((message, index) => request.messages[index] === message)
}
