// Advice that comes when the answer is already there, on a real web host: what wakes the agent, what waits for the user, and that
// the reviewer is told nothing of its notes that is not so.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { advise, empty, REVIEWER_MODEL, text, toolCalls } from '../support/model-server.ts'
import { bash, notes, toolResults, userTexts } from './moments-line.ts'
import { startWeb, type Web, type WebSession } from './moments-web.ts'

/** Without immunity, so that nothing but the rule in question keeps a note back. */
const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off', immuneTurns: 0 }
const FILES = 'The files in src/old are still imported.'
const PORT = 'Port 8080 is taken by the proxy.'

let web: Web

beforeAll(async () => {
  web = await startWeb({ tarball: inject('tarball'), advisor: ON })
})
afterAll(async () => {
  expect(await web.close()).toBe('')
})

/** The agent has given its answer, which is under review. */
async function answered(answer = 'done'): Promise<WebSession> {
  const session = await web.open()
  await session.prompt('Clean up the sources')
  session.primary.answer(0, text(answer))
  await session.reviewer.asked(0)
  await session.rest()
  return session
}

test.each(['nit', 'concern'] as const)('a late %s wakes nobody: it waits, and enters with the user\'s next message', async (severity) => {
  const session = await answered()
  session.reviewer.answer(0, advise(PORT, severity))
  await session.reviewed(1)
  expect(await session.isRunning()).toBe(false)
  expect(await session.turns()).toBe(1)
  expect(await session.advisor('notes')).toMatch(new RegExp(`^#1 ${severity}, \\d+ s ago, kept for the user's next message \\(the answer stands\\)`))

  await session.prompt('and now the tests')
  const request = await session.primary.asked(1)
  expect(notes(request)).toEqual([`${severity}: ${PORT}`])
  session.primary.answer(1, text('done'))
  await session.rest()
  expect(await session.advisor('notes')).toMatch(/delivered at step 2\.1/)
})

test('a late blocker wakes one turn, and no second one, whatever is said of the second answer', async () => {
  const session = await answered()
  session.reviewer.answer(0, advise(FILES, 'blocker'))
  expect(notes(await session.primary.asked(1))).toEqual([`blocker: ${FILES}`])
  session.primary.answer(1, text('now really done'))
  session.reviewer.answer(1, advise(PORT, 'blocker'))
  await session.reviewed(2)
  expect(await session.isRunning()).toBe(false)
  expect(await session.turns()).toBe(2)
  expect(session.primary.requests).toHaveLength(2)
  expect(await session.advisor('notes')).toMatch(/\n#2 blocker, \d+ s ago, kept for the user's next message/)

  // The user's word gives advice its chance back.
  await session.prompt('thanks')
  expect(notes(await session.primary.asked(2))).toEqual([`blocker: ${FILES}`, `blocker: ${PORT}`])
  session.primary.answer(2, text('done again'))
  session.reviewer.answer(2, empty())
  await session.rest()
  expect(await session.turns()).toBe(3)
})

test('with `reopen: 0` even a blocker leaves the answer alone', async () => {
  await web.configure({ ...ON, reopen: 0 })
  try {
    const session = await answered()
    session.reviewer.answer(0, advise(FILES, 'blocker'))
    await session.reviewed(1)
    expect(await session.isRunning()).toBe(false)
    expect(await session.turns()).toBe(1)
    expect(await session.advisor('notes')).toContain('kept for the user\'s next message')
  } finally {
    await web.configure(ON)
  }
})

test('a late blocker while the user already wrote on joins their turn instead of starting its own', async () => {
  const session = await answered()
  await session.prompt('and now the tests')
  await session.primary.asked(1)
  session.reviewer.answer(0, advise(FILES, 'blocker'))
  await session.reviewed(1)
  session.primary.answer(1, toolCalls([bash('echo tests')]))
  expect(notes(await session.primary.asked(2))).toEqual([`blocker: ${FILES}`])
  expect(await session.turns()).toBe(2)
})

test('the reviewer is not told that a note was delivered when it was only kept', async () => {
  const session = await answered()
  session.reviewer.answer(0, advise(PORT, 'concern'))
  await session.reviewed(1)
  await session.prompt('and now the tests')
  await session.primary.asked(1)
  session.primary.answer(1, toolCalls([bash('echo tests')]))
  const review = await session.reviewer.asked(1)
  expect(toolResults(review)).toEqual(['Recorded.'])
  expect(userTexts(review).join('\n')).not.toContain(PORT)
})

test('a reviewer that starts afresh is told what became of each of its notes', async () => {
  const session = await answered()
  session.reviewer.answer(0, advise(PORT, 'concern'))
  await session.reviewed(1)
  await session.prompt('and now the tests')
  await session.primary.asked(1)
  session.primary.answer(1, toolCalls([bash('echo tests')]))
  await session.primary.asked(2)
  session.reviewer.answer(1, advise(FILES, 'concern'))
  await session.reviewed(2)
  expect(await session.advisor('notes')).toMatch(/\n#2 concern, \d+ s ago, on its way/)
  // Off takes back what is queued for the agent, on begins a new conversation.
  await session.advisor('off')
  await session.advisor('on')
  session.primary.answer(2, text('done with the tests'))

  const head = userTexts(await session.reviewer.asked(2))[0]!
  expect(head).toContain('The user\'s request:\n**user:** Clean up the sources')
  expect(head).toContain('The user\'s latest message:\n**user:** and now the tests')
  expect(head).toContain(`- concern, delivered at step 2.1: ${PORT}`)
  expect(head).toContain(`- concern, kept for the user's next message (the advisor was switched off): ${FILES}`)
  await session.rest()
  expect(await session.turns()).toBe(2)
  await session.prompt('thanks')
  expect(notes(await session.primary.asked(3))).toEqual([`concern: ${PORT}`, `concern: ${FILES}`])
})
