/** A reviewer that never stops talking cannot keep an agent running that has finished, nor lose its first answer. */
import { expect, test, vi } from 'vitest'
import { advise, adviseCall, calls, gateOf, hold, text } from '../support/adapter-replies.ts'
import type { Script } from '../support/adapter-replies.ts'
import { look, notes, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'

/** A finding that shares no word with any other: the index, spelled in letters, is in all of them. */
function finding(index: number): string {
  const root = [...String(index)].map(digit => 'bdfgklmprt'[Number(digit)]).join('o')
  return ['alia', 'emus', 'ixon', 'unda', 'orta'].map(end => root + end).join(' ')
}

const nag: Script = (_request, index) => advise(finding(index), 'blocker')

/** Steps of each turn before its answer. */
const STEPS = 3

/** One step at a time, the reviewer always done before the next. */
async function play(scene: Scene): Promise<void> {
  const run = scene.prompt('go')
  for (let index = 0; index < 60; index += 1) {
    await scene.loop.settle()
    if (scene.agent.status === 'idle') break
    await scene.loop.until(() => scene.steps.length > index || scene.agent.status === 'idle')
    scene.primary.answer(index, index < STEPS ? look(index) : text(`answer ${index}`))
  }
  await run
  await scene.loop.settle()
}

test.each([0, 1, 3])('with reopen %i, differently worded blockers on every update buy no more than that many answers', async (reopen) => {
  const scene = await startScene({ reviewer: nag, config: { immuneTurns: 0, reopen } })
  await play(scene)
  expect(scene.agent.status).toBe('idle')
  expect(scene.steps).toHaveLength(STEPS + 1 + reopen)
  expect(scene.loop.lastText(scene.agent)).toBe(`answer ${STEPS + reopen}`)
  expect(scene.agent.inbox.hasPending).toBe(false)
})

test.each([0, 1, 3])('with reopen %i, the same holds for advice that arrives while an answer is being streamed', async (reopen) => {
  const answers = Array.from({ length: 8 }, (_, index) => hold(text(`answer ${index}`), { at: 'finish' }))
  const scene = await startScene({
    config: { immuneTurns: 0, reopen }, primary: (_request, index) => index === 0 ? look(0) : answers[index - 1]!,
  })
  const run = scene.prompt('go')
  for (let index = 0; index <= reopen; index += 1) {
    await gateOf(answers[index]!).reached
    await scene.review(index, advise(finding(index), 'blocker'))
    gateOf(answers[index]!).release()
  }
  await run
  await scene.review(reopen + 1, advise(finding(9), 'blocker'))
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(1 + 1 + reopen)
  expect(scene.agent.status).toBe('idle')
  expect(scene.loop.lastText(scene.agent)).toBe(`answer ${reopen}`)
})

test.each([0, 1, 3])('with reopen %i, several notes an update change nothing about it', async (reopen) => {
  const several: Script = (_request, index) => calls(
    ...[0, 1, 2].map(n => adviseCall(finding(index * 3 + n), n === 0 ? 'concern' : 'blocker')),
  )
  const scene = await startScene({ reviewer: several, config: { immuneTurns: 0, reopen, notesPerUpdate: 8 } })
  await play(scene)
  expect(scene.steps).toHaveLength(STEPS + 1 + reopen)
})

test.each(['concern', 'nit'])('a %s after the answer reopens nothing, whatever is allowed', async (severity) => {
  const scene = await startScene({
    reviewer: (_request, index) => advise(finding(index), severity), config: { immuneTurns: 0, reopen: 5 },
  })
  await play(scene)
  expect(scene.steps).toHaveLength(STEPS + 1)
})

test('each prompt of the user has its own allowance', async () => {
  const scene = await startScene({ config: { immuneTurns: 0, reopen: 1 } })
  const run = scene.prompt('one')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('first'))
  await run
  await scene.review(0, advise(finding(0), 'blocker'))
  await scene.primary.asked(1)
  scene.primary.answer(1, text('second'))
  await scene.agent.whenIdle()
  await scene.review(1, advise(finding(1), 'blocker'))
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(2)

  const next = scene.prompt('two')
  const request = await scene.primary.asked(2)
  expect(notes(request)).toEqual([`blocker: ${finding(0)}`, `blocker: ${finding(1)}`])
  scene.primary.answer(2, text('third'))
  await next
  await scene.review(2, advise(finding(2), 'blocker'))
  expect(notes(await scene.primary.asked(3)).at(-1)).toBe(`blocker: ${finding(2)}`)
  scene.primary.answer(3, text('fourth'))
  await scene.agent.whenIdle()
  await scene.review(3, advise(finding(3), 'blocker'))
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(4)
})

test('the notes that no longer bought an answer are not lost: they stand before the user\'s next message, once', async () => {
  const scene = await startScene({ reviewer: nag, config: { immuneTurns: 0, reopen: 1 } })
  await play(scene)
  expect((await scene.status()).Notes).toContain('kept for the user\'s next message')
  const count = scene.steps.length
  void scene.prompt('thanks')
  const request = await scene.primary.asked(count)
  const all = notes(request)
  expect(new Set(all).size).toBe(all.length)
  for (let index = 0; index < count; index += 1) expect(all.some(note => note.includes(finding(index)))).toBe(true)
})

test('an agent that works on forever is still advised: the limit is for what is finished', async () => {
  const scene = await startScene({ reviewer: nag, config: { immuneTurns: 0, reopen: 0 } })
  void scene.prompt('go')
  for (let index = 0; index < 6; index += 1) {
    await scene.step(index)
    await scene.loop.settle()
  }
  expect(notes(await scene.step(6))).toHaveLength(6)
})
