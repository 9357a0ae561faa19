// `/advisor`. Session-scoped: nothing here writes the configuration.

import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import type { Supervisor } from '../supervisor.ts'
import type { Clock } from '../clock.ts'
import type { AdvisedSession } from '../session.ts'
import { errorMessage, truncate } from '../text.ts'
import { notesText, stateWord, statusText, usageText } from './status.ts'

const USAGE = 'on, off, status, usage, notes, dismiss N|all, mute WORDS, unmute; alone it toggles'

/** Subcommands that something may follow. */
const TAKES_WORDS: ReadonlySet<string> = new Set(['dismiss', 'mute'])

/** Register the command where the host has a command service; elsewhere do nothing. */
export function registerCommand(ctx: Context, supervisor: Supervisor, clock: Clock, tell: (text: string) => void): void {
  ctx.inject(['commands'], (commandsCtx) => {
    try {
      commandsCtx.commands.register({
        name: 'advisor',
        description: 'A second model that reviews this session',
        input: { hint: 'on|off|status|usage|notes|dismiss|mute|unmute' },
        handler: ({ agent, rawInput }) => run(supervisor.of(agent), supervisor, rawInput.trim(), clock),
      })
    } catch (error) {
      tell(`/advisor belongs to another plugin (${errorMessage(error)}); reviews go on, without commands`)
    }
  })
}

async function run(session: AdvisedSession, supervisor: Supervisor, input: string, clock: Clock): Promise<CommandResult> {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(input) ?? []
  const known = word.toLowerCase()
  if (rest.trim() !== '' && !TAKES_WORDS.has(known)) return failure(unknown(input))
  switch (known) {
    case '': return switchTo(session, supervisor, isWanted(session) ? 'off' : 'on')
    case 'on': return switchTo(session, supervisor, 'on')
    case 'off': return switchTo(session, supervisor, 'off')
    case 'status': return success(statusText(session, clock.now()))
    case 'usage': return success(usageText(session))
    case 'notes': return success(notesText(session, clock.now()))
    case 'dismiss': return dismiss(session, rest.trim())
    case 'mute': return session.mute(rest)
      ? success(`Muted: ${rest.trim()}. \`/advisor unmute\` takes it back.`)
      : failure('/advisor mute needs the words of a topic, as in `/advisor mute error handling`.')
    case 'unmute': return success(`Topics heard again: ${session.unmute()}.`)
    default: return failure(unknown(input))
  }
}

async function switchTo(session: AdvisedSession, supervisor: Supervisor, wish: 'on' | 'off'): Promise<CommandResult> {
  session.override = wish
  await supervisor.refresh()
  if (wish === 'off') return success('Advisor off for this session.')
  session.reviewer?.resume()
  const resolved = session.resolve()
  if (resolved.kind !== 'ready') return success(`Advisor on for this session, but it cannot run: ${resolved.reason}.`)
  return success(`Advisor on for this session: ${resolved.config.provider}/${resolved.config.model} (${stateWord(session)}).`)
}

function dismiss(session: AdvisedSession, which: string): CommandResult {
  if (which !== 'all' && !/^#?\d+$/.test(which)) return failure(`/advisor dismiss needs the number of a note, or all; got "${which}".`)
  const count = session.dismiss(which === 'all' ? 'all' : Number(which.replace('#', '')))
  if (count === 0) return failure(which === 'all' ? 'There is no note that waits.' : `There is no note ${which}; \`/advisor notes\` lists them.`)
  return success(count === 1 ? 'Dismissed; it will not come back in this session.' : `${count} notes dismissed; they will not come back in this session.`)
}

function unknown(input: string): string {
  return `/advisor does not know "${truncate(input, 60)}". Commands: ${USAGE}.`
}

/** What the user wants, not whether it can run: a toggle must be able to take back an \`on\` that a missing model blocks. */
function isWanted(session: AdvisedSession): boolean {
  return session.resolve().kind !== 'off'
}

function success(text: string): CommandResult {
  return { kind: 'success', text }
}

function failure(text: string): CommandResult {
  return { kind: 'error', text }
}
