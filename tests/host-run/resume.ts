// Takes a recorded session up again on the real host, through the host's own persistence: a headless run only starts new ones.

import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Host, LaunchOptions, RunResult } from '../support/host.ts'

/** A row that stands in for the headless runner and does what it does, with a session that exists. */
const RUNNER = `
import { installModelSelection } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
export const name = 'resume-runner'
export const inject = ['agentDefaultModel', 'agents', 'sessions', 'sessionPersistence']
export function apply(ctx, { session, task }) {
  const exit = ctx.get('appExit')
  resume(ctx, session, task).then(exit, (error) => { process.stderr.write('resume: ' + error.message + '\\n'); exit(1) })
}
async function resume(ctx, session, task) {
  await ctx.get('loader')?.await()
  const current = ctx.agentDefaultModel.currentSelection()
  const { agent } = await ctx.agents.resume({
    resumeSessionId: session, agentOptions: { provider: current.provider, model: current.model },
    setup: (agentCtx) => { installModelSelection(agentCtx, { current, assembled: undefined }) },
  })
  await agent.whenIdle()
  agent.followup(createUserMessage({ content: [{ type: 'text', text: task }], source: { kind: 'user' } }))
  await agent.whenIdle()
  await ctx.sessions.flush(agent.session)
  const answer = agent.session.events.findLast(event => event.type === 'assistant/message').data.message
  process.stdout.write(answer.content.map(block => block.text ?? '').join('') + '\\n')
  return 0
}
`

/**
 * Resumes the session recorded in a folder of \`host.sessions()\` and gives it one more message.
 * stdout is the answer; a session that cannot be loaded is exit code 1 and the host's reason on stderr.
 */
export async function resumeSession(host: Host, folder: string, task: string, options: LaunchOptions = {}): Promise<RunResult> {
  // Below the profile, so that the module gets the host's own packages.
  const path = join(host.home, 'profiles', host.profile, 'resume-runner.mjs')
  writeFileSync(path, RUNNER)
  const patch = [
    { id: 'headless-runner', disabled: true },
    { insert: [{ id: 'resume-runner', name: path, inject: ['headlessStartup'], config: { session: basename(folder), task } }] },
  ]
  return host.run(task, { ...options, patch })
}
