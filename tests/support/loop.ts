/**
 * The real agent loop in one process with a scripted model: sessions, agents, tools, log and cordis are the host's own.
 * Nothing here waits for wall time; a test holds and releases replies, or polls for a fact.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import type { Fiber, Plugin } from '@deepseek-ai/cordis'
import type { Agent, AgentHandle, AgentOptions, CreateAgentOptions } from '@deepseek-ai/dsh-agent'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import type { ResolvedRetryPolicy } from '@deepseek-ai/dsh-llm'
import { SessionId } from '@deepseek-ai/dsh-session'
import type { Session, SessionEvent } from '@deepseek-ai/dsh-session'
import { listenersOf } from './loop-listeners.ts'
import type { Listeners } from './loop-listeners.ts'
import { mountPlugin, mountServices } from './loop-services.ts'
import type { ServiceOptions } from './loop-services.ts'
import { registerTools } from './loop-tools.ts'
import type { ToolScripts } from './loop-tools.ts'
import { poll, settle } from './poll.ts'
import { eventTypes, textOf } from './reading.ts'
import { ScriptedAdapter } from './scripted-adapter.ts'
import type { ModelSpec, Requests, Scripts } from './scripted-adapter.ts'

export type { Listeners } from './loop-listeners.ts'
export { eventTypes, systemText, textOf, toolNames, toolTexts, userTexts } from './reading.ts'

/** The provider route of the scripted models. */
export const PROVIDER = 'mock'

/** What a loop is made of. */
export interface LoopOptions extends ServiceOptions {
  readonly script: Scripts
  /** What the models say of themselves, by model name. */
  readonly models?: Readonly<Record<string, ModelSpec>>
  /** Provider routes of the scripted models. Default: {@link PROVIDER} alone. */
  readonly providers?: readonly string[]
  readonly retryPolicy?: ResolvedRetryPolicy
  /** Scripts of the primary's tools; `false` registers no tool. */
  readonly tools?: ToolScripts | false
  /** A folder kept by the test, for a second loop on the state of the first. Default: a fresh one, later removed. */
  readonly home?: string
}

/** Options of one agent. */
export interface LoopAgentOptions extends AgentOptions {
  /** Session id. Default: `s1`, `s2`, … */
  readonly id?: string
  /** Absolute working directory. Default: `loop.cwd`. */
  readonly cwd?: string
  /** Makes it a subagent of this agent. */
  readonly parent?: Agent
}

/** One line of the host's log. */
export interface LogLine {
  readonly type: string
  readonly name: string
  readonly text: string
}

/** One running host. */
export class Loop {
  /** Host log lines of every level, oldest first. Errors that the host contains are seen only here. */
  readonly logs: LogLine[] = []
  readonly ctx = new Context()
  readonly adapter: ScriptedAdapter
  /** The harness home: `settings.yaml`, `sessions/`, `work/`. `DSH_HOME` points to it until `dispose`. */
  readonly home: string
  /** The default working directory, an empty folder. */
  readonly cwd: string
  private readonly ownsHome: boolean
  private readonly handles = new Map<string, AgentHandle>()
  private count = 0
  private disposal: Promise<void> | undefined

  constructor(adapter: ScriptedAdapter, home: string, ownsHome: boolean) {
    this.adapter = adapter
    this.home = home
    this.cwd = join(home, 'work')
    this.ownsHome = ownsHome
    process.env.DSH_HOME = home
    this.ctx.logger.exporter({
      levels: { default: 3 },
      export: ({ type, name, args }) => {
        const parts = args.map(arg => arg instanceof Error ? arg.message : String(arg))
        this.logs.push({ type, name, text: parts.join(' ') })
      },
    })
  }

  /** Requests of each model, oldest first. */
  get requests(): Requests {
    return this.adapter.requests
  }

  /** Create an agent on a new session. */
  async agent(options: LoopAgentOptions = {}): Promise<Agent> {
    const { id = `s${++this.count}`, cwd = this.cwd, parent, ...agentOptions } = options
    const child = parent === undefined ? {} : {
      parentSession: parent.session.id,
      origin: 'subagent' as const,
      delegationDepth: (parent.session.header.delegationDepth ?? 0) + 1,
    }
    return this.create(parent?.ctx ?? this.ctx, { sessionId: SessionId(id), meta: { cwd, ...child } }, agentOptions)
  }

  /** Close the live agent on this session, if there is one, and resume the session from disk. */
  async resume(sessionId: string, options: AgentOptions = {}): Promise<Agent> {
    await this.close(sessionId)
    const handle = await this.ctx.agents.resume({
      resumeSessionId: SessionId(sessionId), agentOptions: { ...ROUTE, ...options },
    })
    return this.keep(handle)
  }

  /**
   * Fork a session as the host's web front end does: a new agent on a copy of the log up to the last finished turn,
   * or to the end of the turn that holds event `atSeq`.
   */
  async fork(session: Session, atSeq?: number): Promise<Agent> {
    const { events, header } = session
    const boundary = atSeq === undefined
      ? events.findLast(event => event.type === 'turn/end')
      : events.find(event => event.type === 'turn/end' && event.seq >= atSeq)
    if (boundary === undefined) throw new Error(`session "${session.id}" has no finished turn to fork from`)
    let cut = boundary.seq + 1
    while (cut < events.length && events[cut]?.type !== 'turn/start') cut++
    return this.create(this.ctx, {
      sessionId: SessionId(`s${++this.count}`),
      seed: events.slice(0, cut),
      meta: { ...header.cwd === undefined ? {} : { cwd: header.cwd }, parentSession: session.id, seedLength: cut },
    })
  }

  /** Dispose one agent, as a front end does that closes a session. */
  async close(agent: Agent | string): Promise<void> {
    const id = typeof agent === 'string' ? agent : agent.id
    const handle = this.handles.get(id)
    this.handles.delete(id)
    await handle?.dispose()
  }

  /** Send a prompt of the user and wait until the agent is idle again. The prompt is queued before this returns. */
  async prompt(agent: Agent, value: string): Promise<void> {
    agent.followup(createUserMessage({ content: [{ type: 'text', text: value }], source: { kind: 'user' } }))
    await agent.whenIdle()
  }

  /** The session log of an agent. */
  events(agent: Agent): readonly SessionEvent[] {
    return agent.session.events
  }

  /** The last text the agent said, or `''`. */
  lastText(agent: Agent): string {
    const said = agent.session.events.filter(event => event.type === 'assistant/message')
    return said.map(event => textOf(event.data.message.content)).findLast(value => value !== '') ?? ''
  }

  /** Run one slash command of the user. `undefined` when no command answers that line. Needs `commands`. */
  async command(agent: Agent, line: string): Promise<CommandResult | undefined> {
    return (await this.ctx.commands.execute(agent, line, [], new AbortController().signal))?.result
  }

  /** Mount a plugin and wait until it runs; `fiber.dispose()` takes it away. */
  async mount(plugin: Plugin, config?: unknown): Promise<Fiber> {
    return mountPlugin(this.ctx, plugin, config)
  }

  /** See {@link settle}. */
  async settle(): Promise<void> {
    await settle()
  }

  /** Poll until `predicate` holds, and return what it returned. `what` names it in the error. */
  async until<T>(predicate: () => T, what = predicate.toString()): Promise<NonNullable<T>> {
    return poll(predicate, () => `still not true: ${what}\n${this.describe()}`)
  }

  /** What cordis holds, of everything or of one fiber and all below it. */
  listeners(of?: Fiber): Listeners {
    return listenersOf(this.ctx, of)
  }

  /** Take everything down. Rejects when a script was asked for more than it has. Twice is a no-op. */
  async dispose(): Promise<void> {
    return this.disposal ??= this.tearDown()
  }

  private async tearDown(): Promise<void> {
    const down = this.ctx.fiber.dispose()
    this.adapter.close()
    await down
    if (process.env.DSH_HOME === this.home) restoreHome()
    if (this.ownsHome) await rm(this.home, { recursive: true, force: true })
    if (this.adapter.faults.length > 0) throw new AggregateError(this.adapter.faults, this.describe())
  }

  private async create(owner: Context, options: CreateAgentOptions, agentOptions: AgentOptions = {}): Promise<Agent> {
    return this.keep(await owner.agents.create({ ...options, agentOptions: { ...ROUTE, ...agentOptions } }))
  }

  private keep(handle: AgentHandle): Agent {
    this.handles.set(handle.agent.id, handle)
    return handle.agent
  }

  /** Where the loop stands, for error messages: requests, agents with their last events, last log lines. */
  describe(): string {
    const asked = Object.entries(this.requests).map(([name, list]) => `${name} ${list.length}`)
    const agents = [...this.handles.values()].map(({ agent }) => {
      const last = eventTypes(agent.session.events).slice(-6)
      return `agent ${agent.id}: ${agent.status}; last events: ${last.join(', ')}`
    })
    const logs = this.logs.slice(-5).map(line => `log ${line.type} ${line.name}: ${line.text}`)
    return [`requests: ${asked.join(', ')}`, ...agents, ...this.adapter.faults.map(String), ...logs].join('\n')
  }
}

const HOME_BEFORE = process.env.DSH_HOME

function restoreHome(): void {
  if (HOME_BEFORE === undefined) delete process.env.DSH_HOME
  else process.env.DSH_HOME = HOME_BEFORE
}

const ROUTE = { provider: PROVIDER, model: 'primary' }

/** Start a host. */
export async function createLoop(options: LoopOptions): Promise<Loop> {
  const home = options.home ?? await mkdtemp(join(tmpdir(), 'advisor-loop-'))
  const adapter = new ScriptedAdapter(options.script, options.models, options.retryPolicy)
  const loop = new Loop(adapter, home, options.home === undefined)
  const { ctx, cwd } = loop
  try {
    await mkdir(cwd, { recursive: true })
    await mountServices(ctx, home, cwd, options)
    ctx.llm.registerAdapter([...options.providers ?? [PROVIDER]], adapter)
    if (options.tools !== false) registerTools(ctx, options.tools)
    return loop
  } catch (error) {
    await loop.dispose()
    throw error
  }
}
