// `/advisor`. Session-scoped: nothing in this file writes the configuration.

import type { Context } from '@deepseek-ai/cordis'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import type { Supervisor } from '../supervisor.ts'
import type { Clock } from '../clock.ts'
import type { AdvisedSession } from '../session.ts'
import { errorMessage, truncate } from '../text.ts'
import { check } from './check.ts'
import { dump } from './dump.ts'
import { ROSTER_COMMANDS } from './roster-commands.ts'
import { notesText, stateWord, statusText, unknownAdvisor } from './status.ts'
import { usageText } from './usage.ts'

/** One use of the command. */
export interface Call {
  readonly session: AdvisedSession
  readonly supervisor: Supervisor
  readonly clock: Clock
  readonly ctx: Context
  /** Aborts when whoever gave the command no longer waits for it. */
  readonly signal: AbortSignal
  /** What follows the subcommand, trimmed. */
  readonly words: string
}

/** What one word after `/advisor` does. */
export interface Subcommand {
  /** As the list of commands shows it. */
  readonly usage: string
  /** Whether words may follow it. */
  readonly takesWords: boolean
  run(call: Call): CommandResult | Promise<CommandResult>
}

/** In the order of the list of commands. */
const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  on: { usage: 'on [NAME]', takesWords: true, run: call => call.words === '' ? switchTo(call, 'on') : switchOne(call, 'on') },
  off: { usage: 'off [NAME]', takesWords: true, run: call => call.words === '' ? switchTo(call, 'off') : switchOne(call, 'off') },
  status: {
    usage: 'status', takesWords: false,
    run: async ({ session, clock }) => {
      await session.advisors.look()
      return success(statusText(session, clock.now()))
    },
  },
  check: { usage: 'check [NAME]', takesWords: true, run: check },
  usage: { usage: 'usage', takesWords: false, run: async ({ session }) => success(await usageText(session)) },
  notes: { usage: 'notes', takesWords: false, run: ({ session, clock }) => success(notesText(session, clock.now())) },
  dump: { usage: 'dump [raw]', takesWords: true, run: dump },
  dismiss: { usage: 'dismiss N|all', takesWords: true, run: ({ session, words }) => dismiss(session, words) },
  good: { usage: 'good N', takesWords: true, run: ({ session, words }) => judge(session, words, 'good') },
  bad: { usage: 'bad N', takesWords: true, run: ({ session, words }) => judge(session, words, 'bad') },
  mute: {
    usage: 'mute WORDS', takesWords: true,
    run: ({ session, words }) => session.mute(words)
      ? success(`Muted: ${words}. \`/advisor unmute\` takes it back.`)
      : failure('/advisor mute needs the words of a topic, as in `/advisor mute error handling`.'),
  },
  unmute: { usage: 'unmute', takesWords: false, run: ({ session }) => success(`Topics heard again: ${session.unmute()}.`) },
  ...ROSTER_COMMANDS,
}

/** Register the command where the host has a command service; elsewhere do nothing. */
export function registerCommand(ctx: Context, supervisor: Supervisor, clock: Clock, tell: (text: string) => void): void {
  ctx.inject(['commands'], (commandsCtx) => {
    let isGone = false
    commandsCtx.effect(() => () => { isGone = true }, 'advisor.command()')
    try {
      commandsCtx.commands.register({
        name: 'advisor',
        description: 'A second model that reviews this session',
        input: { hint: Object.keys(SUBCOMMANDS).join('|') },
        handler: async ({ agent, rawInput, signal }) => {
          try {
            return await run(rawInput.trim(), { session: supervisor.of(agent), supervisor, clock, ctx: commandsCtx, signal })
          } catch (error) {
            if (isGone) return failure('The advisor was loaded anew while this command ran; give it again.')
            throw error
          }
        },
      })
    } catch (error) {
      tell(`/advisor belongs to another plugin (${errorMessage(error)}); reviews go on, without commands`)
    }
  })
}

async function run(input: string, call: Omit<Call, 'words'>): Promise<CommandResult> {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(input) ?? []
  const words = rest.trim()
  if (input === '') return switchTo(call, isWanted(call.session) ? 'off' : 'on')
  const name = word.toLowerCase()
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined
  if (subcommand === undefined || (words !== '' && !subcommand.takesWords)) return failure(unknown(input))
  return subcommand.run({ ...call, words })
}

async function switchTo({ session, supervisor }: Omit<Call, 'words'>, wish: 'on' | 'off'): Promise<CommandResult> {
  session.override = wish
  // Before everybody looks at what holds now: subagents go on with it, too.
  if (wish === 'on') session.record.grant()
  await supervisor.refresh()
  if (wish === 'off') return success('Advisor off for this session.')
  session.panel?.resume()
  const resolved = session.resolve()
  if (resolved.kind !== 'ready') return success(`Advisor on for this session, but it cannot run: ${resolved.reason}.`)
  return success(`Advisor on for this session: ${whoText(session)} (${stateWord(session)}).`)
}

/** Switch one advisor of the roster. */
async function switchOne({ session, words }: Call, wish: 'on' | 'off'): Promise<CommandResult> {
  await session.advisors.look()
  const advisor = session.advisors.find(words)
  if (advisor === undefined) return failure(unknownAdvisor(session, wish, words))
  await session.wish(advisor, wish)
  const resolved = session.resolve()
  const but = wish === 'on' && resolved.kind !== 'ready' ? `, but the advisor is ${resolved.kind}: ${resolved.reason}` : ''
  return success(`${advisor.name} ${wish} for this session${but}.`)
}

/** The model of the one advisor, or the names of those at work. */
function whoText(session: AdvisedSession): string {
  const standings = session.panel?.standings ?? []
  const [first] = standings
  if (first === undefined) return 'no advisor of the roster reviews it'
  if (first.advisor.name === undefined) return `${first.config.provider}/${first.config.model}`
  return standings.map(({ advisor }) => advisor.name).join(', ')
}

function dismiss(session: AdvisedSession, which: string): CommandResult {
  if (which !== 'all' && !/^#?\d+$/.test(which)) return failure(`/advisor dismiss needs the number of a note, or all; got "${which}".`)
  const count = session.dismiss(which === 'all' ? 'all' : Number(which.replace('#', '')))
  if (count === 0) return failure(which === 'all' ? 'There is no note that waits.' : `There is no note ${which}; \`/advisor notes\` lists them.`)
  return success(count === 1 ? 'Dismissed; it will not come back in this session.' : `${count} notes dismissed; they will not come back in this session.`)
}

function judge(session: AdvisedSession, which: string, verdict: 'good' | 'bad'): CommandResult {
  if (!/^#?\d+$/.test(which)) return failure(`/advisor ${verdict} needs the number of a note; got "${truncate(which, 60)}".`)
  if (!session.judge(Number(which.replace('#', '')), verdict)) return failure(`There is no note ${which}; \`/advisor notes\` lists them.`)
  return success(`Note ${which} counts as ${verdict}; \`/advisor usage\` shows the rates.`)
}

function unknown(input: string): string {
  const usage = Object.values(SUBCOMMANDS).map(subcommand => subcommand.usage).join(', ')
  return `/advisor does not know "${truncate(input, 60)}". Commands: ${usage}; alone it toggles.`
}

/** What the user wants, not whether it can run: a toggle must be able to take back an \`on\` that a missing model blocks. */
function isWanted(session: AdvisedSession): boolean {
  return session.resolve().kind !== 'off'
}

export function success(text: string): CommandResult {
  return { kind: 'success', text }
}

export function failure(text: string): CommandResult {
  return { kind: 'error', text }
}
