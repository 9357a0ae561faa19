import { beforeEach, describe, expect, test } from 'vitest'
import type { LlmResolvedModelInfo } from '@deepseek-ai/dsh-llm'
import { longRouteOf, Models, routeKey, routeOf } from '../../src/review/model.ts'
import { HandClock } from './support/clock.ts'
import { FakeModel, INFO } from './support/model.ts'

const OPTIONS = { timeoutMs: 90_000, clock: new HandClock(), signal: new AbortController().signal }
const ROUTE = { provider: 'p', model: 'm', effort: 'low' }

let asked: number
let llm: FakeModel
let models: Models
beforeEach(() => {
  asked = 0
  llm = new FakeModel()
  models = new Models(llm)
})

function answer(info: Partial<LlmResolvedModelInfo>): void {
  llm.info = () => {
    asked += 1
    return Promise.resolve({ ...INFO, ...info })
  }
}

describe('what a model can do', () => {
  test('is asked of the host once, and kept', async () => {
    answer({ context: { contextWindow: 128_000 } })
    for (const _ of [1, 2, 3]) expect(await models.describe(ROUTE, OPTIONS)).toEqual({ kind: 'facts', facts: { efforts: new Set(), window: 128_000 } })
    expect(asked).toBe(1)
  })

  test('may be unknown', async () => {
    answer({})
    expect(await models.describe(ROUTE, OPTIONS)).toEqual({ kind: 'facts', facts: { efforts: new Set(), window: undefined } })
  })

  test('includes the efforts that it takes', async () => {
    const efforts = ['low', 'high'].map(id => ({ id, name: id }))
    answer({ reasoning: { efforts } as unknown as NonNullable<LlmResolvedModelInfo['reasoning']> })
    expect(await models.describe(ROUTE, OPTIONS)).toMatchObject({ facts: { efforts: new Set(['low', 'high']) } })
  })

  test('is asked for each model, whatever the effort', async () => {
    answer({})
    for (const route of [ROUTE, { ...ROUTE, effort: 'high' }, { ...ROUTE, model: 'n' }, { ...ROUTE, provider: 'q' }, ROUTE]) await models.describe(route, OPTIONS)
    expect(asked).toBe(3)
  })

  test('is asked again when the host\'s adapters have changed', async () => {
    answer({ context: { contextWindow: 8_000 } })
    await models.describe(ROUTE, OPTIONS)
    models.forget()
    answer({ context: { contextWindow: 64_000 } })
    expect(await models.describe(ROUTE, OPTIONS)).toMatchObject({ facts: { window: 64_000 } })
  })

  test('that could not be found out is asked again the next time', async () => {
    llm.info = () => Promise.reject(Object.assign(new Error('gone'), { failure: { code: 'UNKNOWN_MODEL', message: 'gone' } }))
    expect(await models.describe(ROUTE, OPTIONS)).toMatchObject({ kind: 'failed', failure: { code: 'UNKNOWN_MODEL' } })
    answer({})
    expect(await models.describe(ROUTE, OPTIONS)).toMatchObject({ kind: 'facts' })
  })

  test('is not waited for once the review is given up', async () => {
    llm.info = () => new Promise(() => {})
    expect(await models.describe(ROUTE, { ...OPTIONS, signal: AbortSignal.abort() })).toEqual({ kind: 'aborted' })
  })
})

test('the configured model is named by provider and model', () => {
  expect(routeKey(routeOf({ provider: 'openrouter', model: 'a/b', effort: 'low' }))).toBe('openrouter/a/b')
})

test.each([
  ['p/long', { provider: 'p', model: 'long', effort: 'low' }], ['p/long:high', { provider: 'p', model: 'long', effort: 'high' }],
  [' openrouter/a/b ', { provider: 'openrouter', model: 'a/b', effort: 'low' }], ['', undefined], ['  ', undefined], ['long', undefined],
])('the model for long conversations in %j', (longContextModel, route) => {
  expect(longRouteOf({ longContextModel, effort: 'low' })).toEqual(route)
})
