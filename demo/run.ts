// `npm run demo`: the plugin at work on the real host, with two scripted models. `npm run demo -- --live` uses the user's own
// DEEPSEEK_API_KEY instead. Exit code 0 means that what the page says was checked and is so.

import { parseArgs } from 'node:util'
import { play, type LiveProvider } from './play.ts'
import { renderChecks, renderCost, renderTimeline } from './timeline.ts'
import { judge } from './verdict.ts'

/** What a shell makes of a program that was stopped from the keyboard. */
const INTERRUPTED = 130
const PROVIDER = 'https://api.deepseek.com'

try {
  process.exitCode = await main()
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { live: { type: 'boolean', default: false } } })
  const live = values.live ? liveProvider() : undefined
  const startedAt = performance.now()
  console.log(`dsh-advisor demo: a real host, real tools and a real repository, with ${live ? 'the models of your key' : 'two scripted models'}\n`)

  const interrupt = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupt.abort(name))
  const result = await play({ ...live ? { live } : {}, onStage: text => console.log(`  ${text}`), signal: interrupt.signal })
  if (interrupt.signal.aborted) return INTERRUPTED

  console.log(`\n${renderTimeline(result)}\n\n${renderCost(result)}\n`)
  if (result.run.stderr !== '') console.log(`The host said on stderr:\n${result.run.stderr.trimEnd()}\n`)
  const checks = judge(result)
  const failed = checks.filter(check => !check.ok).length
  console.log(`${renderChecks(checks)}\n`)
  const took = ((performance.now() - startedAt) / 1000).toFixed(0)
  console.log(failed === 0 ? `All ${checks.length} checks passed, in ${took} s.` : `${failed} of ${checks.length} checks failed, after ${took} s.`)
  return failed === 0 ? 0 : 1
}

function liveProvider(): LiveProvider {
  const { DEEPSEEK_API_KEY: key, DEEPSEEK_BASE_URL: baseURL = PROVIDER } = process.env
  if (!key) throw new Error('--live needs your key in the environment variable DEEPSEEK_API_KEY. Without --live no key is needed.')
  return { key, baseURL }
}
