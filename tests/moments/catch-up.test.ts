/** Catch-up: the primary waits for a reviewer that lags, as long as it may pay, and never longer than the bound. */
import { expect, test } from 'vitest'
import { fail, gateOf, hang, hold, text } from '../support/adapter-replies.ts'
import type { Reply } from '../support/adapter-replies.ts'
import { holdTime, look, notes, rejections, startScene } from '../support/loop-advised.ts'
import type { Scene, SceneOptions } from '../support/loop-advised.ts'
import { escape, raise } from '../support/loop-moments.ts'

const NOTE = 'Zebra: the files in src/old are still imported.'

/** The first step is done; the next one is due, and waits or does not. */
async function firstStep(options: SceneOptions): Promise<Scene> {
  const scene = await startScene(options)
  void scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, look(0))
  await scene.reviewer.asked(0)
  await scene.loop.settle()
  return scene
}

test.each([[1, 1], ['1', 1], [3, 3], ['3', 3], [5, 5], ['5', 5], ['off', 9], [undefined, 9]])(
  'with syncBacklog %j no step begins while %i updates are unread', async (syncBacklog, updates) => {
    const scene = await startScene({ config: { syncBacklog }, primary: (_request, index) => index < 12 ? look(index) : text('done') })
    void scene.prompt('go')
    await scene.reviewer.asked(0)
    await scene.loop.until(() => scene.steps.length >= updates)
    await scene.loop.settle()
    expect(scene.steps).toHaveLength(updates < 9 ? updates : 13)
    await scene.review(0)
    if (updates < 9) expect(scene.steps.length).toBeGreaterThan(updates)
  },
)

test('with syncBacklog 1, advice on a step stands in the request of the next, which waited for it', async () => {
  const scene = await firstStep({ config: { syncBacklog: 1 } })
  expect(scene.steps).toHaveLength(1)
  await scene.review(0, raise(NOTE, 'concern'))
  const second = await scene.primary.asked(1)
  expect(notes(second)).toEqual([`concern: ${NOTE}`])
  expect(JSON.stringify(second.messages)).not.toContain('steps_ago')
  expect(scene.steps).toHaveLength(2)
})

test('with syncBacklog 1, a nit joins the step that waited, and every later step waits again', async () => {
  const scene = await firstStep({ config: { syncBacklog: 1 } })
  await scene.review(0, raise(NOTE, 'nit'))
  expect(notes(await scene.primary.asked(1))).toEqual([`nit: ${NOTE}`])
  scene.primary.answer(1, look(1))
  await scene.reviewer.asked(1)
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(2)
  await scene.review(1)
  expect(scene.steps).toHaveLength(3)
})

test('a wait ends as soon as fewer updates are unread than the threshold, though more are left', async () => {
  const scene = await startScene({ config: { syncBacklog: 3 } })
  void scene.prompt('go')
  await scene.step(0)
  await scene.reviewer.asked(0)
  await scene.step(1)
  scene.primary.answer(2, look(2))
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(3)
  await scene.review(0)
  expect(scene.steps).toHaveLength(4)
  expect((await scene.status()).Pending).toBe('2 updates, reviewing')
  escape(scene.agent)
  await scene.agent.whenIdle()
})

const ENDS: readonly [string, (scene: Scene) => unknown][] = [
  ['a review that fails', scene => scene.reviewer.answer(0, fail({ code: 'SERVER', status: 500 }))],
  ['a rate limit', scene => scene.reviewer.answer(0, fail({ code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 20_000 }))],
  ['a pause for quota', scene => scene.reviewer.answer(0, fail({ code: 'QUOTA', status: 402 }))],
  ['a halt', scene => scene.reviewer.answer(0, fail({ code: 'AUTH', status: 401 }))],
  ['a model that is gone', scene => scene.reviewer.answer(0, fail({ code: 'UNKNOWN_MODEL', status: 404 }))],
  ['a context that is too long', scene => scene.reviewer.answer(0, fail({ code: 'CONTEXT_WINDOW_EXCEEDED', status: 400 }))],
  ['`/advisor off`', scene => scene.advisor('off')],
  ['the plugin\'s end', scene => scene.fiber.dispose()],
]

test.each(ENDS)('%s lets the waiting step go at once', async (_name, end) => {
  const broken = rejections()
  const time = holdTime()
  const scene = await firstStep({ config: { syncBacklog: 1 } })
  expect(scene.steps).toHaveLength(1)
  await end(scene)
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(2)
  scene.primary.answer(1, look(1))
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(3)
  expect(notes(scene.steps[2])).toEqual([])
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
  await scene.fiber.dispose()
  expect(time.timers).toBe(0)
  expect(broken).toEqual([])
})

test('a stop of the user lets the waiting step go at once, and it does not happen', async () => {
  const time = holdTime()
  const scene = await firstStep({ config: { syncBacklog: 1 } })
  const waiting = time.timers
  escape(scene.agent)
  await scene.agent.whenIdle()
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(1)
  expect(time.timers).toBe(waiting - 1)
})

const SILENT: readonly [string, Reply][] = [
  ['hangs', hang()],
  ['hangs and ignores its signal', hang({ ignoreSignal: true })],
  ['begins and then hangs', hang({ after: 'Well' })],
  ['begins, then hangs and ignores its signal', hang({ after: 'Well', ignoreSignal: true })],
]

test.each(SILENT)('a reviewer that %s holds one step for 30 s at most, and the steps after it not at all', async (_name, reply) => {
  const time = holdTime()
  const scene = await firstStep({ config: { syncBacklog: 1 } })
  scene.reviewer.answer(0, reply)
  await time.pass(29_999)
  expect(scene.steps).toHaveLength(1)
  await time.pass(1)
  expect(scene.steps).toHaveLength(2)
  for (const index of [1, 2, 3]) {
    scene.primary.answer(index, look(index))
    await scene.loop.settle()
    expect(scene.steps).toHaveLength(index + 2)
  }
})

test('after a wait that ran out, a review that succeeds makes the next step wait again', async () => {
  const time = holdTime()
  const slow = hold(text('ok'), { at: 'finish' })
  const scene = await firstStep({ config: { syncBacklog: 1 } })
  scene.reviewer.answer(0, slow)
  await time.pass(30_000)
  expect(scene.steps).toHaveLength(2)
  scene.primary.answer(1, look(1))
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(3)
  gateOf(slow).release()
  await scene.review(1)
  scene.primary.answer(2, look(2))
  await scene.reviewer.asked(2)
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(3)
  await scene.review(2)
  expect(scene.steps).toHaveLength(4)
})

test('updates that are not due for a review are not waited for', async () => {
  const scene = await startScene({ config: { syncBacklog: 1, reviewAt: 'turn' }, primary: (_request, index) => index < 3 ? look(index) : text('done') })
  void scene.prompt('go')
  await scene.loop.until(() => scene.steps.length === 4)
})

test('a reviewer that is slow but healthy is waited for at every step', async () => {
  const scene = await startScene({ config: { syncBacklog: 1, immuneTurns: 0 } })
  void scene.prompt('go')
  for (const [index, word] of ['Zebra', 'Yak', 'Wombat'].entries()) {
    await scene.primary.asked(index)
    scene.primary.answer(index, look(index))
    await scene.review(index, raise(`${word}: see ${word.toLowerCase()}.ts once more.`, 'concern'))
    expect(notes(await scene.primary.asked(index + 1)).at(-1)).toBe(`concern: ${word}: see ${word.toLowerCase()}.ts once more.`)
  }
})
