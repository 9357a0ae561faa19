import { describe, expect, test } from 'vitest'
import { Routes } from '../../src/review/routes.ts'
import { routeKey } from '../../src/review/model.ts'

const CONFIG = { provider: 'a', model: 'one', effort: 'low', fallbacks: ['b/two:high', 'c/three'] }
const MINUTE = 60_000

const keyAt = (routes: Routes, now: number, config = CONFIG) => routeKey(routes.current(config, now))

test('the configured model is used while nothing fails', () => {
  const routes = new Routes()
  expect(routes.current(CONFIG, 0)).toEqual({ provider: 'a', model: 'one', effort: 'low' })
  expect(routes.detour).toBeUndefined()
})

test('a failure goes down the list, each model once, and then no further', () => {
  const routes = new Routes()
  routes.current(CONFIG, 0)
  expect(routes.fail(CONFIG, 'quota', undefined, 0)).toEqual({ kind: 'switched', from: 'a/one', to: { provider: 'b', model: 'two', effort: 'high' } })
  expect(routes.fail(CONFIG, 'auth', undefined, 1)).toMatchObject({ kind: 'switched', from: 'b/two', to: { provider: 'c', model: 'three', effort: 'low' } })
  expect(routes.fail(CONFIG, 'auth', undefined, 2)).toEqual({ kind: 'exhausted' })
  expect(keyAt(routes, 3)).toBe('a/one')
})

test('the configured model comes back after the time its provider named', () => {
  const routes = new Routes()
  routes.current(CONFIG, 0)
  routes.fail(CONFIG, 'quota', 5 * MINUTE, 0)
  expect(keyAt(routes, 5 * MINUTE - 1)).toBe('b/two')
  expect(routes.detour).toMatchObject({ from: 'a/one', reason: 'quota' })
  expect(keyAt(routes, 5 * MINUTE)).toBe('a/one')
  expect(routes.detour).toBeUndefined()
})

test('without a named time it comes back after half an hour', () => {
  const routes = new Routes()
  routes.current(CONFIG, 0)
  routes.fail(CONFIG, 'auth', undefined, 0)
  expect(keyAt(routes, 30 * MINUTE - 1)).toBe('b/two')
  expect(keyAt(routes, 30 * MINUTE)).toBe('a/one')
})

test('a second failure on the way does not put off the return', () => {
  const routes = new Routes()
  routes.current(CONFIG, 0)
  routes.fail(CONFIG, 'quota', 10 * MINUTE, 0)
  routes.fail(CONFIG, 'auth', 60 * MINUTE, 9 * MINUTE)
  expect(keyAt(routes, 10 * MINUTE)).toBe('a/one')
})

test('a clock set back ends the detour', () => {
  const routes = new Routes()
  routes.current(CONFIG, 100 * MINUTE)
  routes.fail(CONFIG, 'quota', 10 * MINUTE, 100 * MINUTE)
  expect(keyAt(routes, 50 * MINUTE)).toBe('a/one')
})

describe('another configuration', () => {
  test.each([{ model: 'other' }, { fallbacks: ['c/three'] }, { effort: 'high' }])('starts over: %j', (change) => {
    const routes = new Routes()
    routes.current(CONFIG, 0)
    routes.fail(CONFIG, 'quota', undefined, 0)
    expect(routes.current({ ...CONFIG, ...change }, 1)).toMatchObject({ provider: 'a' })
    expect(routes.detour).toBeUndefined()
  })
})

test('a model that stands twice in the list is tried once', () => {
  const config = { ...CONFIG, fallbacks: ['a/one', 'b/two', 'b/two:max'] }
  const routes = new Routes()
  routes.current(config, 0)
  expect(routes.fail(config, 'x', undefined, 0)).toMatchObject({ kind: 'switched', to: { provider: 'b' } })
  expect(routes.fail(config, 'x', undefined, 0)).toEqual({ kind: 'exhausted' })
})

test('no fallback is an end at once', () => {
  expect(new Routes().fail({ ...CONFIG, fallbacks: [] }, 'x', undefined, 0)).toEqual({ kind: 'exhausted' })
})
