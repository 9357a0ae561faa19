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
import { ADVISOR, play } from '../../demo/play.ts'
import { judge } from '../../demo/verdict.ts'
import { empty, startModelServer, type ModelRequest } from '../support/model-server.ts'
import { poll } from '../support/poll.ts'

const SCRIPT = fileURLToPath(new URL('../../demo/run.ts', import.meta.url))

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

test('it passes, prints a plain page, and leaves nothing behind', async () => {
  const { code, stdout, stderr } = await demo([])
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/step 2 .*\n.*edit price\.test\.js\n.*reviewer .*\n[^]*blocker: [^]*step 3 +◂ the note is in this request/)
  expect(stdout).toContain('All 8 checks passed')
  expect(stdout).not.toContain('\u001b')
  expect(Math.max(...stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(120)
  expect(readdirSync(temporary).filter(name => name.startsWith('dsh-advisor'))).toEqual([])
})

test('without an advisor the agent stays wrong, and the demo says so', async () => {
  const failed = judge(await play({ advisor: { enabled: false } })).filter(check => !check.ok).map(check => check.text)
  expect(failed).toEqual([
    'the reviewer was shown that edit and spoke',
    'its note was in the request of the very next step',
    'price.test.js is what it was, byte for byte',
    'price.js was fixed: `node --test`, run again from outside, passes',
  ])
})

test('a note that comes a step late fails the demo, though the agent puts things right', async () => {
  let steps = 0
  const models = {
    primary: (request: ModelRequest, index: number) => { steps += 1; return agent(request, index) },
    // What it has to say about step 2 comes when step 3 is under way.
    reviewer: async (request: ModelRequest, index: number) => {
      await poll(() => steps > index + 1 || index > 1, () => `step ${steps}`, 20_000)
      return reviewer(request, index)
    },
  }
  const result = await play({ models, advisor: { ...ADVISOR, syncBacklog: 'off' } })
  expect(judge(result).filter(check => !check.ok).map(check => check.text)).toEqual(['its note was in the request of the very next step'])
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
  const failed = judge(result).filter(check => !check.ok).map(check => check.text)
  expect(failed).toEqual(['price.test.js is what it was, byte for byte', 'price.js was fixed: `node --test`, run again from outside, passes'])
})
