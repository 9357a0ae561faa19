// `/advisor` as a user of the web page types it: what each word says and does, for this session and no other, with nothing written.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { advise, adviseEach, empty, httpError, REVIEWER_MODEL, text, toolCalls } from '../support/model-server.ts'
import { bash, lastText, notes, userTexts } from './moments-line.ts'
import { startWeb, type Web, type WebSession } from './moments-web.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off', immuneTurns: 0, notesPerUpdate: 3 }
const MODEL_LINE = 'Model: deepseek-official/deepseek-v4-pro, effort low'
const FILES = 'The files in src/old are still imported.'
const PORT = 'Port 8080 is taken by the proxy.'

let web: Web

beforeAll(async () => {
  web = await startWeb({ tarball: inject('tarball'), advisor: ON })
})
afterAll(async () => {
  expect(await web.close()).toBe('')
})

/** The agent has made a step, which is under review, and waits for its model's second answer. */
async function underWay(): Promise<WebSession> {
  const session = await web.open()
  await session.prompt('Clean up the sources')
  session.primary.answer(0, toolCalls([bash('echo step 1')]))
  await session.reviewer.asked(0)
  await session.primary.asked(1)
  return session
}

test('`status` of a fresh session names the model and has nothing to report', async () => {
  const session = await web.open()
  expect((await session.advisor('status')).split('\n')).toEqual([
    'Advisor: running', MODEL_LINE, 'Pending: 0 updates',
    'Reviews: 0 (0 silent, 0 without a verdict), 0 look-ups, 0 replies thrown away, 0 failed calls, 0 updates dropped', 'Notes: 0', 'Tokens: 0 in, 0 out, 0 cached',
  ])
  expect(await session.advisor('notes')).toBe('No notes in this session.')
})

test('`status`, `usage` and `notes` follow a note from its review to the step it joins', async () => {
  const session = await underWay()
  expect(await session.advisor('status')).toContain('\nPending: 1 update, reviewing\n')
  session.reviewer.answer(0, advise(FILES, 'concern', { usage: { in: 500, out: 20, cached: 300 } }))
  await session.reviewed(1)
  expect(await session.advisor('status')).toMatch(/\nNotes: 1; last, \d+ s ago: \[concern\] The files in src\/old are still imported\. \(on its way\)\n/)
  expect(await session.advisor('usage')).toMatch(/^This session: 1 call, 1 review, 1 note; tokens \d+ in, 20 out, 300 cached; cost [\d.]+ USD$/m)

  session.primary.answer(1, toolCalls([bash('echo step 2')]))
  await session.primary.asked(2)
  expect(await session.advisor('notes')).toMatch(/^#1 concern, \d+ s ago, delivered at step 1\.3: The files in src\/old are still imported\.$/)
})

test('`off` stops reviews, keeps the notes and writes nothing; `on` goes on with what comes', async () => {
  const before = readFileSync(join(web.host.home, 'settings.yaml'), 'utf8')
  const session = await underWay()
  session.reviewer.answer(0, advise(FILES, 'blocker'))
  await session.reviewed(1)
  expect(await session.advisor('off')).toBe('Advisor off for this session.')
  expect(await session.advisor('status')).toMatch(/^Advisor: off \(switched off in this session\)\n/)
  expect(await session.advisor('notes')).toContain(`kept for the user's next message (the advisor was switched off): ${FILES}`)
  session.primary.answer(1, toolCalls([bash('echo step 2')]))
  await session.primary.asked(2)
  expect(notes(session.primary.requests[2])).toEqual([])
  session.primary.answer(2, text('done'))
  await session.rest()
  expect(session.reviewer.requests).toHaveLength(1)

  expect(await session.advisor('on')).toBe('Advisor on for this session: deepseek-official/deepseek-v4-pro (running).')
  await session.prompt('and the tests')
  expect(notes(await session.primary.asked(3))).toEqual([`blocker: ${FILES}`])
  session.primary.answer(3, text('done'))
  const review = userTexts(await session.reviewer.asked(1)).join('\n')
  expect(review).toContain('**user:** and the tests')
  expect(review).not.toContain('echo step 2')
  expect(readFileSync(join(web.host.home, 'settings.yaml'), 'utf8')).toBe(before)
})

test('the bare word toggles one session and leaves another alone', async () => {
  const [session, other] = [await web.open(), await web.open()]
  expect(await session.advisor('')).toBe('Advisor off for this session.')
  expect(await other.advisor('status')).toMatch(/^Advisor: running\n/)
  expect(await session.advisor('')).toMatch(/^Advisor on for this session: /)
})

test('what the user dismisses leaves the agent alone and does not come back; its reviewer is told', async () => {
  const session = await underWay()
  session.reviewer.answer(0, adviseEach([{ note: FILES, severity: 'nit' }, { note: PORT, severity: 'nit' }]))
  await session.reviewed(1)
  expect(await session.advisor('dismiss 1')).toBe('Dismissed; it will not come back in this session.')
  expect((await session.command('/advisor dismiss 7')).kind).toBe('error')
  session.primary.answer(1, toolCalls([bash('echo step 2')]))
  expect(notes(await session.primary.asked(2))).toEqual([`nit: ${PORT}`])

  const review = await session.reviewer.asked(1)
  expect(userTexts(review).join('\n')).toMatch(/\[the user dismissed.*src\/old/)
  session.reviewer.answer(1, advise('Files in `src/old` are still imported!', 'blocker'))
  await session.reviewed(2)
  session.primary.answer(2, toolCalls([bash('echo step 3')]))
  expect(notes(await session.primary.asked(3))).toEqual([`nit: ${PORT}`])
  expect(await session.advisor('notes')).toMatch(/^#1 nit, \d+ s ago, dismissed by the user: /)
})

test('a muted topic is refused until it is unmuted', async () => {
  const session = await underWay()
  expect(await session.advisor('mute proxy port')).toBe('Muted: proxy port. `/advisor unmute` takes it back.')
  session.reviewer.answer(0, adviseEach([{ note: PORT, severity: 'concern' }, { note: FILES, severity: 'nit' }]))
  await session.reviewed(1)
  expect(await session.advisor('notes')).toMatch(/^#1 nit, \d+ s ago, waiting for the next step: .*\nMuted: proxy port$/)
  session.primary.answer(1, toolCalls([bash('echo step 2')]))
  expect(userTexts(await session.reviewer.asked(1)).join('\n')).toContain('[the user wants to hear nothing about: proxy port]')
  await session.primary.asked(2)
  expect(await session.advisor('unmute')).toBe('Topics heard again: 1.')
  session.reviewer.answer(1, advise(PORT, 'concern'))
  await session.reviewed(2)
  session.primary.answer(2, toolCalls([bash('echo step 3')]))
  expect(notes(await session.primary.asked(3))).toEqual([`nit: ${FILES}`, `concern: ${PORT}`])
})

test('a reviewer without money says so in the status, nothing on the terminal, and `on` tries again', async () => {
  const session = await underWay()
  session.reviewer.answer(0, httpError(402, { message: 'Insufficient Balance' }))
  session.primary.answer(1, text('done'))
  await session.rest()
  await expect.poll(() => session.advisor('status')).toMatch(/^Advisor: quota_exhausted \(QUOTA.*Insufficient Balance\)\n/)
  expect(await session.advisor('on')).toMatch(/\(running\)\.$/)
  expect(lastText(await session.reviewer.asked(1))).toContain('**agent:** done')
  session.reviewer.answer(1, empty())
  await session.reviewed(1)
  expect(await session.advisor('status')).toMatch(/^Advisor: running\n/)
})

test('an unknown word gets the list of commands', async () => {
  const session = await web.open()
  expect(await session.command('/advisor explain')).toEqual({
    kind: 'error',
    text: '/advisor does not know "explain". Commands: on [NAME], off [NAME], status, check [NAME], usage, notes, dump [raw], dismiss N|all, good N, bad N, '
      + 'mute WORDS, unmute, config, configure, trust [yes|no], untrust; alone it toggles.',
  })
  expect(await session.turns()).toBe(0)
})
