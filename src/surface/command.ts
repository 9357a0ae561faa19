// `/advisor`. Session-scoped: nothing here writes the configuration.

import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import type { Advisor } from '../advisor.ts'
import type { Clock } from '../clock.ts'
import type { AdvisedSession } from '../session.ts'
import { stateWord, statusText, usageText } from './status.ts'

const WORDS = ['on', 'off', 'status', 'usage'] as const

/** Register the command where the host has a command service; elsewhere do nothing. */
export function registerCommand(ctx: Context, advisor: Advisor, clock: Clock): void {
  ctx.inject(['commands'], (commandsCtx) => {
    commandsCtx.commands.register({
      name: 'advisor',
      description: 'A second model that reviews this session: toggle, or on, off, status, usage',
      input: { hint: WORDS.join('|') },
      handler: ({ agent, rawInput }) => run(advisor, agent, rawInput.trim().toLowerCase(), clock),
    })
  })
}

async function run(advisor: Advisor, agent: Agent, word: string, clock: Clock): Promise<CommandResult> {
  switch (word) {
    case '': return switchTo(advisor, agent, isWanted(advisor.of(agent)) ? 'off' : 'on')
    case 'on':
    case 'off': return switchTo(advisor, agent, word)
    case 'status': return success(statusText(advisor.of(agent), clock.now()))
    case 'usage': return success(usageText(advisor.of(agent)))
    default: return { kind: 'error', text: `/advisor does not know "${word}". Commands: ${WORDS.join(', ')}; alone it toggles.` }
  }
}

async function switchTo(advisor: Advisor, agent: Agent, wish: 'on' | 'off'): Promise<CommandResult> {
  const session = await advisor.setOverride(agent, wish)
  if (wish === 'on') session.reviewer?.resume()
  const resolved = session.resolve()
  if (wish === 'off') return success('Advisor off for this session.')
  if (resolved.kind !== 'ready') return success(`Advisor on for this session, but it cannot run: ${resolved.reason}.`)
  return success(`Advisor on for this session: ${resolved.config.provider}/${resolved.config.model} (${stateWord(session)}).`)
}

/** What the user wants, not whether it can run: a toggle must be able to take back an `on` that a missing model blocks. */
function isWanted(session: AdvisedSession): boolean {
  return session.resolve().kind !== 'off'
}

function success(text: string): CommandResult {
  return { kind: 'success', text }
}
