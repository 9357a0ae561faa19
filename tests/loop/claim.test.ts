/** One reviewer a host, however often the plugin is loaded. */
import { expect, test, vi } from 'vitest'
import { settingsNamespace } from '@deepseek-ai/dsh-settings'
import * as advisor from '../../src/index.ts'
import { reviewerOf } from '../../src/claim.ts'
import { text } from '../support/adapter-replies.ts'
import type { Loop } from '../support/loop.ts'
import { readStatus, REVIEWER, startLoop } from '../support/loop-advised.ts'

function start(): Promise<Loop> {
  return startLoop({
    settings: true,
    script: { primary: () => text('done'), reviewer: () => text('ok'), other: () => text('ok') },
  })
}

/** Run one prompt and count who was asked to review it. */
async function reviewed(loop: Loop): Promise<{ reviewer: number, other: number }> {
  const before = { reviewer: loop.requests.reviewer.length, other: loop.requests.other?.length ?? 0 }
  await loop.prompt(await loop.agent(), 'go')
  await loop.settle()
  return {
    reviewer: loop.requests.reviewer.length - before.reviewer,
    other: (loop.requests.other?.length ?? 0) - before.other,
  }
}

test('of two fibers the first reviews, and when it leaves the second takes over by itself', async () => {
  const loop = await start()
  const first = await loop.mount(advisor, REVIEWER)
  const second = await loop.mount(advisor, { ...REVIEWER, model: 'other' })
  expect(await reviewed(loop)).toEqual({ reviewer: 1, other: 0 })
  expect(loop.listeners(second).events['session/event']).toBeUndefined()

  await first.dispose()
  await loop.settle()
  expect(await reviewed(loop)).toEqual({ reviewer: 0, other: 1 })
  const status = readStatus((await loop.command(await loop.agent(), '/advisor status'))?.text ?? '')
  expect(status.Model).toContain('mock/other')
  expect(loop.ctx.settings.get(settingsNamespace('advisor'))).toMatchObject({ model: 'other' })

  await second.dispose()
  expect(reviewerOf(loop.ctx.root)).toBeUndefined()
  expect(await reviewed(loop)).toEqual({ reviewer: 0, other: 0 })
})

test('a session that was open before the takeover is reviewed after it', async () => {
  const loop = await start()
  const first = await loop.mount(advisor, REVIEWER)
  await loop.mount(advisor, { ...REVIEWER, model: 'other' })
  const agent = await loop.agent()
  await loop.prompt(agent, 'one')
  await first.dispose()
  await loop.settle()
  await loop.prompt(agent, 'two')
  await loop.until(() => loop.requests.other?.length === 1)
})

test('when the one that waits leaves first, nothing changes for the one at work', async () => {
  const loop = await start()
  await loop.mount(advisor, REVIEWER)
  const second = await loop.mount(advisor, { ...REVIEWER, model: 'other' })
  await second.dispose()
  await second.dispose()
  expect(reviewerOf(loop.ctx.root)).toBeDefined()
  expect(await reviewed(loop)).toEqual({ reviewer: 1, other: 0 })
})

test('two hosts in one process have one reviewer each', async () => {
  const [one, two] = [await start(), await start()]
  const fiber = await one.mount(advisor, REVIEWER)
  await two.mount(advisor, { ...REVIEWER, model: 'other' })
  expect(await reviewed(one)).toEqual({ reviewer: 1, other: 0 })
  expect(await reviewed(two)).toEqual({ reviewer: 0, other: 1 })
  await fiber.dispose()
  expect(await reviewed(one)).toEqual({ reviewer: 0, other: 0 })
  expect(await reviewed(two)).toEqual({ reviewer: 0, other: 1 })
})

test('two copies of the module share one claim, found by its public name', async () => {
  const loop = await start()
  const first = await loop.mount(advisor, REVIEWER)
  vi.resetModules()
  const copy = await import('../../src/index.ts')
  expect(copy.apply).not.toBe(advisor.apply)
  expect(copy.REVIEWER_KEY).toBe('__dshAdvisorReviewer__')
  expect(globalThis).toHaveProperty(copy.REVIEWER_KEY)
  await loop.mount(copy, { ...REVIEWER, model: 'other' })
  expect(await reviewed(loop)).toEqual({ reviewer: 1, other: 0 })
  await first.dispose()
  await loop.settle()
  expect(await reviewed(loop)).toEqual({ reviewer: 0, other: 1 })
})

test.each([
  ['an unknown key', { ...REVIEWER, tempo: 'high' }, /tempo/],
  ['a value out of range', { ...REVIEWER, reviewEvery: 0 }, /reviewEvery|expected number/],
  ['a value of the wrong type', { ...REVIEWER, maxSeverity: 'critical' }, /maxSeverity|critical/],
])('a fiber refused for %s says so and leaves no claim, so that another one can review', async (_name, config, message) => {
  const loop = await start()
  await expect(loop.mount(advisor, config)).rejects.toThrow(message)
  expect(reviewerOf(loop.ctx.root)).toBeUndefined()
  await loop.mount(advisor, REVIEWER)
  expect(await reviewed(loop)).toEqual({ reviewer: 1, other: 0 })
})
