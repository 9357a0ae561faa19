/** A reviewer whose model is not there: it waits for the host's adapters, says so once, and costs nothing meanwhile. */
import { expect, test } from 'vitest'
import { advise, sequence, text } from '../support/adapter-replies.ts'
import type { Script } from '../support/adapter-replies.ts'
import { notes, rejections, shown, startScene } from '../support/loop-advised.ts'
import type { Scene, SceneOptions } from '../support/loop-advised.ts'
import { ScriptedAdapter } from '../support/scripted-adapter.ts'

/** Let the host learn of another provider with one model, `reviewer`. */
function register(scene: Scene, provider: string, reviewer: Script): { adapter: ScriptedAdapter, dispose: () => void } {
  const adapter = new ScriptedAdapter({ primary: () => text('?'), reviewer })
  const handle = scene.loop.ctx.llm.registerAdapter([provider], adapter) as unknown as (() => void) & { dispose?: () => void }
  return { adapter, dispose: () => { (handle.dispose ?? handle)() } }
}

function start(config: object, options: SceneOptions = {}): Promise<Scene> {
  return startScene({ ...options, config })
}

test('a provider that is not there yet: no call, the state says so, and it starts by itself with what was unread', async () => {
  const scene = await start({ provider: 'late' })
  expect((await scene.status()).Advisor).toBe('no_model (no provider "late" in this host)')
  void scene.prompt('Read b.txt')
  await scene.step(0)
  await scene.loop.settle()
  expect((await scene.status()).Pending).toBe('1 update')

  const { adapter } = register(scene, 'late', sequence(advise('Wrong file.', 'concern'), text('ok')))
  await scene.loop.until(() => adapter.requests.reviewer.length === 1)
  await scene.loop.settle()
  expect(shown(adapter.requests.reviewer[0])).toContain('Read b.txt')
  expect(notes(await scene.step(1))).toEqual(['concern: Wrong file.'])
  expect((await scene.status()).Advisor).toBe('running')
  expect(scene.reviews).toHaveLength(0)
})

test('a model that the provider does not know: no call, one line, and the primary goes on', async () => {
  const broken = rejections()
  const scene = await start({ model: 'nowhere' })
  const run = scene.prompt('Read b.txt')
  await scene.step(0)
  await scene.step(1)
  await scene.loop.settle()
  expect((await scene.status()).Advisor).toMatch(/^no_model \(.*nowhere/)
  expect(scene.told).toHaveLength(1)
  expect(scene.loop.requests.nowhere ?? []).toHaveLength(0)
  scene.primary.answer(2, text('done'))
  await run
  expect(scene.loop.lastText(scene.agent)).toBe('done')
  expect(broken).toEqual([])
})

test('adapters that change without bringing the model leave it waiting, without another line', async () => {
  const scene = await start({ provider: 'late' })
  void scene.prompt('Read b.txt')
  await scene.step(0)
  const told = scene.told.length
  for (const provider of ['other', 'another']) register(scene, provider, () => text('ok'))
  await scene.step(1)
  await scene.loop.settle()
  expect((await scene.status()).Advisor).toMatch(/^no_model /)
  expect(scene.told.length).toBe(told)
  expect(told).toBeLessThanOrEqual(1)
})

test('a provider that goes away pauses the reviewer, and its return resumes it', async () => {
  const scene = await start({ provider: 'late' })
  const first = register(scene, 'late', () => text('ok'))
  void scene.prompt('Read b.txt')
  await scene.step(0)
  await scene.loop.until(() => first.adapter.requests.reviewer.length === 1)
  await scene.loop.settle()
  first.dispose()
  await scene.loop.settle()
  await scene.step(1)
  await scene.loop.settle()
  expect((await scene.status()).Advisor).toMatch(/^no_model /)
  expect(scene.told.length).toBeLessThanOrEqual(1)

  const second = register(scene, 'late', () => text('ok'))
  await scene.loop.until(() => second.adapter.requests.reviewer.length === 1)
  expect(shown(second.adapter.requests.reviewer[0])).toContain('file-1.txt')
  expect(shown(second.adapter.requests.reviewer[0])).toContain('Read b.txt')
})

test('a model that is configured while it waits is taken at once', async () => {
  const scene = await start({ provider: 'late' }, { settings: true })
  void scene.prompt('Read b.txt')
  await scene.step(0)
  await scene.loop.settle()
  const { settingsNamespace } = await import('@deepseek-ai/dsh-settings')
  await scene.loop.ctx.settings.update(settingsNamespace('advisor'), { provider: 'mock' })
  expect(shown(await scene.review(0))).toContain('Read b.txt')
  expect((await scene.status()).Advisor).toBe('running')
})
