// Tools of the session that a reviewer was granted. They run in a scope of its own below the agent's, so that the agent's
// restrictions, guards and approvals hold for it, and what the agent has read or is doing does not change.

import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { CallId, type ContentBlock, type ToolSchema } from '@deepseek-ai/dsh-llm'
import type { ToolExecutionToken, ToolRuntime } from '@deepseek-ai/dsh-tools'
import { failed, showText, type ToolAnswer } from './answer.ts'
import { standInFor } from './stand-in.ts'

/** Names that are the reviewer's own, or a transport and no tool. */
const NEVER: ReadonlySet<string> = new Set(['advise', 'run_code'])

/** The tools of one agent's session, as its reviewers may use them. */
export class GrantedTools {
  private readonly ctx: Context
  private readonly primary: Agent
  private reviewer: Promise<Agent> | undefined
  /**
   * Marks our calls as made within something, not by the agent's model: the host then neither stores the session first, nor
   * saves long results in it, nor asks for them as parts of a program where the agent's model writes programs.
   */
  private readonly within = Symbol('advisor') as ToolExecutionToken

  constructor(ctx: Context, primary: Agent) {
    this.ctx = ctx
    this.primary = primary
  }

  /** Schemas of those among `names` that this agent has. */
  async schemas(names: readonly string[]): Promise<ToolSchema[]> {
    const wanted = names.filter(name => !NEVER.has(name))
    if (wanted.length === 0 || this.tools() === undefined) return []
    const agent = await this.caller()
    const known = this.tools()?.schemas(agent) ?? []
    return wanted.flatMap(name => known.find(schema => schema.name === name) ?? [])
  }

  /** The reviewer, as tools see it. */
  caller(): Promise<Agent> {
    return this.reviewer ??= openScope(this.ctx, this.primary).catch((error: unknown) => {
      this.reviewer = undefined
      throw error
    })
  }

  /** Run a call through the session's rules. Rejects only when the host breaks its word. */
  async run(id: string, name: string, args: object, signal: AbortSignal): Promise<ToolAnswer> {
    const tools = this.tools()
    if (tools === undefined || NEVER.has(name)) return failed('not run', `there is no tool "${name}" in this session`)
    const agent = await this.caller()
    // Whoever started us may be the agent's own driver, to whom a tool would otherwise ascribe what it does. The promise is
    // handed out in a box: the host awaits one that is returned before it goes down, and this tool may never end.
    const { running } = this.ctx.agents.withoutInitiator(() => ({
      running: tools.execute({ callId: CallId(`advisor-${id}`), name, arguments: args, agent, parent: this.within, signal }),
    }))
    const result = await running
    const text = textOf(result.content)
    const refusal = result.isError ? REFUSALS.find(([said]) => text.includes(said)) : undefined
    return refusal === undefined ? showText(text, result.isError) : failed('refused', refusal[1](name))
  }

  private tools(): ToolRuntime | undefined {
    return this.ctx.get('tools')
  }
}

/** What the host says in words that tell a reviewer nothing, and in words that do. */
const REFUSALS: readonly (readonly [said: string, told: (name: string) => string])[] = [
  ['outside an open turn', name => `"${name}" needs the user's approval, which can be asked for only while the agent is working`],
  ['is not the registered', name => `only the agent itself can use "${name}" in this way`],
]

async function openScope(ctx: Context, primary: Agent): Promise<Agent> {
  const { createScope } = await import('@deepseek-ai/dsh-scope')
  let own: Context = ctx
  const agent = standInFor(primary, () => own)
  const scope = createScope(ctx, agent, { parent: primary })
  own = scope.ctx
  own.on('tools/pre-execute', async (exec, next) => {
    const decision = await next()
    if (decision.kind !== 'ask') return decision
    return { ...decision, reason: `the advisor asks: ${decision.reason ?? `run "${exec.name}"`}` }
  }, { prepend: true })
  const left = ctx.on('agent/disposed', ({ agent: gone }) => {
    if (gone !== primary) return
    left()
    void scope.dispose()
  })
  return agent
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map(block => block.type === 'text' ? block.text : `[${block.type}]`).join('\n')
}
