// Whatever is wrong with the reviewer's provider, the user gets the answer, the exit code and the time of a run without it.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createHost, type Host, type RunResult } from '../support/host.ts'
import {
  cut, empty, emptyBody, garbage, httpError, REVIEWER_MODEL, stall, stallAfter, startModelServer, text, toolCalls,
} from '../support/model-server.ts'
import type { ModelServer, Reply, Script } from '../support/model-server.ts'
import { poll } from '../support/poll.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off' }
/** Steps with a tool, then the answer: as many updates and one more. */
const STEPS = 3
const UPDATES = STEPS + 1
const OVERFLOW = "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens."
/** A guard against hanging, not a measure of speed. */
const PROMPT_EXIT_MS = 6_000

interface Fault {
  name: string
  reply: () => Reply
  /** Calls the run waits for, so that the reviewer has time to get into its state, and the most there may be in all. */
  calls: [awaited: number, most: number]
  /** What the user reads on stderr, once; without it, nothing is wrong for long, and nothing is said. */
  says?: RegExp
  /** Seconds a call may take. */
  timeout?: number
}

/** The batch is tried again once and then dropped; updates made meanwhile are in the second try. */
const RETRIED: Fault['calls'] = [2, 2 * UPDATES]
/** One call ends it, or starts a wait longer than the run. */
const STOPPED: Fault['calls'] = [1, 1]
/** The reply is no good, but it is one: the next update is reviewed as usual. */
const EACH: Fault['calls'] = [2, UPDATES]

const FAULTS: Fault[] = [
  { name: 'a rate limit of 5 s', reply: () => limited('5'), calls: STOPPED, says: /^dsh-advisor: .*RATE_LIMIT/m },
  { name: 'a rate limit of 300 s', reply: () => limited('300'), calls: STOPPED, says: /^dsh-advisor: quota_exhausted: RATE_LIMIT/m },
  { name: 'a rate limit of unknown length', reply: () => limited(), calls: RETRIED, says: /^dsh-advisor: .*RATE_LIMIT/m },
  { name: 'no money (402)', reply: () => failed(402, 'Insufficient Balance'), calls: STOPPED, says: /^dsh-advisor: quota_exhausted: QUOTA/m },
  { name: 'a wrong key (401)', reply: () => failed(401), calls: STOPPED, says: /^dsh-advisor: halted: AUTH .*401/m },
  { name: 'a forbidden model (403)', reply: () => failed(403), calls: STOPPED, says: /^dsh-advisor: halted: AUTH .*403/m },
  { name: 'a refused request (400)', reply: () => failed(400), calls: STOPPED, says: /^dsh-advisor: halted: INVALID_REQUEST/m },
  { name: 'an unknown model (404)', reply: () => failed(404), calls: STOPPED, says: /^dsh-advisor: halted: .*404/m },
  { name: 'an overflowing context', reply: () => failed(400, OVERFLOW), calls: RETRIED, says: /^dsh-advisor: .*CONTEXT_WINDOW_EXCEEDED/m },
  { name: 'a server error (500)', reply: () => failed(500), calls: RETRIED, says: /^dsh-advisor: failing: SERVER .*500/m },
  { name: 'a server error (503)', reply: () => failed(503), calls: RETRIED, says: /^dsh-advisor: failing: SERVER .*503/m },
  { name: 'silence', reply: stall, calls: RETRIED, says: /^dsh-advisor: failing: TIMEOUT/m, timeout: 1 },
  { name: 'silence after some text', reply: () => stallAfter('The agent'), calls: RETRIED, says: /^dsh-advisor: failing: TIMEOUT/m, timeout: 1 },
  { name: 'a cut stream', reply: () => cut('The agent should look'), calls: RETRIED, says: /^dsh-advisor: failing: TRANSPORT/m },
  { name: 'an empty reply without usage', reply: () => empty({ usage: null }), calls: RETRIED, says: /^dsh-advisor: failing: EMPTY_RESPONSE/m },
  { name: 'an empty body', reply: emptyBody, calls: RETRIED, says: /^dsh-advisor: failing: STREAM_CLOSED/m },
  { name: 'a stream of garbage', reply: garbage, calls: RETRIED, says: /^dsh-advisor: failing: MALFORMED_RESPONSE/m },
  { name: 'an empty reply', reply: empty, calls: EACH },
  { name: 'text that is not JSON', reply: () => text('The agent { should "look": again'), calls: EACH },
  { name: 'an unknown tool', reply: () => call('bash', { command: 'touch owned', description: 'Own it' }), calls: EACH },
  { name: 'broken arguments', reply: () => call('advise', '{"note": "The agent sho'), calls: EACH },
  { name: 'mistyped arguments', reply: () => call('advise', { note: 42, severity: ['blocker'] }), calls: EACH },
]

let host: Host
let control: { run: RunResult, requests: number }

beforeAll(async () => {
  host = await createHost()
  await using server = await startModelServer({ primary: worker() })
  control = { run: await host.run('Do the job', { server }), requests: server.of('primary').length }
  expect(control).toMatchObject({ run: { code: 0, stdout: 'answer\n', stderr: '' }, requests: STEPS + 1 })
  await host.add(inject('tarball'))
})
afterAll(() => host.dispose())

function limited(seconds?: string): Reply {
  return httpError(429, { message: 'slow down', ...seconds === undefined ? {} : { headers: { 'retry-after': seconds } } })
}

function failed(status: number, message = 'no'): Reply {
  return httpError(status, { message, type: 'invalid_request_error' })
}

function call(name: string, args: string | object): Reply {
  return toolCalls([{ name, arguments: args }])
}

/** An agent whose last step waits for what it is told to wait for. */
function worker(beforeLast: () => unknown = () => {}): Script {
  return async (_, index) => {
    if (index === STEPS - 1) await beforeLast()
    if (index >= STEPS) return text('answer')
    return toolCalls([{ name: 'bash', arguments: { command: `echo step ${index + 1}`, description: 'A step' } }])
  }
}

/** One run with the reviewer at fault, held before its last step until enough of its calls have failed. */
async function runWith(reply: () => Reply, awaited: number): Promise<{ run: RunResult, server: ModelServer }> {
  const server: ModelServer = await startModelServer({
    primary: worker(() => poll(() => over(server) >= awaited, () => `${over(server)} of ${awaited} reviews`, 20_000)),
    reviewer: reply,
  })
  try {
    return { run: await host.run('Do the job', { server }), server }
  } finally {
    await server.close()
  }
}

function over(server: ModelServer): number {
  return server.of('reviewer').filter(request => request.endedAt !== undefined).length
}

function expectControl({ run, server }: { run: RunResult, server: ModelServer }) {
  expect(run).toMatchObject({ code: control.run.code, stdout: control.run.stdout, signal: null, timedOut: false })
  expect(server.of('primary')).toHaveLength(control.requests)
  const answered = server.of('primary').at(-1)!.endedAt! - run.startedAt
  expect(run.exitAt - answered).toBeLessThan(PROMPT_EXIT_MS)
}

test.each(FAULTS)('$name costs the run nothing', async ({ reply, calls: [awaited, most], says, timeout }) => {
  host.settings({ advisor: { ...ON, ...timeout === undefined ? {} : { timeout } } })
  const { run, server } = await runWith(reply, awaited)

  expectControl({ run, server })
  const calls = server.of('reviewer').length
  expect(calls).toBeGreaterThanOrEqual(awaited)
  expect(calls).toBeLessThanOrEqual(most)
  expect(run.stderr).toMatch(says ?? /^$/)
  expect(run.stderr.split('\n').length - 1).toBe(says === undefined ? 0 : 1)
  expect(existsSync(join(host.work, 'owned'))).toBe(false)
})

test('a reviewer that never answers holds the process no longer than `drain`', async () => {
  host.settings({ advisor: { ...ON, drain: 1 } })
  const { run, server } = await runWith(stall, 0)
  expectControl({ run, server })
  expect(server.of('reviewer')).toHaveLength(1)
  expect(run.stderr).toContain('not reviewed')
})

test('one bad call among good ones is repaired without a word', async () => {
  host.settings({ advisor: ON })
  const { run, server } = await runWith(oneBad(), 2)
  expectControl({ run, server })
  expect(run.stderr).toBe('')
})

test('a provider that this host does not have is said once and never called', async () => {
  host.settings({ advisor: { ...ON, provider: 'nobody' } })
  const { run, server } = await runWith(empty, 0)
  expectControl({ run, server })
  expect(server.of('reviewer')).toEqual([])
  expect(run.stderr).toMatch(/^dsh-advisor: no_model: .*nobody.*\n$/)
})

function oneBad(): () => Reply {
  let calls = 0
  return () => calls++ === 0 ? failed(500) : empty()
}
