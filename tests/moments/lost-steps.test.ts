/** Steps that never begin: whatever was on its way into one is not lost, and the turn fares as it would without us. */
import { expect, test } from 'vitest'
import { text } from '../support/adapter-replies.ts'
import { userTexts } from '../support/loop.ts'
import { look, notes, rejections, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'
import { breakOff, context, raise, standing, timesGiven, underWay } from '../support/loop-moments.ts'

const NOTE = 'Zebra: the files in src/old are still imported.'

/** Another plugin does this before the third step, once. */
function beforeThirdStep(scene: Scene, act: () => Promise<void> | 'refuse'): void {
  let done = false
  scene.loop.ctx.on('agent/pre-step', async ({ step }, next) => {
    if (step !== 3 || done) return next()
    done = true
    if (await act() === 'refuse') return { kind: 'reject' }
    return next()
  })
}

function endOf(scene: Scene): unknown {
  return scene.loop.events(scene.agent).findLast(event => event.type === 'turn/end')?.data.reason
}

/** The user's next words are heard together with the note, which stands in the log once. */
async function heard(scene: Scene, severity: string): Promise<void> {
  const index = scene.steps.length
  void scene.prompt('and now?')
  expect(notes(await scene.primary.asked(index))).toEqual([`${severity}: ${NOTE}`])
  expect(timesGiven(scene.agent, 'Zebra')).toBe(1)
  expect(await standing(scene, NOTE)).toBe('delivered')
}

const SEVERITIES = ['nit', 'concern'] as const

test.each(SEVERITIES)('a step that another plugin refuses loses no %s', async (severity) => {
  const scene = await startScene({ config: { reopen: 0 } })
  beforeThirdStep(scene, () => 'refuse')
  await underWay(scene)
  await scene.review(0, raise(NOTE, severity))
  scene.primary.answer(1, look(1))
  await scene.agent.whenIdle()
  expect(endOf(scene)).toEqual({ kind: 'blocked' })
  expect(['card', 'waiting']).toContain(await standing(scene, NOTE))
  await heard(scene, severity)
})

test.each(SEVERITIES)('a step that another plugin breaks loses no %s, and ends the turn as it would without us', async (severity) => {
  const broken = rejections()
  const scene = await startScene()
  beforeThirdStep(scene, () => Promise.reject(new Error('not my day')))
  await underWay(scene)
  await scene.review(0, raise(NOTE, severity))
  scene.primary.answer(1, look(1))
  await scene.agent.whenIdle()
  expect(endOf(scene)).toMatchObject({ kind: 'error', error: { message: expect.stringContaining('not my day') } })
  expect(await standing(scene, NOTE)).toBe('card')
  await heard(scene, severity)
  expect(broken).toEqual([])
})

test.each(SEVERITIES)('work that is broken off between the claim and the step loses no %s', async (severity) => {
  const scene = await startScene({ config: { reopen: 0 } })
  await underWay(scene)
  await scene.review(0, raise(NOTE, severity))
  const off = scene.loop.ctx.on('agent/inbox/claimed', ({ agent }) => {
    off()
    breakOff(agent)
  })
  scene.primary.answer(1, look(1))
  if (severity === 'nit') scene.agent.inject(context('a job has ended'))
  await scene.agent.whenIdle()
  expect(endOf(scene)).toMatchObject({ kind: 'aborted', reason: { kind: 'hook' } })
  await heard(scene, severity)
})

test.each(SEVERITIES)('work that is broken off while the step is being prepared loses no %s', async (severity) => {
  const scene = await startScene({ config: { reopen: 0 } })
  beforeThirdStep(scene, async () => breakOff(scene.agent))
  await underWay(scene)
  await scene.review(0, raise(NOTE, severity))
  scene.primary.answer(1, look(1))
  await scene.agent.whenIdle()
  expect(await standing(scene, NOTE)).toBe('card')
  await heard(scene, severity)
})

test('another plugin that takes every message out of a step keeps no note from the user\'s next words', async () => {
  const scene = await startScene({ config: { reopen: 0 } })
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  const off = scene.loop.ctx.on('agent/pre-step', async (_event, next) => {
    const decision = await next()
    off()
    return decision.kind === 'reject' ? decision : { ...decision, messages: [] }
  }, { prepend: true })
  scene.primary.answer(1, look(1))
  await scene.primary.asked(2)
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
  expect(notes(scene.steps[2])).toEqual([])
  expect(await standing(scene, NOTE)).toBe('card')
  await heard(scene, 'concern')
})

test('a turn that the host breaks, and a step that is refused, read the same with and without a reviewer', async () => {
  const ends = await Promise.all([true, false].map(async (enabled) => {
    const scene = await startScene({ config: { enabled, syncBacklog: 1 }, reviewer: () => text('ok') })
    beforeThirdStep(scene, () => Promise.reject(new TypeError('not my day')))
    void scene.prompt('go')
    await scene.step(0)
    scene.primary.answer(1, look(1))
    await scene.agent.whenIdle()
    return endOf(scene)
  }))
  expect(ends[0]).toEqual(ends[1])
})

test('what another plugin adds to a step that advice alone would have caused is not lost with that step', async () => {
  const scene = await startScene({ planMode: true })
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  await scene.loop.command(scene.agent, '/plan')
  scene.primary.answer(1, text('done'))
  await scene.agent.whenIdle()
  const index = scene.steps.length
  void scene.prompt('and now?')
  const request = await scene.primary.asked(index)
  expect(userTexts(request).filter(value => value.includes('plan mode'))).toHaveLength(1)
})
