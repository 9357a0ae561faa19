/** Subagents: reviewed only where the user said so, each by a reviewer of its own, and never woken. */
import { expect, test } from 'vitest'
import { settingsNamespace } from '@deepseek-ai/dsh-settings'
import { text } from '../support/adapter-replies.ts'
import { look, notes, shown, startScene } from '../support/loop-advised.ts'
import { goHeadless, listed, raise, standing, subagent, turns } from '../support/loop-moments.ts'

const NOTE = 'Zebra: the files in src/old are still imported.'
const quiet = { primary: () => text('done'), reviewer: () => text('ok') }

test.each<[string, object, string | undefined, boolean]>([
  ['unless it is configured', {}, 'code', false],
  ['with `subagents: false`', { subagents: false }, 'code', false],
  ['with `subagents: true`', { subagents: true }, 'code', true],
  ['with `subagents: true`, also without a preset', { subagents: true }, undefined, true],
  ['with its preset in the list', { subagents: ['minimal', 'code'] }, 'code', true],
  ['with another preset in the list', { subagents: ['minimal'] }, 'code', false],
  ['with a list but no preset', { subagents: ['code'] }, undefined, false],
  ['with an empty list', { subagents: [] }, 'code', false],
  ['with an empty name in the list', { subagents: [''] }, 'code', false],
])('%s', async (_name, config, preset, reviewed) => {
  const scene = await startScene({ ...quiet, config })
  const child = await subagent(scene.agent, preset === undefined ? {} : { preset })
  await scene.loop.prompt(child, 'go')
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(reviewed ? 1 : 0)
})

test('a subagent that is not to be reviewed stays so when its status is asked for and when settings change', async () => {
  const scene = await startScene({ ...quiet, settings: true })
  const child = await subagent(scene.agent)
  await scene.status(child)
  await scene.advisor('notes', child)
  await scene.advisor('off')
  await scene.advisor('on')
  await scene.loop.agent()
  await scene.loop.prompt(child, 'go')
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(0)
})

test('a subagent under review is left alone as soon as the settings no longer name it', async () => {
  const scene = await startScene({ ...quiet, settings: { yaml: 'advisor:\n  subagents: true\n' } })
  const child = await subagent(scene.agent)
  await scene.loop.prompt(child, 'go')
  await scene.loop.until(() => scene.reviews.length === 1)
  await scene.loop.ctx.settings.update(settingsNamespace('advisor'), { subagents: false } as never)
  await scene.loop.prompt(child, 'go on')
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  await scene.prompt('and you?')
  await scene.loop.until(() => scene.reviews.length === 2)
})

test('each has its own reviewer: its own task, its own working folder, its own conversation and notes', async () => {
  const scene = await startScene({ config: { subagents: true }, primary: () => text('done') })
  const child = await subagent(scene.agent, { cwd: '/elsewhere/child' })
  await scene.prompt('the task of the parent')
  await scene.review(0)
  await scene.loop.prompt(child, 'the task of the child')
  const request = await scene.review(1, raise(NOTE, 'concern'))
  expect(shown(request)).toContain('Working folder: /elsewhere/child')
  expect(shown(request)).toContain('**user:** the task of the child')
  expect(shown(request)).not.toContain('the task of the parent')
  expect(request.sessionId).not.toBe(scene.reviews[0]?.sessionId)
  expect(shown(scene.reviews[0])).toContain(`Working folder: ${scene.loop.cwd}`)
  expect(await listed(scene)).toEqual([])
  expect(await listed(scene, child)).toHaveLength(1)
})

test('advice reaches a subagent that is at work, at its next step', async () => {
  const scene = await startScene({ config: { subagents: true } })
  const child = await subagent(scene.agent)
  void scene.loop.prompt(child, 'go')
  await scene.step(0)
  await scene.review(0, raise(NOTE, 'concern'))
  expect(notes(await scene.step(1))).toEqual([`concern: ${NOTE}`])
  expect(await standing(scene, NOTE, child)).toBe('delivered')
})

test.each(['nit', 'concern', 'blocker'] as const)('a %s does not wake a subagent that has given its answer', async (severity) => {
  const scene = await startScene({ config: { subagents: true, reopen: 5 } })
  const child = await subagent(scene.agent)
  const run = scene.loop.prompt(child, 'go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.review(0, raise(NOTE, severity))
  expect(child.status).toBe('idle')
  expect(turns(child)).toBe(1)
  expect(scene.steps).toHaveLength(1)
  expect(await standing(scene, NOTE, child)).toBe('card')
})

test('on a headless run a subagent\'s end is not the end of the run', async () => {
  const scene = await startScene({ config: { subagents: true } })
  const stderr = goHeadless(scene.loop)
  const child = await subagent(scene.agent)
  const run = scene.loop.prompt(child, 'go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.reviewer.asked(0)
  expect(child.status).toBe('idle')
  await scene.review(0)
  expect(stderr.text).toBe('')
})

test('a subagent that is closed during its review leaves nothing behind, and its parent is reviewed on', async () => {
  const scene = await startScene({ config: { subagents: true } })
  const child = await scene.loop.agent({ parent: scene.agent })
  void scene.loop.prompt(child, 'go')
  await scene.step(0)
  const request = await scene.reviewer.asked(0)
  await scene.loop.close(child)
  expect(request.signal?.aborted).toBe(true)
  void scene.prompt('go')
  await scene.step(scene.steps.length)
  await scene.loop.until(() => scene.reviews.length === 2)
})

test('the advisor\'s own calls are no session: none is created, and none of them is reviewed', async () => {
  const scene = await startScene({ ...quiet, config: { subagents: true } })
  const created: string[] = []
  scene.loop.ctx.on('session/created', (session) => { created.push(session.id) })
  await scene.prompt('go')
  await scene.loop.until(() => scene.reviews.length === 1)
  await scene.loop.settle()
  expect(created).toEqual([])
  expect(scene.reviews).toHaveLength(1)
  expect(scene.loop.ctx.sessions.get(scene.reviews[0]!.sessionId!)).toBeUndefined()
})

test('a host with many subagents reviews each of those it should, and their aside does not leak into another', async () => {
  const scene = await startScene({ config: { subagents: ['code'] }, primary: (_request, index) => index < 3 ? look(index) : text('done') })
  const children = await Promise.all(['code', 'minimal', 'code'].map((preset, n) => subagent(scene.agent, { id: `c${n}`, preset })))
  await Promise.all(children.map(child => scene.loop.prompt(child, `task of ${child.id}`)))
  await scene.loop.until(() => scene.reviews.length === 2)
  const asked = scene.reviews.map(request => /task of (c\d)/.exec(shown(request))?.[1])
  expect(asked.sort()).toEqual(['c0', 'c2'])
  await scene.review(0, raise(NOTE, 'nit'))
  expect((await Promise.all(children.map(child => listed(scene, child)))).map(list => list.length).sort()).toEqual([0, 0, 1])
})
