// The end of a headless run on the published host: the last reviews are waited for within bounds, the user reads what the agent
// did not, and answer and exit code are those of a run without the advisor.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createHost, type Host, type RunResult } from '../support/host.ts'
import { advise, adviseEach, empty, httpError, REVIEWER_MODEL, stall, stallAfter, text, toolCalls } from '../support/model-server.ts'
import type { ModelServer, Reply, Script } from '../support/model-server.ts'
import { bash, startLines } from './moments-line.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off', notesPerUpdate: 3 }
const FILES = 'The files in src/old are still imported.'
/** A review that lasts so long. */
const SLOW_MS = 2_000
/** "A few seconds" of a busy machine, for all that is done after the answer. */
const SOON_MS = 5_000

/** One step, then the answer; or one step, and then the provider refuses the key. */
const answers: Script = (_, index) => index === 0 ? toolCalls([bash('echo step 1')]) : text('answer')
const breaks: Script = (_, index) => index === 0 ? toolCalls([bash('echo step 1')]) : httpError(401, { message: 'wrong key', type: 'authentication_error' })

let host: Host
let control: { answered: RunResult, broken: RunResult }

beforeAll(async () => {
  host = await createHost()
  control = { answered: (await run(answers, empty)).run, broken: (await run(breaks, empty)).run }
  expect(control).toMatchObject({ answered: { code: 0, stdout: 'answer\n', stderr: '' }, broken: { code: 1 } })
  expect(control.broken.stderr).toMatch(/^dsh: AUTH: /)
  await host.add(inject('tarball'))
})
afterAll(() => host.dispose())

interface Ended {
  run: RunResult
  server: ModelServer
  /** Milliseconds from the end of the agent's last reply to the end of the process. */
  after: number
}

async function run(primary: Script, reviewer: Script, config: object = {}, signal?: AbortSignal): Promise<Ended> {
  host.settings({ advisor: { ...ON, ...config } })
  await using server = await startLines({ primary, reviewer })
  const result = await host.run('Clean up the sources', { server, ...signal === undefined ? {} : { signal } })
  return { run: result, server, after: result.startedAt + result.exitAt - server.primary.requests.at(-1)!.endedAt! }
}

/** The answer, or the host's own account of what went wrong, as without the advisor; returns what stands on stderr besides. */
function expectAsWithout({ run: { code, stdout, stderr, signal, timedOut }, server }: Ended, expected: RunResult): string {
  expect({ code, stdout, signal, timedOut }).toEqual({ code: expected.code, stdout: expected.stdout, signal: null, timedOut: false })
  expect(server.of('primary')).toHaveLength(2)
  expect(stderr).toContain(expected.stderr)
  return stderr.replace(expected.stderr, '')
}

/** Late with all it has to say. */
const lateAtOnce: Script = () => adviseEach([
  { note: 'Rename `x` to `index`.', severity: 'nit' }, { note: FILES, severity: 'blocker' }, { note: 'Port 8080 is taken.', severity: 'concern' },
], { delayMs: SLOW_MS })

/** Silent about the first step, late with what it has to say of the end. */
const late: Script = (request, index) => index === 0 ? empty() : lateAtOnce(request, index)

const BLOCK = [
  'dsh-advisor: 3 notes the agent has not seen, 1 blocker',
  `  [blocker] ${FILES}`, '  [concern] Port 8080 is taken.', '  [nit] Rename `x` to `index`.', '',
].join('\n')

test('a slow last review is waited for, and its notes are read on stderr as one block, the worst first', async () => {
  const ended = await run(answers, late)
  expect(expectAsWithout(ended, control.answered)).toBe(BLOCK)
  expect(ended.after).toBeGreaterThan(SLOW_MS)
  expect(ended.after).toBeLessThan(SLOW_MS + SOON_MS)
})

test('after an error of the agent the slow review is waited for too, and the error is told as ever', async () => {
  const ended = await run(breaks, lateAtOnce)
  expect(expectAsWithout(ended, control.broken)).toBe(BLOCK)
  expect(ended.after).toBeGreaterThan(SLOW_MS)
})

test.each<[string, () => Reply, Script, keyof typeof control]>([
  ['never answers', stall, answers, 'answered'],
  ['falls silent in the middle', () => stallAfter('The agent'), answers, 'answered'],
  ['never answers, after an error of the agent', stall, breaks, 'broken'],
])('a reviewer that %s holds the process for `drain` seconds, and the user learns what was not reviewed', async (_, reply, primary, expected) => {
  const ended = await run(primary, reply, { drain: 1 })
  expect(expectAsWithout(ended, control[expected])).toMatch(/^dsh-advisor: .*not reviewed: .*1 s \(`drain`\)\n$/)
  expect(ended.after).toBeGreaterThan(1_000)
  expect(ended.after).toBeLessThan(1_000 + SOON_MS)
})

test('with `drain: 0` nothing is waited for', async () => {
  const ended = await run(answers, stall, { drain: 0 })
  expect(expectAsWithout(ended, control.answered)).toContain('not reviewed')
  expect(ended.after).toBeLessThan(SOON_MS)
})

const FAULTS: [string, () => Reply][] = [
  ['500', () => httpError(500, { message: 'no' })],
  ['503', () => httpError(503, { message: 'no' })],
  ['429', () => httpError(429, { message: 'slow down' })],
  ['429 that names 20 s', () => httpError(429, { message: 'slow down', headers: { 'retry-after': '20' } })],
]

test.each(FAULTS)('a reviewer that only says %s is not waited for, and the user learns that nobody reviewed', async (_, reply) => {
  const ended = await run(answers, reply)
  expect(expectAsWithout(ended, control.answered)).toMatch(/^dsh-advisor: .*not reviewed.*\n$/)
  expect(ended.after).toBeLessThan(SOON_MS)
  expect(ended.server.of('reviewer').length).toBeLessThanOrEqual(3)
})

test.each(FAULTS.filter(([name]) => name !== '503'))('a %s of the last review alone is not tried again once the answer is out', async (_, reply) => {
  const ended = await run(answers, (_request, index) => index === 0 ? empty() : reply())
  expect(expectAsWithout(ended, control.answered)).toMatch(/^dsh-advisor: .*not reviewed.*\n$/)
  expect(ended.after).toBeLessThan(SOON_MS)
  expect(ended.server.of('reviewer')).toHaveLength(2)
})

test('Ctrl+C ends the wait for a review at once, and takes neither the answer nor a note with it', async () => {
  const interrupt = new AbortController()
  const ended = await run(answers, (_, index) => {
    if (index === 0) return advise(FILES, 'concern', { delayMs: SLOW_MS })
    interrupt.abort('SIGINT')
    return stall()
  }, {}, interrupt.signal)
  expect(ended.run).toMatchObject({ code: 130, stdout: 'answer\n', timedOut: false })
  expect(ended.run.stderr).toContain(`1 note the agent has not seen\n  [concern] ${FILES}\n`)
  expect(ended.after).toBeLessThan(SLOW_MS + SOON_MS)
})

test('a note that a fault follows is told all the same', async () => {
  const ended = await run(answers, (_, index) => index === 0 ? advise(FILES, 'concern', { delayMs: SLOW_MS }) : httpError(500, { message: 'no' }))
  const told = expectAsWithout(ended, control.answered)
  expect(told).toContain(`1 note the agent has not seen\n  [concern] ${FILES}\n`)
  expect(told).toContain('not reviewed')
})
