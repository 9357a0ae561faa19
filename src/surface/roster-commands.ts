// The words of `/advisor` that are about WATCHDOG files and the configuration: what they need is put together here.

import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import { dshHome } from '../host.ts'
import type { Roster } from '../roster/advisor.ts'
import { NO_FILES } from '../roster/merge.ts'
import { Dialog } from './ask.ts'
import type { Call, Subcommand } from './command.ts'
import { configText } from './config-text.ts'
import { configure } from './configure.ts'
import { offeredModels, offeredTools } from './offers.ts'
import { trustProject, untrustProject } from './trust.ts'

export const ROSTER_COMMANDS: Readonly<Record<'config' | 'configure' | 'trust' | 'untrust', Subcommand>> = {
  config: { usage: 'config', takesWords: false, run: showConfig },
  configure: { usage: 'configure', takesWords: false, run: call => configure(configuring(call)) },
  trust: { usage: 'trust [yes|no]', takesWords: true, run: call => trustProject(trusting(call), call.words) },
  untrust: { usage: 'untrust', takesWords: false, run: call => untrustProject(trusting(call)) },
}

async function showConfig(call: Call): Promise<CommandResult> {
  const { session } = call
  const roster = await rosterOf(call)
  const sizes = new Map<string, number>()
  await Promise.all(roster.files.map(async ({ path }) => {
    const stats = await stat(path).catch(() => undefined)
    if (stats !== undefined) sizes.set(path, stats.size)
  }))
  const { source, override, advisors } = session
  return { kind: 'success', text: configText({ source, override, roster, sizes, whyOff: advisor => advisors.whyOff(advisor) }) }
}

function configuring(call: Call) {
  const { ctx, session, signal, clock } = call
  const { agent } = session
  return {
    ...common(call),
    places: { dshHome: dshHome(process.env), home: homedir(), cwd: agent.session.header.cwd },
    config: session.source.value,
    models: () => offeredModels(ctx.llm, signal, clock),
    tools: () => offeredTools(ctx, agent),
  }
}

function trusting(call: Call) {
  return { ...common(call), trust: call.supervisor.trust }
}

function common(call: Call) {
  const { ctx, session, supervisor, signal, clock } = call
  return {
    dialog: new Dialog(ctx, session.agent, signal, clock),
    roster: () => rosterOf(call),
    refresh: () => supervisor.refresh(),
  }
}

/** The files as they are now. */
async function rosterOf({ session: { advisors } }: Call): Promise<Roster> {
  await advisors.look()
  return advisors.roster ?? NO_FILES
}
