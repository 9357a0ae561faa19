/** The user stops the run, in all the ways there are: what was said waits for their next words, and enters with them, once. */
import { expect, test } from 'vitest'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { adviseCall, calls, hang, text } from '../support/adapter-replies.ts'
import { userTexts } from '../support/loop.ts'
import { advisories, notes, rejections, said, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'
import { context, escape, listed, raise, standing, timesGiven, turns, underWay } from '../support/loop-moments.ts'

const FILES = 'Zebra: the files in src/old are still imported.'
const PORT = 'Yak: port 8080 is taken by the proxy.'

/** Nothing moves any more, and the run costs nothing. */
async function rests(scene: Scene, steps: number): Promise<void> {
  await scene.loop.settle()
  expect(scene.agent.status).toBe('idle')
  expect(scene.steps).toHaveLength(steps)
  expect(scene.agent.inbox.hasPending).toBe(false)
}

test('notes of all kinds that a stop finds enter together with "continue", as one message behind it', async () => {
  const scene = await startScene({ config: { notesPerUpdate: 2, immuneTurns: 0 } })
  await underWay(scene)
  await scene.review(0, calls(adviseCall(FILES, 'blocker'), adviseCall('Wombat: `tmp` is unused.', 'nit')))
  await scene.step(1)
  expect(notes(scene.steps[2])).toHaveLength(2)
  await scene.review(1, calls(adviseCall(PORT, 'concern'), adviseCall('Vole: rename `x` to `index`.', 'nit')))
  escape(scene.agent)
  await scene.agent.whenIdle()
  await rests(scene, 3)
  expect((await listed(scene)).map(note => note.standing)).toEqual(['delivered', 'delivered', 'card', 'card'])

  void scene.prompt('continue')
  const request = await scene.primary.asked(3)
  expect(userTexts(request).slice(-2)[0]).toBe('continue')
  expect(advisories(request)).toHaveLength(2)
  expect(notes(request).slice(2).sort()).toEqual([`concern: ${PORT}`, 'nit: Vole: rename `x` to `index`.'])
  scene.primary.answer(3, text('done'))
  await scene.agent.whenIdle()
  void scene.prompt('thanks')
  expect(notes(await scene.primary.asked(4))).toHaveLength(4)
  expect(timesGiven(scene.agent, 'Vole')).toBe(1)
})

test('send-now with a note queued: it enters with the message that was sent, and the turn is the only new one', async () => {
  const scene = await startScene()
  await underWay(scene)
  await scene.review(0, raise(FILES, 'blocker'))
  expect(await standing(scene, FILES)).toBe('queued')
  scene.agent.cancel({ kind: 'user' })
  expect(await standing(scene, FILES)).toBe('card')
  scene.agent.followup(said('do this instead'))
  const request = await scene.primary.asked(2)
  expect(notes(request)).toEqual([`blocker: ${FILES}`])
  expect(turns(scene.agent)).toBe(2)
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
  expect(timesGiven(scene.agent, 'Zebra')).toBe(1)
})

test('send-now with a review in flight: its note reaches the turn that followed, where it can still interrupt', async () => {
  const scene = await startScene()
  await underWay(scene)
  scene.agent.cancel({ kind: 'user' })
  scene.agent.followup(said('do this instead'))
  await scene.primary.asked(2)
  await scene.review(0, raise(FILES, 'concern'))
  expect(await standing(scene, FILES)).toBe('queued')
  expect(notes(await scene.step(2))).toEqual([`concern: ${FILES}`])
  scene.primary.answer(3, text('done'))
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(4)
})

test('send-now before the first byte, when the host logs no end of the turn, loses no note and starts one turn', async () => {
  const broken = rejections()
  const scene = await startScene({ invariants: false })
  await underWay(scene)
  await scene.review(0, raise(FILES, 'blocker'))
  scene.primary.answer(1, hang({ taint: true }))
  await scene.loop.settle()
  scene.agent.cancel({ kind: 'user' })
  scene.agent.followup(said('do this instead'))
  const request = await scene.primary.asked(2)
  expect(notes(request)).toEqual([`blocker: ${FILES}`])
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
  expect(turns(scene.agent)).toBe(2)
  expect(broken).toEqual([])
})

test.each<[string, (agent: Agent) => void]>([
  ['a follow-up', agent => agent.followup(context('a job has ended'))],
  ['a steer', agent => agent.steer(context('a job has ended'))],
])('%s of another plugin does not end what the user stopped: advice still waits for the user', async (_name, speak) => {
  const scene = await startScene()
  await underWay(scene)
  escape(scene.agent)
  await scene.agent.whenIdle()
  speak(scene.agent)
  await scene.step(2)
  await scene.review(0, raise(FILES, 'concern'))
  expect(await standing(scene, FILES)).toBe('card')
  scene.primary.answer(3, text('noted'))
  await scene.agent.whenIdle()
  await scene.review(1, raise(PORT, 'blocker'))
  await rests(scene, 4)
  void scene.prompt('continue')
  expect(notes(await scene.primary.asked(4)).sort()).toEqual([`blocker: ${PORT}`, `concern: ${FILES}`])
})

test('a turn that advice has started can be stopped too, and its note is not said again', async () => {
  const scene = await startScene({ config: { immuneTurns: 0, reopen: 3 } })
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.review(0, raise(FILES, 'blocker'))
  await scene.primary.asked(1)
  escape(scene.agent)
  await scene.agent.whenIdle()
  await rests(scene, 2)
  void scene.prompt('continue')
  expect(notes(await scene.primary.asked(2))).toEqual([`blocker: ${FILES}`])
  expect(timesGiven(scene.agent, 'Zebra')).toBe(1)
})

test('a stop between the wake and its first step leaves the note a card', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  scene.loop.ctx.on('agent/inbox/claimed', ({ agent }) => { if (turns(agent) === 2) escape(agent) })
  await scene.review(0, raise(FILES, 'blocker'))
  await rests(scene, 1)
  expect(await standing(scene, FILES)).toBe('card')
  void scene.prompt('continue')
  await scene.loop.until(() => turns(scene.agent) === 3)
  expect(notes(await scene.primary.asked(1))).toEqual([`blocker: ${FILES}`])
})

test('a stop while the next step is held up by another plugin leaves the note a card', async () => {
  const scene = await startScene()
  const held = Promise.withResolvers<void>()
  scene.loop.ctx.on('agent/pre-step', async ({ step }, next) => {
    if (step === 2) await held.promise
    return next()
  })
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, { kind: 'answer', calls: [{ name: 'bash', args: { command: 'ls' } }] })
  await scene.review(0, raise(FILES, 'concern'))
  escape(scene.agent)
  held.resolve()
  await run
  await rests(scene, 1)
  expect(await standing(scene, FILES)).toBe('card')
  void scene.prompt('continue')
  expect(notes(await scene.primary.asked(1))).toEqual([`concern: ${FILES}`])
})

test('an agent that its parent stopped is not started again by advice', async () => {
  const scene = await startScene({ config: { subagents: true } })
  const child = await scene.loop.agent({ parent: scene.agent })
  void scene.loop.prompt(child, 'go')
  await scene.step(0)
  await scene.reviewer.asked(0)
  child.cancel({ kind: 'parent' })
  await child.whenIdle()
  await scene.review(0, raise(FILES, 'blocker'))
  expect(child.status).toBe('idle')
  expect(scene.steps).toHaveLength(2)
  expect(await standing(scene, FILES, child)).toBe('card')
})
