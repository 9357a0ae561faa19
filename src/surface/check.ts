// `/advisor check`: every advisor's model tried on two built-in pieces of work, also while the advisor is off. It costs what two
// reviews cost, which is the session's to pay.

import { join } from 'node:path'
import { SessionId } from '@deepseek-ai/dsh-session'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import { configOf, missingModel } from '../config/resolve.ts'
import { isContentFree } from '../deliver/guard.ts'
import { dshHome } from '../host.ts'
import type { Tally } from '../record/ledger.ts'
import { judgeCheck, takings, type CheckLine } from '../review/check.ts'
import { runCheck, type CheckPort } from '../review/check-run.ts'
import { CLEAN, FAULTY } from '../review/check-transcripts.ts'
import { routeKey } from '../review/model.ts'
import type { Advisor } from '../roster/advisor.ts'
import { UNNAMED } from '../roster/merge.ts'
import type { AdvisedSession } from '../session.ts'
import type { Call } from './command.ts'
import { modelText, unknownAdvisor } from './status.ts'

/** How one advisor did. */
interface Checked {
  readonly advisor: Advisor
  readonly lines: readonly CheckLine[]
  /** What it took, and what else was noticed. */
  readonly remarks: readonly string[]
}

const WORDS: Readonly<Record<CheckLine['kind'], string>> = { passed: 'passed', failed: 'FAILED', open: 'open' }

/** Check all advisors that are not paused by their file, or the one that is named. */
export async function check(call: Call): Promise<CommandResult> {
  const { session, ctx, signal, words } = call
  const { advisors } = session
  await advisors.look()
  const all = advisors.all.length === 0 ? [UNNAMED] : advisors.all
  const named = words === '' ? undefined : advisors.find(words)
  if (words !== '' && named === undefined) return { kind: 'error', text: unknownAdvisor(session, 'check', words) }
  const { source } = session
  if (source.kind === 'invalid') return { kind: 'error', text: `Check failed: the configuration cannot be read: ${source.reason}` }
  const chosen = named === undefined ? all.filter(({ enabled }) => enabled) : [named]
  if (chosen.length === 0) return { kind: 'error', text: `Nothing to check: all advisors are paused by their file; \`/advisor check ${all[0]!.name}\` checks one all the same.` }
  const gone = new AbortController()
  const release = ctx.effect(() => () => { gone.abort(new Error('the plugin is gone')) }, 'advisor.check()')
  try {
    const checked = await Promise.all(chosen.map(advisor => checkOne(advisor, call, AbortSignal.any([signal, gone.signal]))))
    const text = checkText(session, checked, all.filter(advisor => named === undefined && !chosen.includes(advisor)))
    const hider = await session.hider({ ...session.resolve().config, redact: true })
    const isFine = checked.every(({ lines }) => lines.every(({ kind }) => kind !== 'failed'))
    return { kind: isFine ? 'success' : 'error', text: hider?.text(text) ?? text }
  } finally {
    void release()
  }
}

async function checkOne(advisor: Advisor, { session, ctx, clock }: Call, signal: AbortSignal): Promise<Checked> {
  const config = configOf(session.resolve().config, advisor)
  const missing = missingModel(config)
  if (missing !== undefined) {
    const place = `in the \`advisor\` section of ${join(dshHome(process.env), 'settings.yaml')}`
    const entry = advisor.name === undefined ? '' : `, or \`model: provider/model\` in its entry of ${advisor.file ?? 'WATCHDOG.yml'}`
    return { advisor, lines: [{ kind: 'failed', what: 'configured', reason: `${missing} ${place}${entry}` }], remarks: [] }
  }
  const remarks = new Set<string>()
  const hider = await session.hider(config)
  const port: CheckPort = {
    llm: ctx.llm, clock, tools: session.toolbox, isContentFree,
    sessionId: SessionId([session.agent.id, 'advisor', advisor.slug, 'check'].filter(part => part !== '').join('-')),
    config: () => config,
    brief: () => ({ guidance: session.advisors.roster?.guidance ?? '', instructions: advisor.instructions }),
    hider: async () => hider,
    reserve: (route, tokens, over) => session.record.reserve(config.budget, routeKey(route), tokens, over),
    mayCall(route, tokens) {
      const verdict = session.record.mayCall(config.budget, routeKey(route), tokens)
      if (verdict.kind === 'fine' && verdict.unchecked !== undefined) remarks.add(verdict.unchecked)
      return verdict
    },
    tell(line) { remarks.add(line) },
    debug(line) { ctx.logger.debug(`advisor: check: ${line}`) },
  }
  const tally = tallyOf(session, advisor)
  const faulty = await runCheck(FAULTY, port, tally, signal)
  const clean = faulty.end.kind === 'reviewed' ? await runCheck(CLEAN, port, tally, signal) : undefined
  const isSpecial = config.systemPrompt.trim() !== '' || advisor.instructions.trim() !== ''
  const lines = judgeCheck({ config, isSpecial, providers: ctx.llm.listProviders().map(({ id }) => id), faulty, clean })
  const took = takings([faulty.record, clean?.record])
  return { advisor, lines, remarks: [...took === undefined ? [] : [`took ${took}`], ...remarks] }
}

/** Calls and what they cost are the advisor's. Its counts of reviews stay what they are: how well it does is judged by them. */
function tallyOf(session: AdvisedSession, { slug }: Advisor): Tally {
  const account = session.record.account(slug)
  return {
    charge: (model, usage) => account.charge(model, usage),
    count(counter, by) { if (counter === 'calls') account.count(counter, by) },
  }
}

function checkText(session: AdvisedSession, checked: readonly Checked[], paused: readonly Advisor[]): string {
  const failed = checked.flatMap(({ advisor, lines }) => lines.filter(({ kind }) => kind === 'failed').map(line => ({ advisor, line })))
  const [first] = failed
  const { config } = session.resolve()
  return [
    first === undefined ? `Check passed: ${checked.map(({ advisor }) => advisor.name ?? modelText(config)).join(', ')}`
      : `Check failed: ${first.advisor.name === undefined ? '' : `${first.advisor.name}, `}${first.line.what}: ${first.line.reason}${failed.length === 1 ? '' : ` (and ${failed.length - 1} more)`}`,
    ...checked.flatMap(({ advisor, lines, remarks }) => [
      `${advisor.name === undefined ? '' : `${advisor.name}, `}${modelText(configOf(config, advisor))}:`,
      ...lines.map(({ kind, what, reason }) => `  ${WORDS[kind]}  ${what}: ${reason}`),
      ...remarks.map(remark => `  ${remark}`),
    ]),
    ...paused.length === 0 ? [] : [`Not checked, paused by their file: ${paused.map(({ name }) => name).join(', ')}`],
  ].join('\n')
}
