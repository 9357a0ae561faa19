// The fixed part of every request: stance, reply protocol, what the roster adds, and the `advise` tool. The same bytes at each
// call, and what all advisors of a session share stands before what is one advisor's own.

import type { ToolSchema } from '@deepseek-ai/dsh-llm'
import type { Config } from '../config/schema.ts'
import evidence from '../prompts/evidence.md'
import looking from '../prompts/looking.md'
import protocolFrame from '../prompts/protocol-frame.md'
import protocolTools from '../prompts/protocol-tools.md'
import protocol from '../prompts/protocol.md'
import stance from '../prompts/stance.md'
import { SEVERITIES } from '../severity.ts'

export const ADVISE_TOOL: ToolSchema = {
  name: 'advise',
  description: 'Give the agent one note.',
  parameters: {
    type: 'object',
    properties: {
      note: { type: 'string' },
      severity: { type: 'string', enum: [...SEVERITIES] },
      evidence: {
        type: 'object',
        properties: { quote: { type: 'string' }, path: { type: 'string' } },
        required: ['quote'],
      },
      replaces: { type: 'integer', description: 'Only when asked about a waiting note: its number.' },
    },
    required: ['note'],
  },
}

/** What WATCHDOG files add: for all advisors of a session, and for this one. */
export interface Brief {
  readonly guidance: string
  readonly instructions: string
}

/** How a reviewer can answer and look. */
export type Means =
  /** It has no tools at all and answers with the JSON frame. */
  | 'frame'
  /** It has `advise` and nothing to look with. */
  | 'advise'
  | 'look'

/** Which severities need evidence, in words; none when no severity does. */
const COVERED: Readonly<Record<Config['evidence'], string | undefined>> = { off: undefined, blocker: 'A blocker', concern: 'A blocker or concern' }

/** The system text: the user's own stance or ours, the protocol, then what the roster adds. */
export function systemText(
  config: Pick<Config, 'systemPrompt' | 'notesPerUpdate' | 'evidence' | 'toolCalls'>, brief: Brief, means: Means,
): string {
  const own = config.systemPrompt.trim()
  const notes = config.notesPerUpdate === 1 ? 'at most one' : `at most ${config.notesPerUpdate}`
  const covered = COVERED[config.evidence]
  return [
    own === '' ? stance : own,
    protocol,
    means === 'frame' ? protocolFrame : fill(protocolTools, { notes }),
    ...means === 'look' ? [fill(looking, { calls: String(config.toolCalls) })] : [],
    ...covered === undefined ? [] : [fill(evidence, { covered })],
    brief.guidance,
    brief.instructions.trim() === '' ? '' : `<instructions>\n${brief.instructions.trim()}\n</instructions>`,
  ].map(part => part.trim()).filter(part => part !== '').join('\n\n')
}

/** Fill the gaps of one of our own texts, and of no other. */
function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (gap, name: string) => values[name] ?? gap)
}
