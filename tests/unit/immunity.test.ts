import { expect, test } from 'vitest'
import { Immunity, type Completed } from '../../src/deliver/immunity.ts'

const at = (updates: number, turns = updates): Completed => ({ updates, turns })

/** At which of the counts 0 to 19 it holds. */
const held = (immunity: Immunity, length: number): number[] =>
  Array.from({ length: 20 }, (_, count) => count).filter(count => immunity.holds(at(count), 'updates', length))

test('does not hold before a steer', () => {
  expect(held(new Immunity(), 9)).toEqual([])
})

test.each([
  [0, 3, [0, 1, 2]], [5, 3, [0, 1, 2, 3, 4, 5, 6, 7]], [5, 1, [0, 1, 2, 3, 4, 5]], [5, 0, [0, 1, 2, 3, 4]], [0, 0, []],
])('armed at %i for %i it holds until that many have completed', (count, length, expected) => {
  const immunity = new Immunity()
  immunity.arm(at(count))
  expect(held(immunity, length)).toEqual(expected)
})

test('a later steer begins it anew', () => {
  const immunity = new Immunity()
  immunity.arm(at(2))
  immunity.arm(at(4))
  expect(immunity.holds(at(6), 'updates', 3)).toBe(true)
  expect(immunity.holds(at(7), 'updates', 3)).toBe(false)
})

test('a unit that is changed meanwhile is counted from the same steer', () => {
  const immunity = new Immunity()
  immunity.arm(at(20, 2))
  expect(immunity.holds(at(40, 4), 'turns', 3)).toBe(true)
  expect(immunity.holds(at(41, 5), 'turns', 3)).toBe(false)
})
