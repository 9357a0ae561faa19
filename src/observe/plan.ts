// The rules the host puts an agent under in plan mode, as the agent itself is told them.

import type { Context } from '@deepseek-ai/cordis'
import { assembleContextFor, type Agent } from '@deepseek-ai/dsh-agent'
import type {} from '@deepseek-ai/dsh-system-prompt'

/** Name of the host's prompt section that holds them. */
const PLAN_SECTION = 'plan:policy'

/** @returns the rules in full, or undefined where the host does not have them in the agent's prompt. */
export async function readPlanRules(ctx: Context, agent: Agent): Promise<string | undefined> {
  const assembly = await ctx.get('systemPrompt')?.assemble(assembleContextFor(agent))
  const text = assembly?.sections.find(section => section.name === PLAN_SECTION)?.text
  return text === undefined || text.trim() === '' ? undefined : text
}
