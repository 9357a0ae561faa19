// Notes that are raised in time reach the running agent in the same prompt, on the published headless host, and no answer is lost.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createHost, type Host } from '../support/host.ts'
import { advise, empty, REVIEWER_MODEL, text, toolCalls } from '../support/model-server.ts'
import { bash, lastText, notes, startLines, userTexts } from './moments-line.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off' }
const FILES = 'The files in src/old are still imported.'
const PORT = 'Port 8080 is taken by the proxy.'
/** For an answer: what the reviewer said before it is known to the host when it comes. */
const TAKING_ITS_TIME = { delayMs: 300 }

let host: Host

beforeAll(async () => {
  host = await createHost({ tarball: inject('tarball') })
})
afterAll(() => host.dispose())

function start(config: object = {}) {
  host.settings({ advisor: { ...ON, ...config } })
  return startLines()
}

function step(number: number) {
  return toolCalls([bash(`echo step ${number}`)])
}

test('nit, concern and blocker about different steps are each in the next request, in the same prompt', async () => {
  await using server = await start()
  const { primary, reviewer } = server
  const run = host.run('Clean up the sources', { server })
  const said = [advise('Rename `x` to `index`.', 'nit'), advise(PORT, 'concern'), advise(FILES, 'blocker'), empty()]
  primary.answer(0, step(1))
  for (const [index, reply] of said.entries()) {
    // The next step is under way when the reviewer speaks about the one before.
    await primary.asked(index + 1)
    reviewer.answer(index, reply)
    await reviewer.ended(index)
    primary.answer(index + 1, index === 3 ? text('answer', TAKING_ITS_TIME) : step(index + 2))
  }
  reviewer.answer(4, empty())

  expect(await run).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
  const all = ['nit: Rename `x` to `index`.', `concern: ${PORT}`, `blocker: ${FILES}`]
  expect(primary.requests.map(notes)).toEqual([[], [], all.slice(0, 1), all.slice(0, 2), all])
})

test('concerns that come in an interruption\'s shadow interrupt no more, but reach the agent all the same', async () => {
  await using server = await start({ immuneTurns: 10 })
  const { primary, reviewer } = server
  const run = host.run('Clean up the sources', { server })
  const concerns = ['Alpha.ts is never closed.', 'The beta server logs its passwords.', 'An empty basket divides by zero.']
  primary.answer(0, step(1))
  for (const [index, note] of concerns.entries()) {
    await primary.asked(index + 1)
    reviewer.answer(index, advise(note, 'concern'))
    await reviewer.ended(index)
    primary.answer(index + 1, step(index + 2))
  }
  await primary.asked(4)
  primary.answer(4, text('answer'))
  for (const index of [3, 4]) reviewer.answer(index, empty())

  expect(await run).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
  expect(primary.requests.map(request => notes(request).length)).toEqual([0, 0, 1, 2, 3])
})

test('late advice says how many steps ago it holds, and all that came meanwhile is reviewed at once', async () => {
  await using server = await start()
  const { primary, reviewer } = server
  const run = host.run('Clean up the sources', { server })
  for (const index of [0, 1, 2, 3]) primary.answer(index, step(index + 1))
  await primary.asked(4)
  reviewer.answer(0, advise(FILES, 'blocker'))
  await reviewer.ended(0)
  const second = await reviewer.asked(1)
  reviewer.answer(1, advise(PORT, 'concern'))
  await reviewer.ended(1)
  primary.answer(4, step(5))
  await primary.asked(5)
  primary.answer(5, text('answer'))
  reviewer.answer(2, empty())
  reviewer.answer(3, empty())

  expect(await run).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
  expect(userTexts(second).join('\n').match(/^## step [\d.]+$/gm)).toEqual(['## step 1.1', '## step 1.2', '## step 1.3', '## step 1.4'])
  // Five steps are over: the first note is about step 1, the second about step 4. The newest work comes first.
  expect(notes(primary.requests[5])).toEqual([`concern: ${PORT}`, `blocker: ${FILES}`])
  const advice = userTexts(primary.requests[5]).filter(content => content.includes('<advisory'))
  expect(advice).toHaveLength(1)
  expect(advice[0]!.match(/severity="\w+" steps_ago="\d+"/g)).toEqual(['severity="concern" steps_ago="1"', 'severity="blocker" steps_ago="4"'])
})

test('a blocker that comes while the answer streams buys a second one: it is on stdout, the first on stderr', async () => {
  await using server = await start()
  const { primary, reviewer } = server
  const run = host.run('Clean up the sources', { server })
  primary.answer(0, step(1))
  await primary.asked(1)
  reviewer.answer(0, advise(FILES, 'blocker'))
  await reviewer.ended(0)
  primary.answer(1, text('All is clean.\nNothing is left.', TAKING_ITS_TIME))
  expect(notes(await primary.asked(2))).toEqual([`blocker: ${FILES}`])
  primary.answer(2, text('Now it is.'))
  for (const index of [1, 2]) reviewer.answer(index, empty())

  const { stderr, ...rest } = await run
  expect(rest).toMatchObject({ code: 0, stdout: 'Now it is.\n' })
  expect(stderr).toMatch(/^dsh-advisor: .*answer.*\nAll is clean\.\nNothing is left\.\n$/)
  expect(primary.requests).toHaveLength(3)
})

test('a concern that comes while the answer streams buys none: it is told on stderr, and the answer stands', async () => {
  await using server = await start()
  const { primary, reviewer } = server
  const run = host.run('Clean up the sources', { server })
  primary.answer(0, step(1))
  await primary.asked(1)
  reviewer.answer(0, advise(FILES, 'concern'))
  await reviewer.ended(0)
  primary.answer(1, text('answer', TAKING_ITS_TIME))
  reviewer.answer(1, empty())

  expect(await run).toMatchObject({
    code: 0, stdout: 'answer\n', stderr: `dsh-advisor: 1 note the agent has not seen\n  [concern] ${FILES}\n`,
  })
  expect(primary.requests).toHaveLength(2)
})

test('with the wait on, a blocker about the answer itself comes before it is final', async () => {
  await using server = await start({ syncBacklog: 1 })
  const { primary, reviewer } = server
  const run = host.run('Clean up the sources', { server })
  primary.answer(0, text('All is clean.'))
  expect(lastText(await reviewer.asked(0))).toContain('**agent:** All is clean.')
  reviewer.answer(0, advise(FILES, 'blocker', { delayMs: 500 }))
  expect(notes(await primary.asked(1))).toEqual([`blocker: ${FILES}`])
  primary.answer(1, text('Now it is.'))
  reviewer.answer(1, advise(PORT, 'blocker'))

  const { stderr, ...rest } = await run
  expect(rest).toMatchObject({ code: 0, stdout: 'Now it is.\n' })
  expect(stderr).toContain('\nAll is clean.\n')
  expect(stderr).toContain(`1 note the agent has not seen, 1 blocker\n  [blocker] ${PORT}\n`)
  expect(primary.requests).toHaveLength(2)
})
