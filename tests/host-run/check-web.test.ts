// A new user on the real host: `/advisor check` over the wire while the advisor is off, then a dump of what was reviewed.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { advise, empty, httpError, REVIEWER_MODEL, text, toolCalls } from '../support/model-server.ts'
import { bash, toolResults, userTexts } from './moments-line.ts'
import { startWeb, type Web } from './moments-web.ts'

const NOTE = 'The agent says that npm test passes, but "a total is rounded to cents" fails: 17.991 !== 17.99.'

let web: Web

beforeAll(async () => {
  web = await startWeb({ tarball: inject('tarball'), advisor: { enabled: false, provider: 'deepseek-official', model: REVIEWER_MODEL } })
})
afterAll(async () => {
  expect(await web.close()).toBe('')
})

test('`check` reaches the configured model while the advisor is off, looks up what the model asks for, and leaves the session alone', async () => {
  const session = await web.open()
  const checking = session.command('/advisor check')
  const faulty = await session.reviewer.asked(0)
  expect(faulty.body.tools?.map(tool => tool.function.name)).toEqual(['advise', 'read', 'grep', 'glob'])
  expect(userTexts(faulty).join('\n')).toContain('→ bash(npm test')
  session.reviewer.answer(0, toolCalls([{ name: 'read', arguments: { file_path: 'src/cart.js' } }]))
  expect(toolResults(await session.reviewer.asked(1)).join('\n')).toContain('3:   return sum * (1 - discount / 100)')
  session.reviewer.answer(1, advise(NOTE, 'concern'))
  await session.reviewer.asked(2)
  session.reviewer.answer(2, empty())
  const { kind, text: said } = await checking
  expect(kind, said).toBe('success')
  expect(said.split('\n')).toEqual([
    'Check passed: deepseek-official/deepseek-v4-pro, effort low', 'deepseek-official/deepseek-v4-pro, effort low:',
    expect.stringMatching(/^ {2}passed {2}reached: first byte after [\d.]+ s$/),
    expect.stringMatching(/^ {2}passed {2}streams: \d+ pieces in [\d.]+ s$/),
    '  passed  calls `advise`: once at least',
    `  passed  finds the planted fault: [concern] "${NOTE}"`,
    '  passed  stays silent on clean work: no note',
    expect.stringMatching(/^ {2}took [\d.]+ s, 1 look-up, [\d,]+ tokens \(\d+ out, [\d,]+ cached\), cost [\d.]+ USD$/),
  ])
  expect((await session.events()).filter(({ type }) => /^(?:user|assistant|turn|step)\//.test(type))).toEqual([])
  expect(await session.advisor('usage')).toMatch(/^This session: 3 calls, 0 reviews, 0 notes; /)
  expect(await session.advisor('status')).toMatch(/^Advisor: off \(`enabled` is false\)\n/)
})

test('a refused key is one failed line that says so', async () => {
  const session = await web.open({ reviewer: () => httpError(401, { message: 'Authentication Fails' }) })
  const { kind, text: said } = await session.command('/advisor check')
  expect(kind).toBe('error')
  expect(said).toMatch(/^Check failed: reached: AUTH \(HTTP 401\): .*Authentication Fails.*; the key of "deepseek-official" is missing or wrong\n/)
  expect(session.reviewer.requests).toHaveLength(1)
})

test('`dump raw` leaves a private file beside the session\'s log with what was sent', async () => {
  const session = await web.open()
  expect(await session.advisor('dump')).toMatch(/^Nothing to dump yet/)
  await session.advisor('on')
  await session.prompt('Clean up the sources')
  session.primary.answer(0, toolCalls([bash('echo step 1')]))
  session.reviewer.answer(0, advise('The files in src/old are still imported.', 'nit'))
  await session.reviewed(1)
  const said = await session.advisor('dump raw')
  session.primary.answer(1, text('done'))
  session.reviewer.answer(1, empty())
  await session.rest()

  const path = /^(.*dump-[\d-]+\.md) \([\d.]+ kB, \d+ messages\); not copied: /.exec(said)?.[1] ?? said
  expect(path.startsWith(join(web.host.home, 'sessions'))).toBe(true)
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
  const page = readFileSync(path, 'utf8')
  for (const part of ['You review a coding agent\'s work', '"name": "advise"', '**user:** Clean up the sources', 'echo step 1', 'The files in src/old are still imported.']) expect(page).toContain(part)
})
