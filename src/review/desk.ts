// What every request of one reviewer is made of: its model, its fixed text, its tools, and how much fits.

import type { GenerateOptions, Message, ReasoningEffortId, ToolSchema } from '@deepseek-ai/dsh-llm'
import type { SessionId } from '@deepseek-ai/dsh-session'
import type { Config } from '../config/schema.ts'
import type { CallOptions, CallResult, ModelService } from './call.ts'
import { Models, routeKey, routeOf, type ModelFacts, type Route } from './model.ts'
import { ADVISE_TOOL, systemText, type Brief, type Means } from './prompt.ts'
import type { Offer, Toolbox } from './tools/toolbox.ts'
import { contextBound, replyRoom, textTokens } from './upkeep.ts'

export interface DeskPort {
  readonly llm: ModelService
  /** Names the conversation to the provider; never the id of a live session. */
  readonly sessionId: SessionId
  /** Tools to look with, where the session has any. */
  readonly tools: Toolbox | undefined
  config(): Config
  /** The model to use now: the configured one or a fallback. */
  route(): Route
  /** What WATCHDOG files add to the fixed text. */
  brief(): Brief
  /** One line to the user. */
  tell(line: string): void
  /** For the host's log. */
  debug(line: string): void
}

/** What one review works with. */
export interface Setting {
  readonly config: Config
  readonly route: Route
  /** It is the model for long conversations. */
  readonly long: boolean
  /** Names of tools, beside `advise`, that may be called. */
  readonly granted: ReadonlySet<string>
  /** Tokens a request may hold, and those of its fixed part. */
  readonly bound: number
  readonly fixed: number
  request(messages: Message[]): GenerateOptions
}

/** Most tokens one reply may take, thinking included. */
const REPLY_TOKENS = 8_192

export class Desk {
  private readonly port: DeskPort
  private readonly models: Models
  /** What the last review worked with; none before the first. */
  setting: Setting | undefined
  private offered: { readonly key: string, readonly answer: Promise<Offer> } | undefined
  /** What is missing to look with, and the model for long conversations that failed, as the user was told. */
  private warned = ''
  private toldLonger = ''

  constructor(port: DeskPort) {
    this.port = port
    this.models = new Models(port.llm)
  }

  /** The host's adapters changed. */
  forgetModels(): void {
    this.models.forget()
  }

  /** The model for long conversations failed: one line to the user, once. */
  tellLonger(route: Route, reason: string): void {
    const key = routeKey(route)
    if (key !== this.toldLonger) this.port.tell(`the model for long conversations, ${key}, failed (${reason}); the configured one goes on with a shorter conversation`)
    this.toldLonger = key
  }

  /** The conversation starts over: tools that have come since may join it. */
  forgetTools(): void {
    this.offered = undefined
  }

  /**
   * Everything a request needs.
   * @param longer - the model for long conversations, when that one goes on.
   * @param hide - hides secrets in the texts of the user's files.
   */
  async prepare(longer: Route | undefined, hide: (text: string) => string, options: CallOptions): Promise<{ kind: 'setting', setting: Setting } | Exclude<CallResult, { kind: 'reply' }>> {
    const config = this.port.config()
    const route = longer ?? this.port.route()
    const described = await this.models.describe(route, options)
    if (described.kind !== 'facts') return described
    const lookers = await this.offer(config)
    this.setting = this.settle(config, route, described.facts, lookers, hide, longer !== undefined)
    return { kind: 'setting', setting: this.setting }
  }

  private settle(
    config: Config, route: Route, { efforts, window }: ModelFacts, lookers: readonly ToolSchema[], hide: (text: string) => string, long: boolean,
  ): Setting {
    const means: Means = config.tools.length === 0 ? 'frame' : lookers.length === 0 ? 'advise' : 'look'
    const { guidance, instructions } = this.port.brief()
    const system = systemText(config, { guidance: hide(guidance), instructions: hide(instructions) }, means)
    const tools = means === 'frame' ? [] : [ADVISE_TOOL, ...lookers]
    const maxTokens = replyRoom(window, REPLY_TOKENS)
    const { sessionId } = this.port
    return {
      config, route, long,
      granted: new Set(lookers.map(({ name }) => name)),
      // The model for long conversations is bounded by its window alone, where that is known.
      bound: contextBound(long && window !== undefined ? { maxContextTokens: Infinity } : config, window, maxTokens),
      fixed: textTokens(system) + textTokens(JSON.stringify(tools)),
      request: messages => ({
        provider: route.provider, model: route.model, system, messages, maxTokens, sessionId,
        ...tools.length === 0 ? {} : { tools },
        ...efforts.has(route.effort) ? { reasoningEffort: route.effort as ReasoningEffortId } : {},
      }),
    }
  }

  /** The same list until the configuration asks for others: tools are part of the prefix that the provider caches. */
  private async offer({ tools }: Config): Promise<readonly ToolSchema[]> {
    const key = tools.join(' ')
    if (tools.length === 0 || this.port.tools === undefined) return []
    if (this.offered?.key !== key) this.offered = { key, answer: this.port.tools.offer(tools) }
    const { schemas, unknown, trouble } = await this.offered.answer
    // What is missing may come.
    if (trouble !== undefined) this.offered = undefined
    if (trouble !== undefined) this.port.debug(`nothing to look with: ${trouble}`)
    this.warn(unknown.map(name => `"${name}"`).join(', '))
    return schemas
  }

  /** Say once that tools were named which nobody has. */
  private warn(names: string): void {
    if (names !== '' && names !== this.warned) this.port.tell(`there is no tool ${names} in this session; the reviewer works without`)
    this.warned = names
  }
}

/** The model of the configuration, as one word. */
export function configuredRoute(config: Config): string {
  return routeKey(routeOf(config))
}
