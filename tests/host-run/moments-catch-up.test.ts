// The bounded wait for a reviewer that lags, on the published host: it buys the very next step, and only from a reviewer that works.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createHost, type Host } from '../support/host.ts'
import { advise, cut, empty, httpError, REVIEWER_MODEL, stall, stallAfter, text, toolCalls } from '../support/model-server.ts'
import type { Reply, Script } from '../support/model-server.ts'
import { bash, gap, notes, startLines } from './moments-line.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off', syncBacklog: 1 }
const NOTE = 'The files in src/old are still imported.'
const SLOW_MS = 1_500
/** What the agent itself needs between two calls, on a busy machine; less than any wait below. */
const NO_WAIT_MS = 1_400
/** A wait that lasts longer was not ended by the fault itself. */
const ONE_FAULT_MS = 3_500

let host: Host

beforeAll(async () => {
  host = await createHost({ tarball: inject('tarball') })
})
afterAll(() => host.dispose())

/** An agent that makes steps with a tool, each a different one, and then answers. */
function worker(steps: number): Script {
  return (_, index) => index < steps ? toolCalls([bash(`echo step ${index + 1}`)]) : text('answer')
}

async function runWith(config: object, reviewer: Script, primary: Script = worker(3)) {
  host.settings({ advisor: { ...ON, ...config } })
  await using server = await startLines({ primary, reviewer })
  const run = await host.run('Clean up the sources', { server })
  expect(run).toMatchObject({ code: 0, stdout: 'answer\n', timedOut: false })
  const calls = server.primary.requests
  return { run, calls, gaps: calls.slice(1).map((call, index) => gap(calls[index], call)), reviews: server.reviewer.requests }
}

test('advice that takes 1.5 s is in the request of the very next step, and steps that are reviewed fast wait for nothing', async () => {
  const { run, calls, gaps } = await runWith({}, (_, index) => index === 0 ? advise(NOTE, 'concern', { delayMs: SLOW_MS }) : empty())
  expect(run.stderr).toBe('')
  expect(calls.map(call => notes(call).length)).toEqual([0, 1, 1, 1])
  expect(gaps[0]).toBeGreaterThan(NO_WAIT_MS)
  expect(gaps[1]).toBeLessThan(NO_WAIT_MS)
  expect(gaps[2]).toBeLessThan(NO_WAIT_MS)
})

const FAULTS: [string, () => Reply][] = [
  ['a server error', () => httpError(500, { message: 'no' }, { delayMs: SLOW_MS })],
  ['a rate limit', () => httpError(429, { message: 'slow down' }, { delayMs: SLOW_MS })],
  ['a wrong key (401)', () => httpError(401, { message: 'no', type: 'authentication_error' }, { delayMs: SLOW_MS })],
  ['a cut stream', () => cut('The agent should look', { delayMs: SLOW_MS })],
]

test.each(FAULTS)('%s ends the wait at once, and the second step does not wait at all', async (_, reply) => {
  const { gaps } = await runWith({}, reply)
  expect(gaps[0]).toBeGreaterThan(NO_WAIT_MS)
  expect(gaps[0]).toBeLessThan(ONE_FAULT_MS)
  expect(gaps[1]).toBeLessThan(NO_WAIT_MS)
  expect(gaps[2]).toBeLessThan(NO_WAIT_MS)
})

test.each<[string, () => Reply]>([
  ['never answers', stall],
  ['falls silent in the middle', () => stallAfter('The agent')],
])('a reviewer that %s is waited for no longer than one call may take, once', async (_, reply) => {
  const { gaps, run } = await runWith({ timeout: 2 }, reply)
  expect(gaps[0]).toBeGreaterThan(1_900)
  expect(gaps[0]).toBeLessThan(2_000 + NO_WAIT_MS)
  expect(gaps[1]).toBeLessThan(NO_WAIT_MS)
  expect(gaps[2]).toBeLessThan(NO_WAIT_MS)
  expect(run.stderr).toMatch(/^dsh-advisor: .*TIMEOUT/)
})

test('a reviewer that has recovered is waited for again', async () => {
  host.settings({ advisor: ON })
  await using server = await startLines({
    primary: async (request, index) => {
      // The third step is under way until the second try has succeeded.
      if (index === 2) await server.reviewer.ended(1)
      return worker(4)(request, index)
    },
    reviewer: (_, index) => index === 0 ? httpError(500, { message: 'no' }) : index === 2 ? advise(NOTE, 'concern', { delayMs: SLOW_MS }) : empty(),
  })
  expect(await host.run('Clean up the sources', { server })).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
  const calls = server.primary.requests
  expect(gap(calls[1], calls[2])).toBeLessThan(NO_WAIT_MS)
  expect(gap(calls[2], calls[3])).toBeGreaterThan(NO_WAIT_MS)
  expect(notes(calls[3])).toEqual([`concern: ${NOTE}`])
})

test('with room for three unread updates, the first two steps wait for nothing and the third one does', async () => {
  host.settings({ advisor: { ...ON, syncBacklog: 3 } })
  await using server = await startLines({
    primary: worker(3),
    reviewer: async (_, index) => {
      if (index > 0) return empty()
      await server.primary.ended(2)
      return advise(NOTE, 'concern', { delayMs: SLOW_MS })
    },
  })
  expect(await host.run('Clean up the sources', { server })).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
  const calls = server.primary.requests
  expect(gap(calls[0], calls[1])).toBeLessThan(NO_WAIT_MS)
  expect(gap(calls[1], calls[2])).toBeLessThan(NO_WAIT_MS)
  expect(gap(calls[2], calls[3])).toBeGreaterThan(NO_WAIT_MS)
  expect(notes(calls[3])).toEqual([`concern: ${NOTE}`])
})
