/** A plugin that is disposed and mounted again, as an edit of its row does, finds what waited. */
import { expect, test } from 'vitest'
import * as advisor from '../../src/index.ts'
import { adviseCall, calls, text } from '../support/adapter-replies.ts'
import { look, notes, REVIEWER, startScene } from '../support/loop-advised.ts'
import { isAdvice, timesGiven } from '../support/loop-moments.ts'

test('cards outlive a reload, and enter once with the user\'s next words', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.review(0, calls(adviseCall('Zebra: the files in src/old are still imported.', 'concern')))
  await scene.fiber.dispose()
  await scene.loop.mount(advisor, REVIEWER)
  await scene.loop.settle()
  expect((await scene.loop.command(scene.agent, '/advisor notes'))?.text).toContain('Zebra')
  void scene.prompt('and now?')
  expect(notes(await scene.primary.asked(1))).toEqual(['concern: Zebra: the files in src/old are still imported.'])
  scene.primary.answer(1, text('nothing'))
  await scene.agent.whenIdle()
})

test('a blocker that the host holds is given once, by the host', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.review(0, calls(adviseCall('Yak: port 8080 is taken by the proxy.', 'blocker')))
  await scene.fiber.dispose()
  await scene.loop.mount(advisor, REVIEWER)
  await scene.loop.settle()
  await scene.step(1)
  scene.primary.answer(2, text('done'))
  await run
  void scene.prompt('and now?')
  expect(notes(await scene.primary.asked(3))).toEqual(['blocker: Yak: port 8080 is taken by the proxy.'])
  scene.primary.answer(3, text('nothing'))
  await scene.agent.whenIdle()
})

test('a note that had joined a step when the plugin was disposed is not given again', async () => {
  const scene = await startScene()
  const joined = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  // Around us: the step has our note, and is not in the log yet.
  scene.loop.ctx.on('agent/pre-step', async (_step, next) => {
    const decision = await next()
    if (decision.kind === 'enter' && decision.messages.some(isAdvice)) {
      joined.resolve()
      await gate.promise
    }
    return decision
  }, { prepend: true })
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.review(0, calls(adviseCall('Yak: port 8080 is taken by the proxy.', 'concern')))
  scene.primary.answer(1, look(1))
  await joined.promise
  await scene.fiber.dispose()
  gate.resolve()
  await scene.primary.asked(2)
  expect(timesGiven(scene.agent, 'Yak')).toBe(1)
  await scene.loop.mount(advisor, REVIEWER)
  await scene.loop.settle()
  scene.primary.answer(2, text('done'))
  await run
  void scene.prompt('and now?')
  await scene.primary.asked(3)
  expect(timesGiven(scene.agent, 'Yak')).toBe(1)
  scene.primary.answer(3, text('nothing'))
  await scene.agent.whenIdle()
})
