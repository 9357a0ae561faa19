import { expect, test } from 'vitest'
import { Immunity } from '../../src/deliver/immunity.ts'

/** At which of the counts 0 to 19 it holds. */
const held = (immunity: Immunity): number[] => Array.from({ length: 20 }, (_, count) => count).filter(count => immunity.holds(count))

test('does not hold before a steer', () => {
  expect(held(new Immunity())).toEqual([])
})

test.each([
  [0, 3, [0, 1, 2]], [5, 3, [0, 1, 2, 3, 4, 5, 6, 7]], [5, 1, [0, 1, 2, 3, 4, 5]], [5, 0, [0, 1, 2, 3, 4]], [0, 0, []],
])('armed at %i for %i it holds until that many have completed', (count, length, expected) => {
  const immunity = new Immunity()
  immunity.arm(count, length)
  expect(held(immunity)).toEqual(expected)
})

test('a later steer begins it anew', () => {
  const immunity = new Immunity()
  immunity.arm(2, 3)
  immunity.arm(4, 3)
  expect(immunity.holds(6)).toBe(true)
  expect(immunity.holds(7)).toBe(false)
})

test('a length of nothing means none, from now on', () => {
  const immunity = new Immunity()
  immunity.arm(2, 0)
  expect(immunity.holds(2)).toBe(false)
})
