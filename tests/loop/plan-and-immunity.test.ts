/** When advice must not interrupt: in plan mode, and for a while after it has. */
import { expect, test } from 'vitest'
import { advise, text } from '../support/adapter-replies.ts'
import { notes, shown, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'

const FINDINGS = [
  'Backups vanish whenever rotation kicks in.', 'Nobody validated signatures from upstream mirrors.',
  'Cyrillic filenames crash archive extraction.',
  'Leap years break invoice scheduling.', 'Deadlock looms between both mutexes.', 'Passwords land inside plaintext logs.',
]

/** Whether the note given last was queued with the host, so that it interrupts. */
function interrupts(scene: Scene): boolean {
  return scene.agent.inbox.nextStep.length > 0
}

/** Let step after step pass, the reviewer giving one blocker about each; tells which of them interrupted. */
async function nag(scene: Scene, steps: number): Promise<boolean[]> {
  const seen: boolean[] = []
  for (let index = 0; index < steps; index += 1) {
    await scene.step(index)
    await scene.review(index, advise(FINDINGS[index]!, 'blocker'))
    seen.push(interrupts(scene))
  }
  return seen
}

test.each([
  [0, [true, true, true, true, true]],
  [1, [true, true, true, true, true]],
  [2, [true, false, true, false, true]],
  [3, [true, false, false, true, false]],
  [9, [true, false, false, false, false]],
])('with immunity for %i updates notes interrupt again once that many have completed after a steer', async (immuneTurns, expected) => {
  const scene = await startScene({ config: { immuneTurns } })
  void scene.prompt('go')
  expect(await nag(scene, 5)).toEqual(expected)
})

test('what is an aside during immunity still arrives at the very next step', async () => {
  const scene = await startScene()
  void scene.prompt('go')
  await nag(scene, 3)
  expect(notes(await scene.step(3))).toEqual(FINDINGS.slice(0, 3).map(value => `blocker: ${value}`))
})

test('a nit arms no immunity', async () => {
  const scene = await startScene()
  void scene.prompt('go')
  await scene.step(0)
  await scene.review(0, advise('`x` is unused.', 'nit'))
  await scene.step(1)
  await scene.review(1, advise(FINDINGS[0]!, 'blocker'))
  expect(interrupts(scene)).toBe(true)
})

test('a note that was refused arms no immunity', async () => {
  const scene = await startScene({ config: { immuneTurns: 1 } })
  void scene.prompt('go')
  await scene.step(0)
  await scene.review(0, advise('No issues found.', 'blocker'))
  await scene.step(1)
  await scene.review(1, advise(FINDINGS[0]!, 'blocker'))
  expect(interrupts(scene)).toBe(true)
})

test('a card arms no immunity: the user\'s next turn can be interrupted at once', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.review(0, advise(FINDINGS[0]!, 'concern'))
  void scene.prompt('next')
  await scene.step(1)
  await scene.review(1, advise(FINDINGS[1]!, 'concern'))
  expect(interrupts(scene)).toBe(true)
})

async function planning(): Promise<Scene> {
  const scene = await startScene({ planMode: 'Only plan; write nothing but plan.md.' })
  expect(await scene.loop.command(scene.agent, '/plan')).toMatchObject({ kind: 'success' })
  void scene.prompt('go')
  return scene
}

test.each(['concern', 'blocker'])('in plan mode a %s is a card: it waits for the user', async (severity) => {
  const scene = await planning()
  await scene.step(0)
  await scene.review(0, advise(FINDINGS[0]!, severity))
  expect(interrupts(scene)).toBe(false)
  expect((await scene.status()).Notes).toContain('kept for the user\'s next message (plan mode)')
  expect(notes(await scene.step(1))).toEqual([])
  scene.primary.answer(2, text('# Plan'))
  await scene.agent.whenIdle()
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(3)
  void scene.prompt('fine')
  expect(notes(await scene.primary.asked(3))).toEqual([`${severity}: ${FINDINGS[0]}`])
})

test('in plan mode a nit is an aside', async () => {
  const scene = await planning()
  await scene.step(0)
  await scene.review(0, advise(FINDINGS[0]!, 'nit'))
  expect(notes(await scene.step(1))).toEqual([`nit: ${FINDINGS[0]}`])
})

test('the reviewer is shown the rules of plan mode, so that the one file it may write is no offence', async () => {
  const scene = await planning()
  await scene.step(0)
  const request = await scene.review(0)
  expect(shown(request)).toContain('<primary-context kind="plan-mode">')
  expect(shown(request)).toContain('Only plan; write nothing but plan.md.')
  await scene.step(1)
  const next = await scene.review(1)
  expect(shown(next).split('Only plan; write nothing but plan.md.')).toHaveLength(2)
})

test('once plan mode is over notes interrupt again', async () => {
  const scene = await planning()
  await scene.step(0)
  await scene.review(0)
  scene.primary.answer(1, text('# Plan'))
  await scene.agent.whenIdle()
  await scene.review(1)
  expect(await scene.loop.command(scene.agent, '/plan off')).toMatchObject({ kind: 'success' })
  void scene.prompt('do it')
  await scene.step(2)
  await scene.review(2, advise(FINDINGS[1]!, 'concern'))
  expect(interrupts(scene)).toBe(true)
})
