/** What the advisor holds of the host: nothing while it is off, and nothing when it is gone. */
import { afterEach, expect, test, vi } from 'vitest'
import { settingsNamespace } from '@deepseek-ai/dsh-settings'
import * as advisor from '../../src/index.ts'
import { advise, fail, hang, text } from '../support/adapter-replies.ts'
import { REVIEWER, rejections, startLoop, startScene } from '../support/loop-advised.ts'

/** All that a reviewer may listen to. */
const HEARD = [
  'agent/created', 'agent/disposed', 'agent/inbox/discarded', 'agent/pre-step', 'agent/status', 'agent/turn-stopping',
  'agent/inbox/claimed', 'agent/inbox/inserted', 'llm/adapters-updated', 'session/event',
]

afterEach(() => { vi.useRealTimers() })

function heardBy(events: Readonly<Record<string, number>>): string[] {
  return Object.keys(events).filter(name => !name.startsWith('internal/')).sort()
}

test.each<[string, object, string[]]>([
  ['nothing is subscribed while it is not enabled', {}, []],
  // A session to come may have a roster that names one.
  ['only new sessions are heard of while no model is named', { enabled: true }, ['agent/created']],
  ['only new sessions are heard of while only the provider is named', { enabled: true, provider: 'mock' }, ['agent/created']],
])('%s', async (_name, config, heard) => {
  const loop = await startLoop({ settings: true })
  const fiber = await loop.mount(advisor, config)
  const agent = await loop.agent()
  await loop.prompt(agent, 'go')
  await loop.settle()
  expect(heardBy(loop.listeners(fiber).events).filter(name => HEARD.includes(name))).toEqual(heard)
  expect(loop.requests.reviewer).toEqual([])
})

test('a running reviewer listens once to what it needs, whatever the number of sessions', async () => {
  const scene = await startScene({ primary: () => text('done'), reviewer: () => text('ok') })
  const held = scene.loop.listeners(scene.fiber)
  expect(held.events).toMatchObject({ 'session/event': 1, 'agent/pre-step': 1 })
  await scene.loop.agent()
  await scene.prompt('go')
  await scene.loop.settle()
  expect(scene.loop.listeners(scene.fiber)).toEqual(held)
})

test('`/advisor off` in the only session that wished for it takes the subscriptions away, `on` brings them back', async () => {
  const scene = await startScene({ config: { enabled: false }, primary: () => text('done'), reviewer: () => text('ok') })
  const off = scene.loop.listeners(scene.fiber)
  await scene.advisor('on')
  expect(scene.loop.listeners(scene.fiber).events['session/event']).toBe(1)
  await scene.advisor('off')
  expect(scene.loop.listeners(scene.fiber)).toEqual(off)
  await scene.prompt('go')
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(0)
})

test('`/advisor off` where the configuration says on reviews nothing, listens to no session and does not call on', async () => {
  const scene = await startScene({ primary: () => text('done') })
  await scene.advisor('off')
  await scene.prompt('go')
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(0)
  const { events } = scene.loop.listeners(scene.fiber)
  expect([events['session/event'], events['agent/pre-step']]).toEqual([undefined, undefined])
})

test('disposing it, also twice, leaves no listener, command, setting, provider call or timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
  const loop = await startLoop({ settings: true, script: { primary: () => text('done'), reviewer: () => hang() } })
  const before = loop.listeners()
  const timers = vi.getTimerCount()
  const fiber = await loop.mount(advisor, REVIEWER)
  const agent = await loop.agent()
  await loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.reviewer.length === 1)
  expect(vi.getTimerCount()).toBeGreaterThan(timers)
  const section = settingsNamespace('advisor')
  expect(loop.ctx.settings.get(section)).toBeDefined()

  await fiber.dispose()
  await fiber.dispose()
  await loop.close(agent)
  expect(loop.listeners()).toEqual(before)
  expect(vi.getTimerCount()).toBe(timers)
  expect(loop.ctx.settings.get(section)).toBeUndefined()
  expect(loop.requests.reviewer[0]?.signal?.aborted).toBe(true)
  const other = await loop.agent()
  expect(await loop.command(other, '/advisor status')).toBeUndefined()
  await loop.prompt(other, 'go')
  await loop.settle()
  expect(loop.requests.reviewer).toHaveLength(1)
})

test('disposing it where there is a settings service breaks no promise', async () => {
  const broken = rejections()
  const scene = await startScene({ settings: true, primary: () => text('done'), reviewer: () => text('ok') })
  await scene.prompt('go')
  await scene.fiber.dispose()
  await scene.loop.settle()
  expect(broken).toEqual([])
})

test('disposing it while it waits out a rate limit leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const scene = await startScene({
    primary: () => text('done'), reviewer: () => fail({ code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 30_000 }),
  })
  const timers = vi.getTimerCount()
  await scene.prompt('go')
  await scene.loop.until(() => scene.reviews.length === 1 && vi.getTimerCount() > timers)
  await scene.fiber.dispose()
  expect(vi.getTimerCount()).toBe(timers)
})

test('a reviewer that hangs and ignores its signal does not hold up the disposal', async () => {
  const scene = await startScene({ primary: () => text('done'), reviewer: () => hang({ ignoreSignal: true }) })
  await scene.prompt('go')
  await scene.loop.until(() => scene.reviews.length === 1)
  await scene.fiber.dispose()
  expect(scene.loop.listeners(scene.fiber)).toEqual({ events: {}, effects: {} })
})

test('a review that ends after the disposal says nothing more', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.reviewer.asked(0)
  const down = scene.fiber.dispose()
  scene.reviewer.answer(0, advise('Too late.', 'blocker'))
  await down
  await scene.step(1)
  scene.primary.answer(2, text('done'))
  await run
  await scene.loop.settle()
  expect(scene.loop.events(scene.agent).filter(event => event.type === 'user/message')).toHaveLength(1)
})

test('closing a session ends its review; the others go on', async () => {
  const scene = await startScene({ primary: () => text('done') })
  const other = await scene.loop.agent()
  await scene.prompt('go')
  const request = await scene.reviewer.asked(0)
  await scene.loop.close(scene.agent)
  expect(request.signal?.aborted).toBe(true)
  await scene.loop.prompt(other, 'and you?')
  await scene.reviewer.asked(1)
  expect(scene.reviews).toHaveLength(2)
})

test('without the plugin the host has neither its command nor its setting, and an agent runs as ever', async () => {
  const loop = await startLoop({ settings: true })
  const agent = await loop.agent()
  await loop.prompt(agent, 'go')
  expect(await loop.command(agent, '/advisor status')).toBeUndefined()
  expect(loop.lastText(agent)).toBe('done')
})

test('a session that cannot be taken up, for a store of the host breaks its word, begins and goes on unreviewed', async () => {
  const loop = await startLoop({})
  loop.ctx.provide('sessionPersistence', { locate: () => { throw new Error('the store is gone') } } as never)
  await loop.mount(advisor, REVIEWER)
  const agent = await loop.agent()
  await loop.prompt(agent, 'go')
  await loop.settle()
  expect(loop.requests.primary).toHaveLength(1)
  expect(loop.logs.some(({ type, text }) => type === 'error' && text.includes('the store is gone'))).toBe(true)
  await loop.close(agent)
})
