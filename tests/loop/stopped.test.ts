/** The user stops the run: nothing of the advisor starts it again, and nothing it said is lost or said twice. */
import { expect, test } from 'vitest'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { advise, hang, hold, text, tool } from '../support/adapter-replies.ts'
import type { Reply } from '../support/adapter-replies.ts'
import { eventTypes, userTexts } from '../support/loop.ts'
import { advisories, look, notes, rejections, said, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'

const NOTE = 'blocker: This deletes the backups.'
const blocker = advise('This deletes the backups.', 'blocker')

/** How a user may stop a run. */
const STOPS: readonly [string, (agent: Agent) => void][] = [
  ['keeping what is queued', agent => agent.cancel({ kind: 'user' }, { keepInbox: true })],
  ['clearing what is queued', agent => agent.cancel({ kind: 'user' })],
]

/** What the second step is doing when it is stopped. */
const MOMENTS: readonly [string, () => Reply][] = [
  ['before the first byte, when the host logs no end of the turn', () => hang({ taint: true })],
  ['in the middle of the answer', () => hang({ after: 'I shall now' })],
  ['with everything said but the end', () => hold(text('I shall now'), { at: 'finish' })],
]

const CASES = STOPS.flatMap(([how, stop]) => MOMENTS.map(([when, second]) => [how, when, stop, second] as const))

/** The second step is under way and has not ended. */
async function untilSecond(scene: Scene): Promise<void> {
  await scene.loop.until(() => scene.steps.length === 2)
  await scene.loop.settle()
}

/** Nothing starts, and the note waits for the user. */
async function stays(scene: Scene): Promise<void> {
  await scene.loop.settle()
  expect(scene.agent.status).toBe('idle')
  expect(scene.steps).toHaveLength(2)
  expect((await scene.status()).Notes).toContain('kept for the user\'s next message')
}

/** The user speaks; the note is in that step, once, and in no later message again. */
async function continues(scene: Scene): Promise<void> {
  void scene.prompt('continue')
  await scene.loop.until(() => scene.steps.length === 3)
  expect(notes(scene.steps[2])).toEqual([NOTE])
  expect(userTexts(scene.steps[2]!).filter(value => !value.startsWith('<advisory'))).toEqual(['go', 'continue'])
  await scene.loop.until(() => scene.agent.status === 'idle')
  expect((await scene.status()).Notes).toContain('delivered at step')
  await scene.prompt('and then')
  expect(notes(scene.steps.at(-1))).toEqual([NOTE])
}

function start(second: Reply): Promise<Scene> {
  return startScene({
    // The host's own checks would report its turn without an end.
    invariants: false,
    primary: (_request, index) => index === 0 ? look(0) : index === 1 ? second : text(`answer ${index}`),
  })
}

test.each(CASES)('stopped %s, %s, with a review in flight: it becomes a card', async (_how, _when, stop, second) => {
  const broken = rejections()
  const scene = await start(second())
  const run = scene.prompt('go')
  await untilSecond(scene)
  await scene.reviewer.asked(0)
  stop(scene.agent)
  await run
  await scene.review(0, blocker)
  await stays(scene)
  await continues(scene)
  expect(broken).toEqual([])
})

test.each(CASES)('stopped %s, %s, with a note queued: it becomes a card', async (_how, _when, stop, second) => {
  const scene = await start(second())
  const run = scene.prompt('go')
  await untilSecond(scene)
  await scene.review(0, blocker)
  expect(scene.agent.inbox.nextStep).toHaveLength(1)
  stop(scene.agent)
  await run
  await stays(scene)
  expect(scene.agent.inbox.hasPending).toBe(false)
  await continues(scene)
})

test('stopped while a tool runs, with the note given after the stop and before the agent is idle', async () => {
  const tool1 = Promise.withResolvers<string>()
  const scene = await startScene({
    invariants: false, tools: { bash: () => tool1.promise },
    primary: (_request, index) => [look(0), tool('bash', { command: 'make' })][index] ?? text(`answer ${index}`),
  })
  const run = scene.prompt('go')
  await untilSecond(scene)
  await scene.reviewer.asked(0)
  scene.agent.cancel({ kind: 'user' }, { keepInbox: true })
  await scene.review(0, blocker)
  tool1.resolve('built')
  await run
  await stays(scene)
  await continues(scene)
})

test('a nit that waited as an aside becomes a card too', async () => {
  const scene = await start(hang())
  const run = scene.prompt('go')
  await untilSecond(scene)
  await scene.review(0, advise('`x` is unused.', 'nit'))
  scene.agent.cancel({ kind: 'user' }, { keepInbox: true })
  await run
  await stays(scene)
  void scene.prompt('continue')
  await scene.loop.until(() => scene.steps.length === 3)
  expect(notes(scene.steps[2])).toEqual(['nit: `x` is unused.'])
})

test('the review of what was stopped says so, and whatever it raises stays a card until the user speaks', async () => {
  const scene = await start(hang({ after: 'I shall now' }))
  const run = scene.prompt('go')
  await untilSecond(scene)
  await scene.review(0)
  scene.agent.cancel({ kind: 'user' })
  await run
  const request = await scene.review(1, blocker)
  expect(userTexts(request).at(-1)).toMatch(/\[turn ended: stopped by the user\]$/)
  await stays(scene)
  await continues(scene)
})

test.each([
  ['a follow-up', (agent: Agent) => agent.followup(said('continue'))],
  ['a steer', (agent: Agent) => agent.steer(said('continue'))],
])('%s of the user ends the stopped state: the next blocker interrupts again', async (_name, speak) => {
  const scene = await startScene({ invariants: false, config: { immuneTurns: 0 } })
  const run = scene.prompt('go')
  await scene.step(0)
  scene.agent.cancel({ kind: 'user' })
  await run
  await scene.review(0, blocker)
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(2)
  speak(scene.agent)
  const third = await scene.primary.asked(2)
  expect(notes(third)).toEqual([NOTE])
  await scene.step(2)
  await scene.loop.settle()
  await scene.review(scene.reviews.length - 1, advise('Now the tests are gone as well.', 'blocker'))
  expect(notes(await scene.step(3))).toEqual([NOTE, 'blocker: Now the tests are gone as well.'])
})

test('a queued prompt of the user that survives the stop takes the note with it', async () => {
  const scene = await start(hang({ after: 'I shall now' }))
  const run = scene.prompt('go')
  await untilSecond(scene)
  await scene.review(0, blocker)
  scene.agent.cancel({ kind: 'user' }, { keepInbox: true })
  await run
  await scene.loop.settle()
  void scene.prompt('continue')
  await scene.loop.until(() => scene.steps.length === 3)
  expect(advisories(scene.steps[2])).toHaveLength(1)
})

test('send-now, which throws queued input away and speaks at once, loses no note', async () => {
  const scene = await start(hang({ after: 'I shall now' }))
  const run = scene.prompt('go')
  await untilSecond(scene)
  await scene.review(0, blocker)
  scene.agent.cancel({ kind: 'user' })
  scene.agent.followup(said('continue'))
  await run
  await scene.loop.until(() => scene.steps.length === 3)
  expect(notes(scene.steps[2])).toEqual([NOTE])
  expect(eventTypes(scene.loop.events(scene.agent)).filter(type => type === 'turn/start')).toHaveLength(2)
})

test('a turn that ends in an error is not started again by advice', async () => {
  const scene = await startScene({ invariants: false })
  const run = scene.prompt('go')
  await scene.step(0)
  scene.primary.answer(1, { kind: 'fail', failure: { code: 'SERVER', status: 500, message: 'down' } })
  await run
  await scene.review(0, blocker)
  await stays(scene)
  void scene.prompt('continue')
  expect(notes(await scene.primary.asked(2))).toEqual([NOTE])
})

test('a run that another plugin broke off is unfinished: a concern about it starts the agent again', async () => {
  const scene = await start(hang({ after: 'I shall now' }))
  const run = scene.prompt('go')
  await untilSecond(scene)
  scene.agent.cancel({ kind: 'hook', reason: 'a guard' })
  await run
  await scene.review(0, advise('Wrong file.', 'concern'))
  await scene.loop.until(() => scene.steps.length === 3)
  expect(notes(scene.steps[2])).toEqual(['concern: Wrong file.'])
})

test('idle without the end of the turn counts as stopped by the user, whoever broke it off', async () => {
  const scene = await start(hang({ taint: true }))
  const run = scene.prompt('go')
  await untilSecond(scene)
  scene.agent.cancel({ kind: 'hook', reason: 'a guard' })
  await run
  await scene.review(0, blocker)
  await stays(scene)
  await continues(scene)
})

test('a stop that comes before any review has anything to say leaves the reviewer ready for what follows', async () => {
  const scene = await startScene({ invariants: false })
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.agent.cancel({ kind: 'user' })
  await run
  await scene.reviewer.asked(0)
  void scene.prompt('continue')
  await scene.step(1)
  await scene.review(0)
  const request = await scene.review(1, blocker)
  expect(userTexts(request).at(-1)).toContain('file-1.txt')
  expect(notes(await scene.step(2))).toEqual([NOTE])
})
