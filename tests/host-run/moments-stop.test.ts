// The user stops the agent on a real web host, in all the ways there are. What the reviewer said, or says later, waits for the
// user's next words and enters with them, once; nothing starts again by itself.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { adviseEach, advise, empty, REVIEWER_MODEL, stallAfter, text, toolCalls } from '../support/model-server.ts'
import { bash, notes, userTexts } from './moments-line.ts'
import { startWeb, type Web, type WebSession } from './moments-web.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off' }
const FILES = 'The files in src/old are still imported.'
const PORT = 'Port 8080 is taken by the proxy.'

/** What a terminal's send-now does: it throws away what is queued, and speaks at once. The page has no such button. */
const SEND_NOW = `
import { createUserMessage } from '@deepseek-ai/dsh-llm'
export const name = 'send-now'
export const inject = ['commands']
export function apply(ctx) {
  ctx.commands.register({ name: 'send-now', description: 'Stop and say this instead', handler: ({ agent, rawInput }) => {
    agent.cancel({ kind: 'user' })
    agent.followup(createUserMessage({ content: [{ type: 'text', text: rawInput.trim() }], source: { kind: 'user' } }))
    return { kind: 'success', text: 'sent' }
  } })
}
`

let web: Web

beforeAll(async () => {
  web = await startWeb({
    tarball: inject('tarball'), advisor: ON,
    prepare: (host) => {
      // Below the profile, so that the module gets the host's own packages.
      const path = join(host.home, 'profiles', host.profile, 'send-now.mjs')
      writeFileSync(path, SEND_NOW)
      host.patch([{ insert: [{ id: 'send-now', name: path }] }])
    },
  })
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

/** The user goes on: what the model is asked then, and how often each note is in it. */
async function goOn(session: WebSession, step: number, words = 'continue') {
  await session.prompt(words)
  return session.primary.asked(step)
}

test('a stop while a review is in flight makes its blocker a card; "continue" brings it, once', async () => {
  const session = await underWay()
  session.primary.answer(1, stallAfter('Now I will'))
  await session.stop()
  session.reviewer.answer(0, advise(FILES, 'blocker'))
  session.reviewer.answer(1, empty())
  await session.reviewed(2)

  expect(await session.isRunning()).toBe(false)
  expect(await session.turns()).toBe(1)
  expect(await session.advisor('notes')).toMatch(/^#1 blocker, \d+ s ago, kept for the user's next message \(the run was stopped\): The files/)
  const request = await goOn(session, 2)
  expect(notes(request)).toEqual([`blocker: ${FILES}`])
  expect(userTexts(request).at(-2)).toBe('continue')

  session.primary.answer(2, text('done'))
  session.reviewer.answer(2, empty())
  await session.rest()
  expect(notes(await goOn(session, 3, 'thanks'))).toEqual([`blocker: ${FILES}`])
  expect(session.primary.requests).toHaveLength(4)
})

test('a stop before the first byte of the answer, after which the host logs no end of the turn, starts nothing either', async () => {
  const session = await underWay()
  await session.stop()
  session.reviewer.answer(0, advise(FILES, 'blocker'))
  await session.reviewed(1)

  expect(session.primary.requests[1]).toMatchObject({ aborted: true })
  expect(session.primary.requests[1]!.firstByteAt).toBeUndefined()
  expect(await session.isRunning()).toBe(false)
  expect(await session.turns()).toBe(1)
  expect(await session.advisor('notes')).toContain('kept for the user\'s next message (the run was stopped)')
  expect(notes(await goOn(session, 2))).toEqual([`blocker: ${FILES}`])
})

test('notes that were queued when the user stopped enter with "continue" as one message, the worst first', async () => {
  await web.configure({ ...ON, notesPerUpdate: 2 })
  try {
    const session = await underWay()
    session.reviewer.answer(0, adviseEach([{ note: 'Rename `x` to `index`.', severity: 'nit' }, { note: PORT, severity: 'concern' }]))
    await session.reviewed(1)
    expect(await session.advisor('notes')).toMatch(/^#1 concern, \d+ s ago, on its way: .*\n#2 nit, \d+ s ago, waiting for the next step: /)
    session.primary.answer(1, stallAfter('Now I will'))
    await session.stop()
    expect(await session.isRunning()).toBe(false)

    const request = await goOn(session, 2)
    expect(notes(request)).toEqual([`concern: ${PORT}`, 'nit: Rename `x` to `index`.'])
    expect(userTexts(request).filter(content => content.includes('<advisory'))).toHaveLength(1)
    expect(await session.turns()).toBe(2)
  } finally {
    await web.configure(ON)
  }
})

test('when a message of the user was queued behind the stop, the card enters with that one, and only once', async () => {
  const session = await underWay()
  await session.prompt('then the tests')
  session.reviewer.answer(0, advise(FILES, 'concern'))
  await session.reviewed(1)
  session.primary.answer(1, stallAfter('Now I will'))
  await session.stop()
  session.reviewer.answer(1, empty())
  await session.reviewed(2)
  expect(await session.turns()).toBe(1)

  const request = await goOn(session, 2)
  expect(userTexts(request).at(-2)).toBe('then the tests')
  expect(notes(request)).toEqual([`concern: ${FILES}`])
  session.primary.answer(2, text('done'))
  const next = await session.primary.asked(3)
  expect(userTexts(next).at(-1)).toBe('continue')
  expect(notes(next)).toEqual([`concern: ${FILES}`])
})

test('after a stop, a steer of the user ends the silence: the next concern interrupts again', async () => {
  const session = await underWay()
  session.primary.answer(1, stallAfter('Now I will'))
  await session.stop()
  await session.prompt('use the other folder', 'steer')
  session.primary.answer(2, toolCalls([bash('echo step 2')]))
  session.reviewer.answer(0, empty())
  session.reviewer.answer(1, advise(PORT, 'concern'))
  await session.reviewed(2)
  await session.primary.asked(3)
  session.primary.answer(3, toolCalls([bash('echo step 3')]))
  expect(notes(await session.primary.asked(4))).toEqual([`concern: ${PORT}`])
})

test('send-now with a note queued loses no note: it enters with what was sent, in one turn', async () => {
  const session = await underWay()
  session.reviewer.answer(0, advise(FILES, 'blocker'))
  await session.reviewed(1)
  expect(await session.advisor('notes')).toContain('on its way')
  expect(await session.command('/send-now do this instead')).toMatchObject({ kind: 'success' })

  const request = await session.primary.asked(2)
  expect(notes(request)).toEqual([`blocker: ${FILES}`])
  expect(userTexts(request).at(-2)).toBe('do this instead')
  session.primary.answer(2, text('done'))
  session.reviewer.answer(1, empty())
  await session.rest()
  expect(await session.turns()).toBe(2)
  expect(session.primary.requests).toHaveLength(3)
})

test('a stop while a step waits for the reviewer ends the wait, and the step never comes', async () => {
  await web.configure({ ...ON, syncBacklog: 1 })
  try {
    const session = await web.open()
    await session.prompt('Clean up the sources')
    session.primary.answer(0, toolCalls([bash('echo step 1')]))
    await session.reviewer.asked(0)
    expect(await session.isRunning()).toBe(true)
    await session.stop()
    session.reviewer.answer(0, advise(FILES, 'blocker'))
    await session.reviewed(1)
    expect(session.primary.requests).toHaveLength(1)
    expect(await session.isRunning()).toBe(false)
    expect(notes(await goOn(session, 1))).toEqual([`blocker: ${FILES}`])
  } finally {
    await web.configure(ON)
  }
})

test('switching the advisor off lets a step go that waits for the reviewer', async () => {
  await web.configure({ ...ON, syncBacklog: 1 })
  try {
    const session = await web.open()
    await session.prompt('Clean up the sources')
    session.primary.answer(0, toolCalls([bash('echo step 1')]))
    await session.reviewer.asked(0)
    await session.advisor('off')
    expect(notes(await session.primary.asked(1))).toEqual([])
    expect(session.reviewer.requests[0]).toMatchObject({ aborted: true })
  } finally {
    await web.configure(ON)
  }
})
