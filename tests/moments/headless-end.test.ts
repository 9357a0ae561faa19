/** The end of a headless run: the last reviews are waited for within bounds, nothing is woken, and the user learns what is left. */
import { expect, test } from 'vitest'
import { adviseCall, calls, fail, hang, text } from '../support/adapter-replies.ts'
import type { Reply } from '../support/adapter-replies.ts'
import { holdTime, rejections, startScene } from '../support/loop-advised.ts'
import type { Scene, SceneOptions } from '../support/loop-advised.ts'
import { goHeadless, raise, standing, turns, underWay } from '../support/loop-moments.ts'

const NOTE = 'Zebra: the files in src/old are still imported.'

/** A headless run whose answer is out while the review of it is held. */
async function answered(options: SceneOptions = {}, end: Reply = text('done')) {
  const scene = await startScene(options)
  const stderr = goHeadless(scene.loop)
  let over = false
  void scene.prompt('go').then(() => { over = true })
  await scene.primary.asked(0)
  scene.primary.answer(0, end)
  await scene.reviewer.asked(0)
  await scene.loop.settle()
  expect(scene.agent.status).toBe('idle')
  return { scene, stderr, isOver: () => over }
}

test('the host is held until the last review has ended, and then let go at once', async () => {
  const { scene, stderr, isOver } = await answered()
  expect(isOver()).toBe(false)
  await scene.review(0)
  expect(isOver()).toBe(true)
  expect(stderr.text).toBe('')
})

test('reviews that come due behind the one under way are waited for too', async () => {
  const scene = await startScene()
  const stderr = goHeadless(scene.loop)
  await underWay(scene)
  let over = false
  scene.primary.answer(1, text('done'))
  void scene.agent.whenIdle().then(() => { over = true })
  await scene.loop.settle()
  await scene.review(0)
  expect(over).toBe(false)
  await scene.review(1, raise(NOTE, 'concern'))
  expect(over).toBe(true)
  expect(stderr.text).toContain(NOTE)
})

test('a run whose reviews are all in is not held at all', async () => {
  const scene = await startScene({ reviewer: () => text('ok'), config: { reviewAt: 'turn', reviewEvery: 5 } })
  const stderr = goHeadless(scene.loop)
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  expect(stderr.text).toBe('')
  expect(scene.reviews).toHaveLength(0)
})

test.each(['nit', 'concern', 'blocker'] as const)('a %s about the answer wakes nobody: it is told on stderr and stays a card', async (severity) => {
  const { scene, stderr, isOver } = await answered({ config: { reopen: 5 } })
  await scene.review(0, raise(NOTE, severity))
  expect(isOver()).toBe(true)
  expect(scene.steps).toHaveLength(1)
  expect(turns(scene.agent)).toBe(1)
  expect(await standing(scene, NOTE)).toBe('card')
  expect(stderr.lines).toHaveLength(2)
  expect(stderr.text).toContain(`[${severity}] ${NOTE}`)
  expect(stderr.text.split('Zebra')).toHaveLength(2)
})

test('notes that are left are told as one block, the worst first, with their number and how many are blockers', async () => {
  const { scene, stderr } = await answered({ config: { notesPerUpdate: 3 } })
  await scene.review(0, calls(
    adviseCall('Vole: rename `x`.', 'nit'), adviseCall('Yak: port 8080 is taken.\nSee proxy.conf.', 'concern'), adviseCall(NOTE, 'blocker'),
  ))
  expect(stderr.text).toBe([
    'dsh-advisor: 3 notes the agent has not seen, 1 blocker',
    `  [blocker] ${NOTE}`,
    '  [concern] Yak: port 8080 is taken.',
    '    See proxy.conf.',
    '  [nit] Vole: rename `x`.',
    '',
  ].join('\n'))
})

test('notes that the agent has read are not told again', async () => {
  const scene = await startScene()
  const stderr = goHeadless(scene.loop)
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  await scene.step(1)
  await scene.review(1)
  scene.primary.answer(2, text('done'))
  await scene.loop.settle()
  await scene.review(2)
  await scene.agent.whenIdle()
  expect(stderr.text).toBe('')
})

test('a nit that found no step any more is told as well', async () => {
  const scene = await startScene()
  const stderr = goHeadless(scene.loop)
  await underWay(scene)
  await scene.review(0, raise('Vole: rename `x`.', 'nit'))
  scene.primary.answer(1, text('done'))
  await scene.loop.settle()
  await scene.review(1)
  await scene.agent.whenIdle()
  expect(stderr.text).toContain('[nit] Vole: rename `x`.')
})

const HANGS: readonly [string, Reply][] = [['hangs', hang({ after: 'Well' })], ['hangs and ignores its signal', hang({ after: 'Well', ignoreSignal: true })]]

test.each(HANGS)('a reviewer that %s holds the run for `drain` seconds, and what it did not read is told', async (_name, reply) => {
  const time = holdTime()
  const { scene, stderr, isOver } = await answered({ config: { drain: 40, timeout: 600 } })
  scene.reviewer.answer(0, reply)
  await time.pass(39_999)
  expect(isOver()).toBe(false)
  await time.pass(1)
  expect(isOver()).toBe(true)
  expect(stderr.text).toContain('step 1.1 was not reviewed')
  expect(stderr.text).toContain('40 s')
})

test('`drain: 0` holds nothing', async () => {
  const { scene, stderr, isOver } = await answered({ config: { drain: 0 } })
  await scene.loop.until(isOver)
  expect(stderr.text).toContain('not reviewed')
})

test('after a run that ended in an error the wait is 30 s at most', async () => {
  const time = holdTime()
  const { scene, isOver } = await answered({ config: { timeout: 600 } }, fail({ code: 'SERVER', status: 500 }))
  scene.reviewer.answer(0, hang({ after: 'Well' }))
  await time.pass(29_999)
  expect(isOver()).toBe(false)
  await time.pass(1)
  expect(isOver()).toBe(true)
})

test('after an error a shorter `drain` still counts', async () => {
  const time = holdTime()
  const { scene, isOver } = await answered({ config: { drain: 5 } }, fail({ code: 'SERVER', status: 500 }))
  scene.reviewer.answer(0, hang({ after: 'Well' }))
  await time.pass(5_000)
  expect(isOver()).toBe(true)
})

const FAULTS: readonly [string, Reply][] = [
  ['500', fail({ code: 'SERVER', status: 500 })], ['a rate limit', fail({ code: 'RATE_LIMIT', status: 429 })],
  ['a rate limit with a delay', fail({ code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 5_000 })],
  ['quota', fail({ code: 'QUOTA', status: 402 })], ['401', fail({ code: 'AUTH', status: 401 })],
  ['a context that is too long', fail({ code: 'CONTEXT_WINDOW_EXCEEDED', status: 400 })],
  ['a stream that is cut', { kind: 'cut', after: 'Well' }],
]

test.each(FAULTS)('a reviewer that fails with %s ends the wait at once, is not asked again, and the user is told', async (_name, reply) => {
  const broken = rejections()
  const time = holdTime()
  const { scene, stderr, isOver } = await answered()
  await scene.review(0, reply)
  expect(isOver()).toBe(true)
  await time.pass(600_000)
  expect(scene.reviews).toHaveLength(1)
  expect(stderr.text).not.toBe('')
  expect(broken).toEqual([])
})

test('a retry that was being waited out when the answer came is given up', async () => {
  const time = holdTime()
  const scene = await startScene()
  const stderr = goHeadless(scene.loop)
  await underWay(scene)
  await scene.review(0, fail({ code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 50_000 }))
  scene.primary.answer(1, text('done'))
  await scene.loop.settle()
  await scene.agent.whenIdle()
  expect(scene.reviews).toHaveLength(1)
  expect(stderr.text).not.toBe('')
  await time.pass(600_000)
  expect(scene.reviews).toHaveLength(1)
})

test('after a headless answer the host keeps nothing of ours waiting, also when it goes down during the wait', async () => {
  const broken = rejections()
  const time = holdTime()
  const { scene } = await answered()
  expect(time.timers).toBeGreaterThan(0)
  await scene.loop.close(scene.agent)
  await scene.loop.settle()
  expect(time.timers).toBe(0)
  expect(broken).toEqual([])
})

test('another plugin that takes the agent first when it comes to rest does not keep the user from learning what is left', async () => {
  const scene = await startScene()
  const stderr = goHeadless(scene.loop)
  const work = Promise.withResolvers<void>()
  scene.loop.ctx.on('agent/status', ({ agent, status }) => {
    if (status === 'idle') void agent.runMaintenance(() => work.promise)
  }, { prepend: true })
  await underWay(scene)
  await scene.review(0, raise('Vole: rename `x`.', 'nit'))
  scene.primary.answer(1, text('done'))
  await scene.loop.settle()
  await scene.review(1)
  work.resolve()
  await scene.agent.whenIdle()
  await scene.loop.settle()
  expect(stderr.text).toContain('[nit] Vole: rename `x`.')
  expect(scene.loop.logs.filter(line => line.type === 'error')).toEqual([])
})

test('an interactive host is not held, and its screen is left alone', async () => {
  const scene: Scene = await startScene()
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.review(0, raise(NOTE, 'concern'))
  expect(scene.told).toEqual([])
})
