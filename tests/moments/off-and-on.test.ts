/** `/advisor off` and `on` in the middle of things: the inbox is kept, tells the truth meanwhile, and nothing slips through. */
import { expect, test } from 'vitest'
import { text } from '../support/adapter-replies.ts'
import { look, notes, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'
import { escape, listed, raise, standing, timesGiven, underWay } from '../support/loop-moments.ts'

const NOTE = 'The files in src/old are still imported by main.ts.'

/** One card; the agent rests. */
async function withCard(): Promise<Scene> {
  const scene = await startScene()
  await underWay(scene)
  escape(scene.agent)
  await scene.agent.whenIdle()
  await scene.review(0, raise(NOTE, 'concern'))
  return scene
}

/** The third step is being prepared by another plugin until the gate opens. */
function holdThirdStep(scene: Scene): { open(): void, readonly reached: Promise<void> } {
  const gate = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  scene.loop.ctx.on('agent/pre-step', async ({ step }, next) => {
    if (step !== 3) return next()
    reached.resolve()
    await gate.promise
    return next()
  })
  return { open: gate.resolve, reached: reached.promise }
}

test.each([[['off', 'dismiss 1']], [['dismiss 1', 'off']]])('a note that is queued does not reach the primary after %j', async (words) => {
  const scene = await startScene()
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'blocker'))
  for (const word of words) await scene.advisor(word)
  expect(notes(await scene.step(1))).toEqual([])
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
  expect(timesGiven(scene.agent, 'src/old')).toBe(0)
})

test('`/advisor off` keeps the inbox, and what waited enters with the user\'s words once it is on again', async () => {
  const scene = await withCard()
  await scene.advisor('off')
  expect(await standing(scene, NOTE)).toBe('card')
  void scene.prompt('while off')
  expect(notes(await scene.primary.asked(2))).toEqual([])
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
  await scene.advisor('on')
  expect((await listed(scene)).map(note => [note.id, note.standing])).toEqual([[1, 'card']])
  void scene.prompt('and on')
  expect(notes(await scene.primary.asked(3))).toEqual([`concern: ${NOTE}`])
})

test('a note that is queued when the advisor is switched off is kept, and said once with the user\'s words after it is on again', async () => {
  const scene = await startScene()
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  await scene.advisor('off')
  expect(notes(await scene.step(1))).toEqual([])
  expect(await standing(scene, NOTE)).toBe('card')
  await scene.advisor('on')
  expect(await standing(scene, NOTE)).toBe('card')
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
  void scene.prompt('and now?')
  await scene.primary.asked(3)
  expect(timesGiven(scene.agent, 'src/old')).toBe(1)
})

test.each(['nit', 'concern'] as const)('off while a step is being prepared: its %s is said and counts as delivered, or is not said', async (severity) => {
  const scene = await startScene()
  const third = holdThirdStep(scene)
  await underWay(scene)
  await scene.review(0, raise(NOTE, severity))
  scene.primary.answer(1, look(1))
  await third.reached
  await scene.advisor('off')
  third.open()
  const request = await scene.primary.asked(2)
  // What is not said stays: as a card, or, where it never interrupts, waiting for the next step.
  expect(notes(request).length === 1 ? ['delivered'] : ['card', 'waiting']).toContain(await standing(scene, NOTE))
  await scene.advisor('on')
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
  void scene.prompt('and now?')
  await scene.primary.asked(3)
  expect(timesGiven(scene.agent, 'src/old')).toBe(1)
})

test('off while a step is being prepared, and dismissed before it begins: it is not said', async () => {
  const scene = await startScene()
  const third = holdThirdStep(scene)
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  scene.primary.answer(1, look(1))
  await third.reached
  await scene.advisor('off')
  await scene.advisor('dismiss 1')
  third.open()
  expect(notes(await scene.primary.asked(2))).toEqual([])
})

/** The third step is refused by another plugin, once its messages are fixed and the gate opens. */
function refuseThirdStep(scene: Scene): { open(): void } {
  const gate = Promise.withResolvers<void>()
  scene.loop.ctx.on('agent/pre-step', async ({ step }, next) => {
    const decision = await next()
    if (step !== 3) return decision
    await gate.promise
    return { kind: 'reject' }
  }, { prepend: true })
  return { open: gate.resolve }
}

test('a note whose step did not begin while the advisor was off enters with the user\'s next words', async () => {
  const scene = await startScene()
  const third = refuseThirdStep(scene)
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  scene.primary.answer(1, look(1))
  await scene.loop.settle()
  await scene.advisor('off')
  third.open()
  await scene.agent.whenIdle()
  await scene.advisor('on')
  expect(await standing(scene, NOTE)).toBe('card')
  void scene.prompt('and now?')
  expect(notes(await scene.primary.asked(2))).toEqual([`concern: ${NOTE}`])
})

test.each(['off', 'on'])('a note that is dismissed while it stands in a step that then does not begin stays away, with the advisor %s', async (word) => {
  const scene = await startScene()
  const third = refuseThirdStep(scene)
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  scene.primary.answer(1, look(1))
  await scene.loop.settle()
  await scene.advisor(word)
  await scene.advisor('dismiss 1')
  third.open()
  await scene.agent.whenIdle()
  await scene.advisor('on')
  expect(await standing(scene, NOTE)).toBe('dismissed')
  void scene.prompt('and now?')
  expect(notes(await scene.primary.asked(2))).toEqual([])
})

test('a note that was waiting for a step in preparation is not queued once the advisor is off, and buys no step after the answer', async () => {
  const scene = await startScene()
  const third = holdThirdStep(scene)
  await underWay(scene)
  scene.primary.answer(1, look(1))
  await third.reached
  await scene.review(0, raise(NOTE, 'concern'))
  await scene.advisor('off')
  third.open()
  const request = await scene.primary.asked(2)
  expect(scene.agent.inbox.hasPending).toBe(false)
  expect(notes(request).length === 1 ? ['delivered'] : ['card', 'waiting']).toContain(await standing(scene, NOTE))
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(3)
})

test('the plugin\'s end while a step is being prepared lets the step go as it would without us', async () => {
  const scene = await startScene()
  const third = holdThirdStep(scene)
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  scene.primary.answer(1, look(1))
  await third.reached
  await scene.fiber.dispose()
  third.open()
  await scene.primary.asked(2)
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
  expect(scene.loop.lastText(scene.agent)).toBe('done')
})

test('off and on again while the answer is reviewed: the blocker that is given up with its review is not raised twice', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  const request = await scene.reviewer.asked(0)
  await scene.advisor('off')
  expect(request.signal?.aborted).toBe(true)
  scene.reviewer.answer(0, raise(NOTE, 'blocker'))
  await scene.advisor('on')
  await scene.loop.settle()
  expect(await listed(scene)).toEqual([])
  expect(scene.steps).toHaveLength(1)
})

test('a session that is closed and opened again in the same host keeps its cards, and says each once', async () => {
  const scene = await startScene({ persistence: true, primary: (_request, index) => index === 0 ? look(0) : text(`answer ${index}`) })
  await scene.prompt('go')
  await scene.review(0, raise(NOTE, 'concern'))
  expect(await standing(scene, NOTE)).toBe('card')
  const agent = await scene.loop.resume(scene.agent.id)
  expect(await standing(scene, NOTE, agent)).toBe('card')
  await scene.loop.prompt(agent, 'and now?')
  expect(notes(scene.steps.at(-1))).toEqual([`concern: ${NOTE}`])
  await scene.loop.prompt(agent, 'thanks')
  expect(timesGiven(agent, 'src/old')).toBe(1)
})
