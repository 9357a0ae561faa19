// What is written down on the published host: figures that are those of the bill, whatever happens to calls and to the process.

import { appendFileSync, createWriteStream, readFileSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { readTotals } from '../../src/record/read-totals.ts'
import { addCall, emptyTotals, type Totals } from '../../src/record/totals.ts'
import { createHost, type Host } from '../support/host.ts'
import { readLines, type Line } from '../support/loop-record.ts'
import {
  advise, cut, empty, httpError, PRIMARY_MODEL, REVIEWER_MODEL, stall, stallAfter, startModelServer, text, toolCalls,
} from '../support/model-server.ts'
import type { ModelRequest, ModelServer, Reply, Script, Usage } from '../support/model-server.ts'
import { poll } from '../support/poll.ts'
import { bash } from './moments-line.ts'
import { resumeSession } from './resume.ts'

const PROVIDER = 'deepseek-official'
const ON = { enabled: true, provider: PROVIDER, model: REVIEWER_MODEL, evidence: 'off' }
const PRICES = {
  [`${PROVIDER}/${REVIEWER_MODEL}`]: { input: 0.435, output: 0.87, cacheRead: 0.003625, currency: 'USD' },
  [`${PROVIDER}/${PRIMARY_MODEL}`]: { input: 2, output: 8, cacheRead: 0.5, currency: 'CNY' },
}

let host: Host

beforeEach(async () => {
  host = await createHost({ tarball: inject('tarball') })
})
afterEach(() => host.dispose())

/** Whether a reviewer asks, whichever of its models. */
const isReview = ({ body }: ModelRequest): boolean => body.tools?.some(tool => tool.function.name === 'advise') === true

/** The sums of what a server reported to the reviewer, by model. */
function billed(...servers: readonly ModelServer[]): Record<string, Usage> {
  const sums: Record<string, Usage> = {}
  for (const { body, usage } of servers.flatMap(({ requests }) => requests.filter(isReview))) {
    if (usage === undefined) continue
    const sum = sums[`${PROVIDER}/${body.model}`] ??= { in: 0, out: 0, cached: 0 }
    for (const key of ['in', 'out', 'cached'] as const) sum[key] += usage[key]
  }
  return sums
}

/** The same of totals that were written down. */
function written({ models }: Totals): Record<string, Usage> {
  return Object.fromEntries(Object.entries(models).map(([model, { tokens: { input, output, cacheRead } }]) => [model, { in: input + cacheRead, out: output, cached: cacheRead }]))
}

function journalPath(): string {
  return join(host.sessions().at(-1)!, 'advisor', '__advisor.jsonl')
}

const usageLines = (): readonly Line[] => readLines(join(host.home, 'advisor', 'usage.jsonl'))

/** The agent works on in so many steps with a tool, each when the last one was reviewed. */
function steady(steps: number, reviewed: () => number): Script {
  return async (_request, index) => {
    await poll(() => reviewed() >= index, () => `step ${index} was not reviewed`, 40_000)
    return index < steps ? toolCalls([bash(`echo step ${index}`)]) : text('answer')
  }
}

/** The agent works on without waiting for anybody. */
const twoSteps: Script = (_request, index) => index === 0 ? toolCalls([bash('echo on')]) : text('answer')

/** Replies to what the reviewer asks, by the number of the review; the last of each ends it. */
type Plan = (review: number) => readonly Reply[]

/** A server on which every call of the reviewer, of any model, follows a plan. */
async function start(steps: number, plan: Plan): Promise<ModelServer> {
  let [review, attempt, primary] = [0, 0, 0]
  const reviewer = (): Reply => {
    const replies = plan(review)
    const reply = replies[attempt++]!
    if (attempt === replies.length) [review, attempt] = [review + 1, 0]
    return reply
  }
  const agent = steady(steps, () => review)
  return startModelServer({ primary: request => isReview(request) ? reviewer() : agent(request, primary++), reviewer })
}

const server500 = () => httpError(500, { message: 'try later' })

test('50 reviews with retries, look-ups, a fallback and an abort: the figures are those of the bill, to the token, for each model', async () => {
  host.settings({ advisor: { ...ON, prices: PRICES, fallbacks: [`${PROVIDER}/${PRIMARY_MODEL}`], timeout: 2, drain: 1 } })
  await using server = await start(49, (review) => {
    if (review === 49) return [stall()]
    if (review === 11) return [httpError(429, { message: 'slow down', headers: { 'retry-after': '1' } }), empty()]
    if (review === 19) return [cut('The agent should'), empty()]
    if (review === 24) return [stallAfter('The agent should'), empty()]
    if (review === 30) return [httpError(402, { message: 'Insufficient Balance' }), empty()]
    if (review % 20 === 3) return [server500(), empty()]
    if (review % 10 === 5) return [toolCalls([{ name: 'read', arguments: { file_path: 'README.md' } }]), toolCalls([{ name: 'grep', arguments: { pattern: 'agent' } }]), empty()]
    if (review % 10 === 7) return [advise(`Step ${review} has no test: ${'abcdefghij'[review % 7]!.repeat(9)}.`, 'nit')]
    return review % 10 === 8 ? [text('All is well with this, I would say.')] : [empty()]
  })
  const result = await host.run('Work in steps', { server, timeoutMs: 180_000 })
  expect(result).toMatchObject({ code: 0, stdout: 'answer\n' })
  expect(result.stderr).toContain(`${REVIEWER_MODEL} failed (QUOTA (HTTP 402): Insufficient Balance); going on with ${PROVIDER}/${PRIMARY_MODEL}`)

  const lines = readLines(journalPath())
  const reviews = lines.filter(({ kind }) => kind === 'review')
  const bill = billed(server)
  expect(Object.keys(bill)).toHaveLength(2)
  const { totals } = lines.at(-1)!
  expect(written(totals)).toEqual(bill)

  // The same from the lines themselves, and from the sums of the day.
  const sum = emptyTotals()
  for (const { model = '', usage } of reviews) if (typeof usage === 'object') addCall(sum, model, usage, undefined)
  expect(written(sum)).toEqual(bill)
  expect(written(usageLines().at(-1)!.totals)).toEqual(bill)

  const asked = server.requests.filter(isReview)
  expect(totals.counts).toMatchObject({ calls: asked.length, reviews: 49, failed: 7, lookups: 10, noVerdict: 5, dropped: 0 })
  expect(Object.values(totals.models).reduce((calls, model) => calls + model.calls, 0)).toBe(asked.length)
  expect(totals.outcomes.nit.notes).toBe(5)
  const ends = (end: string) => reviews.filter(line => line.end === end).length
  expect(['advice', 'silent', 'no-verdict', 'failed', 'aborted'].map(ends)).toEqual([5, 39, 5, 7, 1])

  for (const [model, { input, output, cacheRead, currency }] of Object.entries(PRICES)) {
    const { in: prompt, out, cached } = bill[model]!
    expect(totals.models[model]!.cost).toEqual({ [currency]: expect.closeTo(((prompt - cached) * input + out * output + cached * cacheRead) / 1e6, 9) as number })
  }
}, 240_000)

describe('a session that is killed in the middle of a run', () => {
  /** So many reviews, and gone while the next is under way. */
  async function crash(count: number): Promise<ModelServer> {
    const server = await start(count + 1, review => review === count ? [stall()] : [empty()])
    const kill = new AbortController()
    const run = host.run('Work in steps', { server, signal: kill.signal })
    await poll(() => server.requests.filter(isReview).length > count, () => 'the last review was not asked for', 40_000)
    await poll(() => readLines(journalPath()).length === count, () => 'not all reviews were written down', 40_000)
    kill.abort('SIGKILL')
    expect(await run).toMatchObject({ signal: 'SIGKILL', stdout: '' })
    return server
  }

  test('has lost nothing that was written; a line that was torn is repaired, and the next run adds up with it', async () => {
    host.settings({ advisor: { ...ON, prices: PRICES } })
    await using first = await crash(4)
    const [path, folder] = [journalPath(), host.sessions().at(-1)!]
    expect(written((await readTotals(path)).totals)).toEqual(billed(first))
    const whole = readFileSync(path, 'utf8')
    const torn = whole.slice(whole.lastIndexOf('\n', whole.length - 2) + 1, -1).replace(/"totals":.*/, '"totals":{"counts":{"ca')
    appendFileSync(path, torn)

    await using second = await start(2, () => [empty()])
    expect(await resumeSession(host, folder, 'Go on', { server: second })).toMatchObject({ code: 0, stdout: 'answer\n' })
    expect(journalPath()).toBe(path)
    const after = readFileSync(path, 'utf8')
    expect(after.startsWith(`${whole}${torn}\n{`)).toBe(true)
    const lines = after.slice(whole.length + torn.length + 1).trimEnd().split('\n').map(line => JSON.parse(line) as Line)
    expect(lines.map(({ kind }) => kind)).toEqual(['review', 'review', 'review'])
    const { totals, runs, bad } = await readTotals(path)
    expect([runs, bad]).toEqual([2, 1])
    expect(written(totals)).toEqual(billed(first, second))
  })

  test('has spent what it spent: a budget that it reached is reached for the next run as well', async () => {
    host.settings({ advisor: { ...ON, budget: { tokens: 1_000_000 } } })
    await using first = await crash(2)
    const [{ in: prompt, out }] = Object.values(billed(first)) as [Usage]
    host.settings({ advisor: { ...ON, budget: { tokens: prompt + out } } })
    await using next = await startModelServer({ primary: twoSteps })
    const result = await resumeSession(host, host.sessions().at(-1)!, 'Go on', { server: next })
    expect(result).toMatchObject({ code: 0, stdout: 'answer\n' })
    expect(next.of('reviewer')).toHaveLength(0)
    const said = new Intl.NumberFormat('en-US').format(prompt + out)
    expect(result.stderr).toContain(`dsh-advisor: budget_exhausted: ${said} of ${said} tokens of its budget are spent`)
  })
})

test('a journal of 200 MB is read to its end and takes no memory', async () => {
  const tokens = 1_000_000
  host.settings({ advisor: { ...ON, budget: { tokens: 100_000_000 } } })
  // Says at the end how much memory the process had at most, in kilobytes.
  const probe = join(host.home, 'profiles', host.profile, 'memory-probe.mjs')
  writeFileSync(probe, [
    'import { writeFileSync } from "node:fs"', 'export const name = "memory-probe"',
    `export function apply() { process.on("exit", () => writeFileSync(${JSON.stringify(join(host.root, 'memory'))}, String(process.resourceUsage().maxRSS))) }`,
  ].join('\n'))
  host.patch([{ insert: [{ id: 'memory-probe', name: probe }] }])
  const memory = () => Number(readFileSync(join(host.root, 'memory'), 'utf8'))
  await using first = await start(1, () => [empty()])
  await host.run('Work in steps', { server: first })
  const folder = host.sessions().at(-1)!
  await using second = await start(1, () => [empty()])
  await resumeSession(host, folder, 'Go on', { server: second })
  const small = memory()

  // Real lines, each of another process, with as much shown as a long session shows.
  const path = journalPath()
  const totals = emptyTotals()
  addCall(totals, `${PROVIDER}/${REVIEWER_MODEL}`, { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }, undefined)
  await appendAll(path, Array.from({ length: 400 }, (_, index) => () => (
    `${JSON.stringify({ v: 1, run: `run-${index}`, at: 0, totals, kind: 'review', updates: [1, 1], shown: ['x'.repeat(499_000)] })}\n`
  )))
  expect(statSync(path).size).toBeGreaterThan(199e6)

  host.settings({ advisor: { ...ON, budget: { tokens: 400 * tokens } } })
  await using third = await startModelServer({ primary: twoSteps })
  const result = await resumeSession(host, folder, 'Go on', { server: third })
  expect(result).toMatchObject({ code: 0, stdout: 'answer\n' })
  // Only whoever has read all of it can know that the budget is spent.
  expect(third.of('reviewer')).toHaveLength(0)
  expect(result.stderr).toMatch(/budget_exhausted: 400,\d{3},\d{3} of 400,000,000 tokens/)
  expect(memory() - small).toBeLessThan(80_000)
}, 120_000)

/** Append parts one by one, so that the test itself stays small. */
async function appendAll(path: string, parts: readonly (() => string)[]): Promise<void> {
  const stream = createWriteStream(path, { flags: 'a' })
  for (const part of parts) if (!stream.write(part())) await once(stream, 'drain')
  stream.end()
  await once(stream, 'finish')
}

test('what is written down is the user\'s alone', async () => {
  host.settings({ advisor: ON })
  await using server = await start(1, () => [empty()])
  await host.run('Work in steps', { server })
  const [journal, day] = [journalPath(), join(host.home, 'advisor', 'usage.jsonl')]
  const modes = [dirname(journal), journal, dirname(day), day].map(path => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o700, 0o600, 0o700, 0o600])
})

test('a key that the provider names when it refuses it is not written down', async () => {
  const key = `sk-${'4f9a1c07be52d83e'.repeat(2)}`
  host.settings({ advisor: ON })
  await using server = await startModelServer({
    primary: twoSteps,
    reviewer: () => httpError(401, { message: `Incorrect API key provided: ${key}. You can find it in your account.` }),
  })
  await host.run('Work in steps', { server })
  const line = readFileSync(journalPath(), 'utf8')
  expect(line).toContain('Incorrect API key provided: [secret 1: ')
  expect(line).not.toContain(key)
})
