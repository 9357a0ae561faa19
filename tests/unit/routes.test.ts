import { describe, expect, test } from 'vitest'
import { Routes, type Switch, type Trouble } from '../../src/review/routes.ts'
import { routeKey } from '../../src/review/model.ts'

const CONFIG = { provider: 'a', model: 'one', effort: 'low', fallbacks: ['b/two:high', 'c/three'] }
const MINUTE = 60_000

const keyAt = (routes: Routes, now: number, config = CONFIG) => routeKey(routes.current(config, now))
const quota = (retryMs?: number): Trouble => ({ kind: 'pause', reason: 'quota', retryMs })
const auth: Trouble = { kind: 'halt', reason: 'auth', retryMs: undefined }
const fail = (routes: Routes, trouble: Trouble, now: number, { config = CONFIG, missing = [] as readonly string[] } = {}): Switch => (
  routes.fail(config, trouble, now, provider => !missing.includes(provider))
)
const begun = (now = 0): Routes => {
  const routes = new Routes()
  routes.current(CONFIG, now)
  return routes
}

test('the configured model is used while nothing fails', () => {
  const routes = new Routes()
  expect(routes.current(CONFIG, 0)).toEqual({ provider: 'a', model: 'one', effort: 'low' })
  expect(routes.detour(CONFIG, 0)).toBeUndefined()
})

test('a failure goes down the list, each model once, and then no further', () => {
  const routes = begun()
  expect(fail(routes, quota(), 0)).toEqual({ kind: 'switched', from: 'a/one', to: { provider: 'b', model: 'two', effort: 'high' }, passed: [] })
  expect(fail(routes, auth, 1)).toMatchObject({ kind: 'switched', from: 'b/two', to: { provider: 'c', model: 'three', effort: 'low' } })
  expect(fail(routes, auth, 2)).toMatchObject({ kind: 'exhausted' })
  expect(keyAt(routes, 3)).toBe('a/one')
})

test('a fallback whose provider is missing is passed over', () => {
  const routes = begun()
  expect(fail(routes, quota(), 0, { missing: ['b'] })).toMatchObject({ kind: 'switched', from: 'a/one', to: { model: 'three' }, passed: ['b/two'] })
  expect(routes.detour(CONFIG, 1)).toMatchObject({ from: 'a/one', to: 'c/three', reason: 'quota' })
})

describe('when all have failed', () => {
  test.each<[string, readonly Trouble[], Trouble]>([
    ['nobody can come back by himself, it is a halt', [auth, auth, auth], { kind: 'halt', reason: 'a/one: auth; b/two: auth; c/three: auth', retryMs: undefined }],
    ['one may come back, it is a pause', [auth, quota(), auth], { kind: 'pause', reason: 'a/one: auth; b/two: quota; c/three: auth', retryMs: undefined }],
    ['some said when, the first of them counts, from now', [quota(9 * MINUTE), quota(3 * MINUTE), quota()],
      { kind: 'pause', reason: 'a/one: quota; b/two: quota; c/three: quota', retryMs: 2 * MINUTE }],
    ['a time is over by now, it is now', [quota(30_000), auth, auth], { kind: 'pause', reason: 'a/one: quota; b/two: auth; c/three: auth', retryMs: 0 }],
  ])('and %s', (_, troubles, trouble) => {
    const routes = begun()
    expect(troubles.map((each, minute) => fail(routes, each, minute * MINUTE)).at(-1)).toEqual({ kind: 'exhausted', trouble })
    expect(routes.isAway).toBe(false)
  })

  test('those that are missing are named', () => {
    expect(fail(begun(), quota(), 0, { missing: ['b', 'c'] })).toEqual({
      kind: 'exhausted', trouble: { kind: 'pause', reason: 'quota; b/two: not in this host; c/three: not in this host', retryMs: undefined },
    })
  })

  test('the next failure is told without those before', () => {
    const routes = begun()
    for (const minute of [0, 1, 2]) fail(routes, auth, minute)
    routes.current(CONFIG, 3)
    expect(fail(routes, quota(), 3, { missing: ['b', 'c'] })).toMatchObject({ trouble: { reason: expect.not.stringContaining('auth') as string } })
  })
})

test('the configured model comes back after the time its provider named', () => {
  const routes = begun()
  fail(routes, quota(5 * MINUTE), 0)
  expect(keyAt(routes, 5 * MINUTE - 1)).toBe('b/two')
  expect(routes.detour(CONFIG, 5 * MINUTE - 1)).toEqual({ from: 'a/one', to: 'b/two', reason: 'quota', since: 0, until: 5 * MINUTE })
  expect(routes.detour(CONFIG, 5 * MINUTE)).toBeUndefined()
  expect(routes.isAway).toBe(true)
  expect(keyAt(routes, 5 * MINUTE)).toBe('a/one')
  expect(routes.isAway).toBe(false)
})

test('without a named time it comes back after half an hour', () => {
  const routes = begun()
  fail(routes, auth, 0)
  expect(keyAt(routes, 30 * MINUTE - 1)).toBe('b/two')
  expect(keyAt(routes, 30 * MINUTE)).toBe('a/one')
})

test('a second failure on the way does not put off the return', () => {
  const routes = begun()
  fail(routes, quota(10 * MINUTE), 0)
  fail(routes, quota(60 * MINUTE), 9 * MINUTE)
  expect(keyAt(routes, 10 * MINUTE)).toBe('a/one')
})

test('a clock set back ends the detour', () => {
  const routes = begun(100 * MINUTE)
  fail(routes, quota(10 * MINUTE), 100 * MINUTE)
  expect(keyAt(routes, 50 * MINUTE)).toBe('a/one')
})

describe('another configuration', () => {
  test.each([{ model: 'other' }, { fallbacks: ['c/three'] }, { effort: 'high' }])('starts over: %j', (change) => {
    const routes = begun()
    fail(routes, quota(), 0)
    const config = { ...CONFIG, ...change }
    expect(routes.detour(config, 1)).toBeUndefined()
    expect(routes.current(config, 1)).toMatchObject({ provider: 'a' })
    expect(routes.isAway).toBe(false)
  })
})

test('a model that stands twice in the list is tried once', () => {
  const config = { ...CONFIG, fallbacks: ['a/one', 'b/two', 'b/two:max'] }
  const routes = new Routes()
  routes.current(config, 0)
  expect(fail(routes, auth, 0, { config })).toMatchObject({ kind: 'switched', to: { provider: 'b' } })
  expect(fail(routes, auth, 0, { config })).toMatchObject({ kind: 'exhausted' })
})

test('without a fallback a failure is an end at once, and is what it was', () => {
  const config = { ...CONFIG, fallbacks: [] }
  expect(fail(new Routes(), quota(MINUTE), 0, { config })).toEqual({ kind: 'exhausted', trouble: quota(MINUTE) })
})
