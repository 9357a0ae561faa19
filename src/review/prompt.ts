// The fixed part of every request: stance, reply protocol and the `advise` tool. The same bytes at each call.

import type { ToolSchema } from '@deepseek-ai/dsh-llm'
import type { Config } from '../config/schema.ts'
import protocol from '../prompts/protocol.md'
import stance from '../prompts/stance.md'
import { SEVERITIES } from '../severity.ts'

export const ADVISE_TOOL: ToolSchema = {
  name: 'advise',
  description: 'Give the agent one note. Do not call it to say that all is well.',
  parameters: {
    type: 'object',
    properties: {
      note: { type: 'string', description: 'One finding: what is wrong, how you know, what would be right.' },
      severity: { type: 'string', enum: [...SEVERITIES] },
      replaces: { type: 'integer', description: 'Only when asked about a waiting note: its number. An empty note then withdraws it.' },
    },
    required: ['note'],
  },
}

/** The system text: the user's own stance or ours, then the protocol. */
export function systemText(config: Pick<Config, 'systemPrompt' | 'notesPerUpdate'>): string {
  const own = config.systemPrompt.trim()
  const notes = config.notesPerUpdate === 1 ? 'at most one' : `at most ${config.notesPerUpdate}`
  return `${own === '' ? stance.trim() : own}\n\n${protocol.trim().replace('{{notes}}', notes)}`
}
