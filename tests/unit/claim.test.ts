import { beforeEach, describe, expect, test } from 'vitest'
import * as first from '../../src/claim.ts'

const { claimReviewer, reviewerOf, REVIEWER_KEY } = first

/** Another copy of the module, as a second installation would load it. */
const COPY = '../../src/claim.ts?copy'
const second = await import(/* @vite-ignore */ COPY) as typeof first

/** What happened, in order. */
let log: string[]
beforeEach(() => { log = [] })

function enter(root: object, name: string, { claimReviewer: claim } = first): () => void {
  return claim(root, { name, activate: () => { log.push(name) } })
}

test('the register stands on globalThis under the exported key', () => {
  const root = {}
  enter(root, 'a')
  expect(REVIEWER_KEY).toBe('__dshAdvisorReviewer__')
  expect((globalThis as Record<string, unknown>)[REVIEWER_KEY]).toBeInstanceOf(WeakMap)
})

test('the first fiber holds the role at once, the others wait in line', () => {
  const root = {}
  expect(reviewerOf(root)).toBeUndefined()
  enter(root, 'a')
  enter(root, 'b')
  enter(root, 'c')
  expect(log).toEqual(['a'])
  expect(reviewerOf(root)).toBeDefined()
})

test('the next in line takes over when the holder leaves, in the order of arrival', () => {
  const root = {}
  const leave = ['a', 'b', 'c'].map(name => enter(root, name))
  leave[0]!()
  expect(log).toEqual(['a', 'b'])
  leave[1]!()
  expect(log).toEqual(['a', 'b', 'c'])
  leave[2]!()
  expect(reviewerOf(root)).toBeUndefined()
})

test('whoever leaves the line before its turn is passed over', () => {
  const root = {}
  const leave = ['a', 'b', 'c'].map(name => enter(root, name))
  leave[1]!()
  expect(log).toEqual(['a'])
  leave[0]!()
  expect(log).toEqual(['a', 'c'])
})

test('a second release changes nothing, whoever holds the role by then', () => {
  const root = {}
  const leaveA = enter(root, 'a')
  const leaveB = enter(root, 'b')
  leaveA()
  leaveA()
  expect(reviewerOf(root)).toBeDefined()
  leaveB()
  leaveB()
  leaveA()
  expect(reviewerOf(root)).toBeUndefined()
  enter(root, 'c')
  leaveB()
  expect(reviewerOf(root)).toBeDefined()
  expect(log).toEqual(['a', 'b', 'c'])
})

test('a host that was left empty can be claimed again', () => {
  const root = {}
  enter(root, 'a')()
  enter(root, 'b')
  expect(log).toEqual(['a', 'b'])
})

test('each host root has its own reviewer', () => {
  const roots = [{}, {}] as const
  const leave = enter(roots[0], 'a0')
  enter(roots[0], 'b0')
  enter(roots[1], 'a1')
  enter(roots[1], 'b1')
  expect(log).toEqual(['a0', 'a1'])
  leave()
  expect(log).toEqual(['a0', 'a1', 'b0'])
})

test('a holder that leaves while it is being activated lets the next one in', () => {
  const root = {}
  const leave = enter(root, 'a')
  const early: { leave?: () => void } = {}
  early.leave = claimReviewer(root, {
    name: 'b',
    activate() {
      log.push('b')
      early.leave?.()
    },
  })
  enter(root, 'c')
  leave()
  expect(log).toEqual(['a', 'b', 'c'])
  expect(reviewerOf(root)).toBeDefined()
})

describe('two copies of the module', () => {
  test('are two modules', () => {
    expect(second.claimReviewer).not.toBe(first.claimReviewer)
    expect(second.REVIEWER_KEY).toBe(first.REVIEWER_KEY)
  })

  test('share one line', () => {
    const root = {}
    const leave = enter(root, 'first', first)
    const leaveSecond = enter(root, 'second', second)
    enter(root, 'third', first)
    expect(log).toEqual(['first'])
    expect(second.reviewerOf(root)?.name).toBe('first')
    leave()
    expect(log).toEqual(['first', 'second'])
    leaveSecond()
    expect(log).toEqual(['first', 'second', 'third'])
  })
})
