/** Advice that comes when the answer is being given, has just been given, or was given long ago. */
import { expect, test } from 'vitest'
import type { Context } from '@deepseek-ai/cordis'
import { advise, gateOf, hold, text } from '../support/adapter-replies.ts'
import { eventTypes, userTexts } from '../support/loop.ts'
import { advisories, look, notes, said, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'

const late = (severity: string) => advise('The answer leaves out b.txt.', severity)

/** One prompt answered at once; its review is still to be given. */
async function answered(scene: Scene): Promise<void> {
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.reviewer.asked(0)
}

test.each(['nit', 'concern'])('a late %s becomes a card, wakes nobody, and stands beside the user\'s next message', async (severity) => {
  const scene = await startScene()
  await answered(scene)
  await scene.review(0, late(severity))
  expect(scene.agent.status).toBe('idle')
  expect(scene.steps).toHaveLength(1)
  expect((await scene.status()).Notes).toContain('kept for the user\'s next message')
  expect(scene.agent.inbox.hasPending).toBe(false)
  void scene.prompt('thanks')
  const request = await scene.primary.asked(1)
  expect(userTexts(request)).toEqual(['go', 'thanks', expect.stringContaining('The answer leaves out b.txt.')])
  expect(notes(request)).toEqual([`${severity}: The answer leaves out b.txt.`])
})

test('a late blocker wakes one more turn, which sees it as the latest work', async () => {
  const scene = await startScene()
  await answered(scene)
  await scene.review(0, late('blocker'))
  const request = await scene.primary.asked(1)
  expect(advisories(request)).toEqual([
    '<advisory severity="blocker" guidance="weigh, don\'t blindly obey">\n[advisor:blocker] The answer leaves out b.txt.\n</advisory>',
  ])
  scene.primary.answer(1, text('with b.txt'))
  await scene.agent.whenIdle()
  await scene.review(1, advise('Now c.txt is missing, and so is the index of everything.', 'blocker'))
  expect(scene.steps).toHaveLength(2)
  expect(scene.agent.status).toBe('idle')
  expect(eventTypes(scene.loop.events(scene.agent)).filter(type => type === 'turn/start')).toHaveLength(2)
})

test('a late blocker with no reopening allowed is a card', async () => {
  const scene = await startScene({ config: { reopen: 0 } })
  await answered(scene)
  await scene.review(0, late('blocker'))
  expect(scene.steps).toHaveLength(1)
  expect((await scene.status()).Notes).toContain('already reopened')
})

test('a concern about the last step that arrives while the answer is given does not reopen it', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.review(0, late('concern'))
  scene.primary.answer(1, text('done'))
  await run
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(2)
  expect((await scene.status()).Notes).toContain('kept for the user\'s next message')
})

test('a blocker about the last step that arrives while the answer is given reopens it in the same turn', async () => {
  const answer = hold(text('done'), { at: 'finish' })
  const scene = await startScene({ primary: (_request, index) => [look(0), answer, text('with b.txt')][index]! })
  const run = scene.prompt('go')
  await gateOf(answer).reached
  await scene.review(0, late('blocker'))
  gateOf(answer).release()
  await run
  expect(scene.steps).toHaveLength(3)
  expect(notes(scene.steps[2])).toEqual(['blocker: The answer leaves out b.txt.'])
  expect(scene.loop.lastText(scene.agent)).toBe('with b.txt')
  expect(eventTypes(scene.loop.events(scene.agent)).filter(type => type === 'turn/start')).toHaveLength(1)
})

/** A plugin that holds the end of the turn until told, as a stop hook does. */
function holdStopping(): { plugin: (ctx: Context) => void, reached: Promise<void>, release: () => void } {
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  return {
    reached: reached.promise, release: gate.resolve,
    plugin: ctx => void ctx.on('agent/turn-stopping', async () => {
      reached.resolve()
      await gate.promise
    }),
  }
}

const CLOSING = [['nit', 1], ['concern', 1], ['blocker', 2]] as const

test.each(CLOSING)('a %s that arrives while the turn is closing means %i steps, and is not lost', async (severity, steps) => {
  const scene = await startScene()
  const closing = holdStopping()
  await scene.loop.mount(closing.plugin)
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await closing.reached
  await scene.review(0, late(severity))
  closing.release()
  if (steps > 1) {
    expect(notes(await scene.primary.asked(1))).toEqual([`${severity}: The answer leaves out b.txt.`])
    scene.primary.answer(1, text('with b.txt'))
  }
  await run
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(steps)
  void scene.prompt('thanks')
  expect(notes(await scene.primary.asked(steps))).toEqual([`${severity}: The answer leaves out b.txt.`])
})

test('advice that lands while the user\'s next prompt is already queued joins that turn and reopens nothing', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.step(0)
  scene.agent.followup(said('next'))
  await scene.review(0, late('concern'))
  scene.primary.answer(1, text('done'))
  const third = await scene.primary.asked(2)
  expect(notes(third)).toEqual(['concern: The answer leaves out b.txt.'])
  expect(userTexts(third).filter(value => !value.startsWith('<'))).toEqual(['go', 'next'])
  scene.primary.answer(2, text('done too'))
  await run
  expect(scene.steps).toHaveLength(3)
})

test('a turn that hit the output limit is unfinished: a concern about it starts the agent again', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, { kind: 'answer', text: 'half a', finish: 'max-tokens' })
  await run
  await scene.review(0, late('concern'))
  expect(notes(await scene.primary.asked(1))).toEqual(['concern: The answer leaves out b.txt.'])
})

test('cards stand in the order they were given, in one message, and only with a message of the user', async () => {
  const scene = await startScene({ config: { notesPerUpdate: 3 } })
  await answered(scene)
  await scene.review(0, {
    kind: 'answer', calls: [
      { name: 'advise', args: { note: 'A small thing in x.ts.', severity: 'nit' } },
      { name: 'advise', args: { note: 'The build is red.', severity: 'concern' } },
    ],
  })
  scene.agent.followup({ ...said('round 2'), source: { kind: 'plugin', plugin: 'goal' } })
  const robot = await scene.primary.asked(1)
  expect(notes(robot)).toEqual([])
  scene.primary.answer(1, text('done'))
  await scene.agent.whenIdle()
  await scene.review(1)
  void scene.prompt('thanks')
  const request = await scene.primary.asked(2)
  expect(advisories(request)).toHaveLength(1)
  expect(notes(request)).toEqual(['concern: The build is red.', 'nit: A small thing in x.ts.'])
})
