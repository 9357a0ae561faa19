// Which agents are reviewed, and by which advisors: the user's own always, subagents where the user said so.

import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Config } from './config/schema.ts'
import type { Advisor } from './roster/advisor.ts'

/** What a roster calls the user's own agent. */
const MAIN = 'main'

/** Whether the configuration wants this agent reviewed: always, but for subagents. */
export function isCovered(agent: Agent, subagents: Config['subagents']): boolean {
  if (!isSubagent(agent)) return true
  return Array.isArray(subagents) ? subagents.includes(agent.session.header.agentPreset ?? '') : subagents
}

/** Whether an advisor's entry is for this agent; one that names none is for all. */
export function isFor({ agents }: Pick<Advisor, 'agents'>, agent: Agent): boolean {
  const name = isSubagent(agent) ? agent.session.header.agentPreset?.trim().toLowerCase() ?? '' : MAIN
  return agents === undefined || agents.includes(name)
}

/** Whether an agent works for another one. */
export function isSubagent(agent: Agent): boolean {
  const { origin, delegationDepth } = agent.session.header
  return origin === 'subagent' || (delegationDepth ?? 0) > 0
}
