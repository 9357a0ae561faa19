// The main job on the published host: a reviewer that speaks at the next step, and leaves nothing else behind.

import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { createHost, type Host } from '../support/host.ts'
import { advise, empty, messageText, PRIMARY_MODEL, REVIEWER_MODEL, startModelServer, text, toolCalls } from '../support/model-server.ts'
import type { ModelRequest, ModelServer, Script } from '../support/model-server.ts'
import { poll } from '../support/poll.ts'
import { resumeSession } from './resume.ts'

/** With catch-up, so that every step is reviewed by itself, however busy the machine is. */
const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off', syncBacklog: 1 }
const NOTE = 'The user asked for "b.txt", not a.txt & c.txt.'
const ADVISORY = `[advisor:concern] The user asked for &quot;b.txt&quot;, not a.txt &amp; c.txt.\n</advisory>`

/** No two alike, so that no guard against repeats can help. */
const COMPLAINTS = [
  'The parser drops the last token of every line.', 'Passwords end up in the log of the web server.',
  'b.txt was never opened.', 'An empty basket divides by zero.', 'French translations are missing from the menu.',
  'Two threads write to one socket.', 'Migration 12 deletes the orders of last year.', 'The licence of the font forbids this use.',
]

let host: Host
/** The requests of the agent in a run without the plugin. */
let control: ModelRequest[]

beforeAll(async () => {
  host = await createHost()
  await using server = await startModelServer({ primary: worker(2) })
  expect(await host.run('Read b.txt', { server })).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
  control = server.of('primary')
  await host.add(inject('tarball'))
})
afterAll(() => host.dispose())
beforeEach(() => host.settings({ advisor: ON }))

/** An agent that makes steps with a tool, each a different one, and then answers. */
function worker(steps: number): Script {
  return (_, index) => index < steps ? toolCalls([bash(`echo step ${index + 1}`)]) : text('answer')
}

function bash(command: string) {
  return { name: 'bash', arguments: { command, description: 'A step' } }
}

/** Speaks in its first review, then no more. */
const once: Script = (_, index) => index === 0 ? advise(NOTE, 'concern', { delayMs: 400 }) : empty()

function lastText(request: ModelRequest | undefined): string {
  return messageText(request?.body.messages.at(-1))
}

function userTexts(request: ModelRequest): string[] {
  return request.body.messages.filter(message => message.role === 'user').map(messageText)
}

function noteCounts(server: ModelServer): number[] {
  return server.of('primary').map(request => userTexts(request).filter(content => content.includes(ADVISORY)).length)
}

test('with catch-up, a concern about step 1 is in the request of step 2', async () => {
  await using server = await startModelServer({ primary: worker(3), reviewer: once })
  const run = await host.run('Read b.txt', { server })

  expect(run).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
  expect(noteCounts(server)).toEqual([0, 1, 1, 1])
  expect(lastText(server.of('primary')[1])).toBe(`<advisory severity="concern" guidance="weigh, don't blindly obey">\n${ADVISORY}`)
})

test('without catch-up, a concern is in the first request after the reviewer gave it', async () => {
  host.settings({ advisor: { ...ON, syncBacklog: 'off' } })
  await using server: ModelServer = await startModelServer({
    primary: async (_, index) => {
      // Step 2 is under way until the reviewer has spoken about step 1.
      if (index === 1) await poll(() => server.of('reviewer')[0]?.endedAt, () => 'no review of step 1', 20_000)
      return worker(3)(_, index)
    },
    reviewer: once,
  })
  expect(await host.run('Read b.txt', { server })).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
  expect(noteCounts(server)).toEqual([0, 0, 1, 1])
  expect(lastText(server.of('primary')[2])).toContain('steps_ago="1"')
})

test('the reviewer is asked with its own model, tools and effort, about every step, and never hears its own advice', async () => {
  host.settings({ advisor: { ...ON, effort: 'max' } })
  await using server = await startModelServer({ primary: worker(2), reviewer: once })
  await host.run('Read b.txt', { server })

  const reviews = server.of('reviewer')
  expect(reviews).toHaveLength(3)
  for (const { body, headers } of reviews) {
    expect(body).toMatchObject({ model: REVIEWER_MODEL, reasoning_effort: 'max' })
    const tools = body.tools?.map(tool => tool.function.name) ?? []
    expect(tools).toContain('advise')
    expect(['advise', 'read', 'grep', 'glob']).toEqual(expect.arrayContaining(tools))
    expect(headers['x-deepseek-harness-session-id']).not.toBe(server.of('primary')[0]!.headers['x-deepseek-harness-session-id'])
  }
  expect(reviews.map(review => userTexts(review).join('\n').match(/^## step [\d.]+$/gm))).toEqual([
    ['## step 1.1'], ['## step 1.1', '## step 1.2'], ['## step 1.1', '## step 1.2', '## step 1.3'],
  ])
  expect(reviews.flatMap(userTexts).join('\n')).not.toContain('advisory')
})

test('the requests of the agent are those of a run without the plugin, byte for byte', async () => {
  await using server = await startModelServer({ primary: worker(2) })
  await host.run('Read b.txt', { server })
  expect(server.of('reviewer')).toHaveLength(3)
  expect(server.of('primary').map(request => request.bodyText)).toEqual(control.map(request => request.bodyText))
})

test('a nit about the answer buys no further step', async () => {
  await using server = await startModelServer({
    primary: worker(1),
    reviewer: request => lastText(request).includes('**agent:** answer') ? advise('The word "answer" could be longer.', 'nit') : empty(),
  })
  expect(await host.run('Read b.txt', { server })).toMatchObject({ code: 0, stdout: 'answer\n' })
  expect(server.of('primary')).toHaveLength(2)
  expect(server.of('reviewer')).toHaveLength(2)
})

test('advice about the answer itself is read on stderr, and stdout stays the answer', async () => {
  host.settings({ advisor: { ...ON, syncBacklog: 'off' } })
  await using server = await startModelServer({
    primary: worker(1),
    reviewer: request => lastText(request).includes('**agent:** answer') ? advise(NOTE, 'blocker', { delayMs: 700 }) : empty(),
  })
  const run = await host.run('Read b.txt', { server })
  expect(run).toMatchObject({ code: 0, stdout: 'answer\n' })
  expect(run.stderr).toMatch(/^dsh-advisor: /)
  expect(run.stderr).toContain('blocker')
  expect(run.stderr).toContain(NOTE)
  expect(server.of('primary')).toHaveLength(2)
})

test('a new blocker about every update cannot keep an agent running that has finished', async () => {
  host.settings({ advisor: { ...ON, immuneTurns: 0 } })
  await using server = await startModelServer({
    primary: (_, index) => index < 2 ? toolCalls([bash(`echo step ${index + 1}`)]) : text(`answer ${index - 1}`),
    reviewer: (_, index) => advise(COMPLAINTS[index] ?? `Fault ${'x'.repeat(index)} was found.`, 'blocker'),
  })
  const run = await host.run('Read b.txt', { server })

  // Two steps, the answer, and the one answer that advice may reopen.
  expect(server.of('primary')).toHaveLength(4)
  expect(run).toMatchObject({ code: 0, stdout: 'answer 2\n', timedOut: false })
  expect(run.stderr).toContain('answer 1')
})

test('a resumed session is reviewed from where it stands, with the task and earlier notes known', async () => {
  await using server = await startModelServer({ primary: worker(2), reviewer: once })
  await host.run('Read b.txt', { server })
  const before = server.of('reviewer').length
  const resumed = await resumeSession(host, host.sessions().at(-1)!, 'And now c.txt', { server })

  expect(resumed).toMatchObject({ code: 0, stdout: 'answer\n' })
  const [review, ...more] = server.of('reviewer').slice(before)
  expect(more).toEqual([])
  const shown = userTexts(review!).join('\n')
  expect(shown).toContain('**user:** Read b.txt')
  expect(shown).toContain(NOTE)
  expect(shown).toContain('## step 2.1\n**user:** And now c.txt')
  expect(shown).not.toContain('echo step')
})

test('removed, the plugin leaves a host that runs and sessions that open', async () => {
  await using advised = await startModelServer({ primary: worker(2), reviewer: once })
  await host.run('Read b.txt', { server: advised })
  const session = host.sessions().at(-1)!
  await host.remove()
  try {
    await using server = await startModelServer({ primary: worker(1) })
    expect(await host.run('Read b.txt', { server })).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
    expect(server.of('primary').map(({ body }) => body.tools)).toEqual(control.slice(0, 2).map(({ body }) => body.tools))

    const resumed = await resumeSession(host, session, 'Go on', { server })
    expect(resumed).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
    expect(noteCounts(server).at(-1)).toBe(1)
    expect(server.of('reviewer')).toEqual([])
  } finally {
    await host.add(inject('tarball'))
  }
})
