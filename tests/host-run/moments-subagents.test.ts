// An agent that delegates on the published headless host: its subagents are reviewed only if the user says so, each by a reviewer of
// its own, and what a subagent did not read is not lost.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createHost, type Host } from '../support/host.ts'
import { advise, empty, REVIEWER_MODEL, startModelServer, text, toolCalls } from '../support/model-server.ts'
import type { ModelRequest, ModelServer } from '../support/model-server.ts'
import { bash, Line, notes, userTexts } from './moments-line.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off', immuneTurns: 0 }
const FILES = 'The files in src/old are still imported.'
const TASK = 'Look for imports of src/old'
const SUFFIX = '-advisor'
/** So that what was said before it is known to the host when it comes. */
const TAKING_ITS_TIME = { delayMs: 300 }

let host: Host

beforeAll(async () => {
  host = await createHost({ tarball: inject('tarball') })
})
afterAll(() => host.dispose())

/** Agent and subagent, each with a model and a reviewer in the test's hands. */
interface Family extends ModelServer {
  parent: { primary: Line, reviewer: Line }
  child: { primary: Line, reviewer: Line }
}

/** The parent delegates, waits for what comes back, and answers. Reviewers are silent unless the test speaks for them. */
async function startFamily(subagents: boolean | string[], childReviewer = new Line(() => empty()), config: object = {}): Promise<Family> {
  host.settings({ advisor: { ...ON, subagents, ...config } })
  const delegate = { name: 'subagent', arguments: { description: 'Look around', prompt: TASK, run_in_background: false } }
  const family = {
    parent: { primary: new Line((_, index) => index === 0 ? toolCalls([delegate]) : text('answer')), reviewer: new Line(() => empty()) },
    child: { primary: new Line(), reviewer: childReviewer },
  }
  const server = await startModelServer({
    primary: (request, index) => memberOf(request).primary.reply(request, index),
    reviewer: (request, index) => memberOf(request).reviewer.reply(request, index),
  })

  /** The parent is the one who speaks first. */
  function memberOf(request: ModelRequest) {
    const [first = request] = family.parent.primary.requests
    return sessionOf(request) === sessionOf(first) ? family.parent : family.child
  }
  return { ...server, ...family }
}

function sessionOf(request: ModelRequest): string {
  const id = String(request.headers['x-deepseek-harness-session-id'])
  return id.endsWith(SUFFIX) ? id.slice(0, -SUFFIX.length) : id
}

test.each([[false], [['explorer']]])('with `subagents: %j` a subagent without a preset is not reviewed, but what its parent got is', async (subagents) => {
  await using server = await startFamily(subagents)
  const { parent, child } = server
  child.primary.answer(0, toolCalls([bash('echo child')]))
  child.primary.answer(1, text('Nothing imports it.'))
  expect(await host.run('Clean up the sources', { server })).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })

  expect(child.primary.requests).toHaveLength(2)
  expect(child.reviewer.requests).toEqual([])
  expect(parent.reviewer.requests).toHaveLength(2)
  const shown = userTexts(parent.reviewer.requests[0]).join('\n')
  expect(shown).toContain('→ subagent(')
  expect(shown).toContain('Nothing imports it.')
  expect(shown).not.toContain('echo child')
})

test('with `subagents: true` each has a reviewer of its own, who knows its task and whose advice is for it alone', async () => {
  await using server = await startFamily(true, new Line(), { syncBacklog: 1 })
  const { parent, child } = server
  const run = host.run('Clean up the sources', { server })
  child.primary.answer(0, toolCalls([bash('echo child')]))
  const review = await child.reviewer.asked(0)
  expect(sessionOf(review)).toBe(sessionOf(child.primary.requests[0]!))
  const shown = userTexts(review).join('\n')
  expect(shown).toContain(`Working folder: ${host.work}`)
  expect(shown).toContain(`**user:** ${TASK}`)
  expect(shown).not.toContain('Clean up the sources')
  child.reviewer.answer(0, advise(FILES, 'concern'))
  expect(notes(await child.primary.asked(1))).toEqual([`concern: ${FILES}`])
  child.primary.answer(1, text('Two files import it.'))
  child.reviewer.answer(1, empty())

  expect(await run).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
  expect(parent.reviewer.requests).toHaveLength(2)
  expect(parent.primary.requests.flatMap(notes)).toEqual([])
  expect(parent.reviewer.requests.flatMap(userTexts).join('\n')).not.toContain(FILES)
})

test('a note that comes too late for a subagent is told to the user', async () => {
  await using server = await startFamily(true, new Line())
  const { child } = server
  const run = host.run('Clean up the sources', { server })
  child.primary.answer(0, toolCalls([bash('echo child')]))
  await child.primary.asked(1)
  child.reviewer.answer(0, advise(FILES, 'concern'))
  await child.reviewer.ended(0)
  child.reviewer.answer(1, empty())
  child.primary.answer(1, text('Nothing imports it.', TAKING_ITS_TIME))

  const { stderr, ...rest } = await run
  expect(rest).toMatchObject({ code: 0, stdout: 'answer\n' })
  expect(child.primary.requests).toHaveLength(2)
  expect(stderr).toContain(`[concern] ${FILES}`)
})

test('a reviewer that never answers holds neither the subagent nor its parent', async () => {
  await using server = await startFamily(true, new Line())
  const { child } = server
  child.primary.answer(0, toolCalls([bash('echo child')]))
  child.primary.answer(1, text('Nothing imports it.'))
  const run = await host.run('Clean up the sources', { server })
  expect(run).toMatchObject({ code: 0, stdout: 'answer\n', timedOut: false })
  expect(child.reviewer.requests.length).toBeGreaterThan(0)
  expect(run.startedAt + run.exitAt - server.parent.primary.requests[1]!.endedAt!).toBeLessThan(5_000)
})
