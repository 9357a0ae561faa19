import { describe, expect, test } from 'vitest'
import { cutUpdate, isBoundary } from '../../src/observe/cut.ts'
import { isReadOnly } from '../../src/observe/read-only.ts'

test.each([
  [{ entries: 0, boundaries: 0 }, 1, { kind: 'hold', reason: 'nothing new' }],
  [{ entries: 0, boundaries: 3 }, 1, { kind: 'hold', reason: 'nothing new' }],
  [{ entries: 2, boundaries: 0 }, 1, { kind: 'hold', reason: 'no boundary' }],
  [{ entries: 1, boundaries: 1 }, 1, { kind: 'review', reason: 'due' }],
  [{ entries: 9, boundaries: 5 }, 1, { kind: 'review', reason: 'due' }],
  [{ entries: 4, boundaries: 1 }, 2, { kind: 'hold', reason: 'not its turn' }],
  [{ entries: 4, boundaries: 2 }, 2, { kind: 'review', reason: 'due' }],
  [{ entries: 4, boundaries: 3 }, 2, { kind: 'review', reason: 'due' }],
  [{ entries: 9, boundaries: 999 }, 1000, { kind: 'hold', reason: 'not its turn' }],
])('%j with every %i: %j', (waiting, every, decision) => {
  expect(cutUpdate(waiting, every)).toEqual(decision)
})

describe('a boundary of the cadence', () => {
  const step = { boundary: 'step', mutated: false, final: false } as const
  /** An update, and whether it counts with `step`, `mutation` and `turn`. */
  test.each([
    ['a step that looked', step, [true, false, false]],
    ['a step that changed something', { ...step, mutated: true }, [true, true, false]],
    ['an answer', { ...step, final: true }, [true, true, true]],
    ['the end of a turn', { ...step, boundary: 'turn' as const }, [true, true, true]],
    ['the end of a turn that changed something', { ...step, boundary: 'turn' as const, mutated: true }, [true, true, true]],
  ])('%s', (_name, update, expected) => {
    expect((['step', 'mutation', 'turn'] as const).map(reviewAt => isBoundary(update, reviewAt))).toEqual(expected)
  })
})

test.each([
  ...['read', 'read_image', 'grep', 'glob', 'web_search', 'web_fetch', 'todo_write', 'ask_user_question'].map(name => [name, true] as const),
  ...['bash', 'edit', 'write', 'mcp__files__delete', 'Read', 'reader', '', 'constructor'].map(name => [name, false] as const),
])('the tool %j can only look: %s', (name, expected) => {
  expect(isReadOnly(name)).toBe(expected)
})
