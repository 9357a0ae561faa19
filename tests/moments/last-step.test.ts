/** Catch-up before the answer is final: advice on the last step lands in the same turn, or waits; nothing breaks the turn. */
import { expect, test } from 'vitest'
import { fail, hang, text } from '../support/adapter-replies.ts'
import type { Reply } from '../support/adapter-replies.ts'
import { holdTime, notes, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'
import { escape, goHeadless, raise, standing, turns } from '../support/loop-moments.ts'

const NOTE = 'Zebra: the files in src/old are still imported.'

/** The answer is given; its turn is about to close. The review with the index returned is held. */
async function answered(scene: Scene): Promise<number> {
  void scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('first answer'))
  await scene.reviewer.asked(0)
  await scene.loop.settle()
  expect(scene.agent.status).toBe('running')
  return 0
}

test('a blocker on the last step becomes one more step of the same turn', async () => {
  const scene = await startScene({ config: { syncBacklog: 1 } })
  await scene.review(await answered(scene), raise(NOTE, 'blocker'))
  const second = await scene.primary.asked(1)
  expect(notes(second)).toEqual([`blocker: ${NOTE}`])
  expect(JSON.stringify(second.messages)).not.toContain('steps_ago')
  scene.primary.answer(1, text('second answer'))
  await scene.review(1)
  await scene.agent.whenIdle()
  expect(turns(scene.agent)).toBe(1)
  expect(scene.steps).toHaveLength(2)
})

test.each(['nit', 'concern'] as const)('a %s on the last step becomes a card and buys no step', async (severity) => {
  const scene = await startScene({ config: { syncBacklog: 1 } })
  await scene.review(await answered(scene), raise(NOTE, severity))
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(1)
  expect(await standing(scene, NOTE)).toBe('card')
  void scene.prompt('thanks')
  expect(notes(await scene.primary.asked(1))).toEqual([`${severity}: ${NOTE}`])
})

test.each([3, 5])('with syncBacklog %i too the last step is read before its answer is final', async (syncBacklog) => {
  const scene = await startScene({ config: { syncBacklog } })
  await scene.review(await answered(scene), raise(NOTE, 'blocker'))
  expect(notes(await scene.primary.asked(1))).toEqual([`blocker: ${NOTE}`])
  expect(turns(scene.agent)).toBe(1)
})

test('without syncBacklog the answer is final at once', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('first answer'))
  await run
  expect(scene.agent.status).toBe('idle')
})

test('blockers on every answer reopen no more often than allowed, each in the same turn', async () => {
  const scene = await startScene({ config: { syncBacklog: 1, immuneTurns: 0, reopen: 2 } })
  await answered(scene)
  for (const [index, word] of ['Zebra', 'Yak', 'Wombat'].entries()) {
    await scene.review(index, raise(`${word}: see ${word.toLowerCase()}.ts once more.`, 'blocker'))
    scene.primary.answer(index + 1, text(`answer ${index + 1}`))
  }
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(3)
  expect(turns(scene.agent)).toBe(1)
  expect(await standing(scene, 'Wombat')).toBe('card')
})

test('on a headless run the answer that a blocker reopened stands on stderr, in full', async () => {
  const scene = await startScene({ config: { syncBacklog: 1 } })
  const stderr = goHeadless(scene.loop)
  await scene.review(await answered(scene), raise(NOTE, 'blocker'))
  expect(notes(await scene.primary.asked(1))).toEqual([`blocker: ${NOTE}`])
  expect(stderr.text).toContain('first answer')
  scene.primary.answer(1, text('second answer'))
  await scene.review(1)
  await scene.agent.whenIdle()
  expect(stderr.text).not.toContain('second answer')
  expect(scene.loop.lastText(scene.agent)).toBe('second answer')
})

const FAULTS: readonly [string, Reply, number][] = [
  ['fails', fail({ code: 'SERVER', status: 500 }), 0],
  ['is out of quota', fail({ code: 'QUOTA', status: 402 }), 0],
  ['is refused', fail({ code: 'AUTH', status: 401 }), 0],
  ['hangs', hang({ after: 'Well' }), 30_000],
  ['hangs and ignores its signal', hang({ ignoreSignal: true }), 30_000],
]

test.each(FAULTS)('a reviewer that %s keeps no answer from being final', async (_name, reply, ms) => {
  const time = holdTime()
  const scene = await startScene({ config: { syncBacklog: 1 } })
  const held = await answered(scene)
  scene.reviewer.answer(held, reply)
  await time.pass(Math.max(0, ms - 1))
  if (ms > 0) expect(scene.agent.status).toBe('running')
  await time.pass(1)
  await scene.loop.until(() => scene.agent.status === 'idle')
  expect(scene.steps).toHaveLength(1)
  expect(scene.loop.events(scene.agent).findLast(event => event.type === 'turn/end')?.data.reason).toEqual({ kind: 'completed' })
})

test('a stop of the user ends the wait before the answer is final', async () => {
  const scene = await startScene({ config: { syncBacklog: 1 } })
  await answered(scene)
  escape(scene.agent)
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(1)
})

test.each<[string, (scene: Scene) => Promise<unknown>]>([
  ['`/advisor off`', scene => scene.advisor('off')],
  ['the plugin\'s end', scene => scene.fiber.dispose()],
])('%s makes the answer final at once', async (_name, end) => {
  const time = holdTime()
  const scene = await startScene({ config: { syncBacklog: 1 } })
  await answered(scene)
  await end(scene)
  await scene.loop.settle()
  expect(scene.agent.status).toBe('idle')
  expect(scene.steps).toHaveLength(1)
  expect(time.timers).toBe(0)
})
