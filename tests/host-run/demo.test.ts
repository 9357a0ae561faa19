// The demo shows what happened: it passes when the advisor did its work, and fails when it did not.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent, reviewer } from '../../demo/models.ts'
import { ADVISOR, play, type Play } from '../../demo/play.ts'
import { adviceIn, lookupsIn, of } from '../../demo/reading.ts'
import { HELPER, RATES } from '../../demo/sample.ts'
import { judge } from '../../demo/verdict.ts'
import { adviseEach, empty, startModelServer, toolCalls, type Script } from '../support/model-server.ts'
import { poll } from '../support/poll.ts'

const SCRIPT = fileURLToPath(new URL('../../demo/run.ts', import.meta.url))

const SEARCHED = 'the reviewer was shown that edit and searched for the definition'
const ANSWERED = 'the real `grep` answered: the result in the reviewer\'s next request counts the files that are there'
const QUOTED = 'only then it spoke, and its note quotes that result word for word'
const ARRIVED = 'the note was in the request of the agent\'s very next step, as it was given'
const CORRECTED = [
  'the agent took the import out of price.js again',
  'it ran the test itself, after the last change, and saw it pass',
  '`node --test`, run again from outside, passes, and price.test.js is what it was',
]

/** Where the demo makes its folders, so that what it leaves can be seen. */
let temporary: string

beforeAll(() => { temporary = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-advisor-demo-'))) })
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

async function demo(args: string[], env: Record<string, string> = {}) {
  const { DEEPSEEK_API_KEY: _key, DEEPSEEK_BASE_URL: _url, FORCE_COLOR: _color, ...inherited } = process.env
  const child = spawn(process.execPath, [SCRIPT, ...args], {
    env: { ...inherited, TMPDIR: temporary, ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([readText(child.stdout), readText(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

function failedIn(result: Play): string[] {
  return judge(result).filter(check => !check.ok).map(check => check.text)
}

/** A reviewer of the demo that says this about the agent's edit, and nothing else. */
function saying(severity: string, quote?: string): Script {
  const advice = { note: `${HELPER} does not exist.`, severity, ...quote === undefined ? {} : { evidence: { quote } } }
  return async (request, index) => {
    const reply = await reviewer(request, index)
    return reply.kind === 'stream' && reply.calls.length > 0 ? adviseEach([advice]) : reply
  }
}

test('it passes, prints a plain page, and leaves nothing behind', async () => {
  const { code, stdout, stderr } = await demo([])
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(new RegExp([
    /step 2 .*\n.*edit price\.js\n/, /.*reviewer looked something up .*\n[^]*\n +grep .*applyDiscount.*\n/,
    /.*reviewer spoke .*\n.*│ no matches in 5 files.*\n.*▲ concern: [^]*its evidence: "no matches in 5 files"\n/,
    /.*step 3 +◂ the note is in this request\n/,
  ].map(part => part.source).join('')))
  expect(stdout).toContain('All 10 checks passed')
  expect(stdout).not.toContain('\u001b')
  expect(Math.max(...stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(120)
  expect(readdirSync(temporary).filter(name => name.startsWith('dsh-advisor'))).toEqual([])
})

test('without an advisor the agent stays wrong and says that it is done, and the demo says so', async () => {
  const result = await play({ advisor: { enabled: false } })
  expect(failedIn(result)).toEqual([SEARCHED, ANSWERED, QUOTED, ARRIVED, ...CORRECTED])
  expect(result.run.stdout).toMatch(/^Done: .*applyDiscount/)
})

test('a search that finds the function is followed by silence: what the tool says decides', async () => {
  const result = await play({ files: { [RATES]: `export function ${HELPER}(amount, percent) {\n  return amount * (1 - percent / 100)\n}\n` } })
  expect(failedIn(result)).not.toContain(SEARCHED)
  expect(failedIn(result)).toEqual(expect.arrayContaining([ANSWERED, QUOTED, ARRIVED]))
  expect(of(result.exchanges, 'primary').map(adviceIn).join('')).toBe('')
  expect(result.outcome.passes).toBe(true)
})

test('a reviewer that does not look fails the demo, though the agent puts things right', async () => {
  const result = await play({ models: { reviewer: saying('concern') } })
  expect(of(result.exchanges, 'reviewer').flatMap(lookupsIn)).toEqual([])
  expect(failedIn(result)).toEqual([SEARCHED, ANSWERED, QUOTED])
})

test('a blocker whose quote is invented reaches the agent as a concern, and the demo says so', async () => {
  const looking: Script = (request, index) => request.body.messages.some(({ role }) => role === 'tool')
    ? saying('blocker', 'rates.js has been empty since Tuesday')(request, index)
    : reviewer(request, index)
  const result = await play({ models: { reviewer: looking } })
  expect(of(result.exchanges, 'primary').map(adviceIn).join('')).toContain(`[advisor:concern] ${HELPER} does not exist.`)
  expect(failedIn(result)).toEqual([QUOTED, ARRIVED])
})

test('a note that comes a step late fails the demo, though the agent puts things right', async () => {
  let steps = 0
  const models: { primary: Script, reviewer: Script } = {
    // It makes one step more before it says that it is done.
    primary: async (request, index) => {
      steps += 1
      const reply = await agent(request, index)
      const isDone = index === 2 && reply.kind === 'stream' && reply.calls.length === 0
      return isDone ? toolCalls([{ name: 'bash', arguments: { command: 'git status', description: 'Look at the change' } }], { delayMs: 2_000 }) : reply
    },
    // What it has to say about step 2 comes when step 3 is under way.
    reviewer: async (request, index) => {
      const reply = await reviewer(request, index)
      if (reply.kind === 'stream' && reply.calls.some(call => call.name === 'advise')) await poll(() => steps > 2, () => `step ${steps}`, 20_000)
      return reply
    },
  }
  expect(failedIn(await play({ models, advisor: { ...ADVISOR, syncBacklog: 'off' } }))).toEqual([ARRIVED])
})

test('--live without a key says what is missing', async () => {
  const { code, stdout, stderr } = await demo(['--live'])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^demo: .*DEEPSEEK_API_KEY/)
})

test('--live plays the same with the key and the address of a real provider', async () => {
  await using provider = await startModelServer({ primary: agent, reviewer })
  const { code, stdout, stderr } = await demo(['--live'], { DEEPSEEK_API_KEY: 'own-key', DEEPSEEK_BASE_URL: provider.baseURL })
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  expect(new Set(provider.requests.map(request => request.headers.authorization))).toEqual(new Set(['Bearer own-key']))
  expect(stdout).not.toContain('own-key')
  expect(stdout).toContain('its first note was in the request of the very next step')
})

test('--live with a reviewer that has nothing to say is no failure of the plugin', async () => {
  await using provider = await startModelServer({ primary: agent, reviewer: () => empty() })
  const result = await play({ live: { key: 'own-key', baseURL: provider.baseURL } })
  expect(failedIn(result)).toEqual(['`node --test`, run again from outside, passes, and price.test.js is what it was'])
})
