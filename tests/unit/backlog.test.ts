import { beforeEach, describe, expect, test } from 'vitest'
import type { Entry } from '../../src/observe/entry.ts'
import type { Update } from '../../src/observe/fold.ts'
import { Backlog, BACKLOG_LIMIT } from '../../src/review/backlog.ts'

let backlog: Backlog
beforeEach(() => { backlog = new Backlog() })

const entry = (text: string): Entry => ({ kind: 'agent', seq: 0, text, reasoning: '', interrupted: false })
const user = (text: string): Entry => ({ kind: 'user', seq: 0, text })

function update(number: number, more: Partial<Update> = {}): Update {
  return { number, turn: 1, step: number, boundary: 'step', mutated: false, final: false, entries: [entry(`e${number}`)], ...more }
}

/** Push updates; returns how many had to go. */
function push(...updates: Update[]): number {
  return updates.reduce((gone, one) => gone + backlog.push(one, BACKLOG_LIMIT), 0)
}

/** Push plain updates with these numbers. */
function range(from: number, to: number): number {
  return push(...Array.from({ length: to - from + 1 }, (_, index) => update(from + index)))
}

const taken = (): number[] => backlog.take().map(({ number }) => number)

test('what waits is taken in one piece, oldest first', () => {
  range(1, 3)
  expect(backlog.size).toBe(3)
  expect(taken()).toEqual([1, 2, 3])
})

test('what comes while a review is under way waits for the next one', () => {
  range(1, 2)
  backlog.take()
  range(3, 4)
  backlog.settle()
  expect(backlog.size).toBe(2)
  expect(taken()).toEqual([3, 4])
})

test('what a failed review took is shown again with what came since', () => {
  range(1, 2)
  backlog.take()
  range(3, 3)
  expect(taken()).toEqual([1, 2, 3])
  backlog.settle()
  expect(backlog.size).toBe(0)
})

describe('what waits, counted', () => {
  test('in entries and in boundaries of each cadence, the batch under review among it', () => {
    push(update(1), update(2, { mutated: true }), update(3, { final: true, entries: [entry('a'), entry('b')] }))
    backlog.take()
    push(update(4, { boundary: 'turn' }))
    const counts = (['step', 'mutation', 'turn'] as const).map(reviewAt => backlog.waiting(reviewAt))
    expect(counts).toEqual([{ entries: 5, boundaries: 4 }, { entries: 5, boundaries: 3 }, { entries: 5, boundaries: 2 }])
  })

  test('is nothing at first', () => {
    expect(backlog.waiting('step')).toEqual({ entries: 0, boundaries: 0 })
  })
})

describe('an update in which nothing happened', () => {
  const closing = update(2, { boundary: 'turn', entries: [] })

  test('only marks what waits as the end of the work', () => {
    push(update(1), closing)
    expect(backlog.waiting('turn')).toEqual({ entries: 1, boundaries: 1 })
    expect(backlog.take()).toMatchObject([{ number: 1, boundary: 'turn', entries: [{ text: 'e1' }] }])
  })

  test('leaves what else waits as it is', () => {
    push(update(1), update(2), closing)
    expect(backlog.waiting('turn')).toEqual({ entries: 2, boundaries: 1 })
    expect(backlog.take().map(({ number, boundary }) => [number, boundary])).toEqual([[1, 'step'], [2, 'turn']])
  })

  test('is nothing to review where nothing waits', () => {
    push(closing)
    expect(backlog.size).toBe(0)
    expect(backlog.waiting('turn')).toEqual({ entries: 0, boundaries: 0 })
  })
})

describe('a full backlog', () => {
  test('lets the oldest go, never the newest, and says how many', () => {
    expect(range(1, BACKLOG_LIMIT)).toBe(0)
    expect(range(BACKLOG_LIMIT + 1, BACKLOG_LIMIT + 3)).toBe(3)
    expect(backlog.size).toBe(BACKLOG_LIMIT)
    const numbers = taken()
    expect(numbers[0]).toBe(4)
    expect(numbers.at(-1)).toBe(BACKLOG_LIMIT + 3)
    expect(backlog.gap).toEqual({ updates: 3, latest: undefined })
  })

  test('holds 32 updates, and more where the cadence needs them', () => {
    expect(BACKLOG_LIMIT).toBe(32)
    for (let number = 1; number <= 100; number += 1) expect(backlog.push(update(number), 100)).toBe(0)
    expect(backlog.size).toBe(100)
  })

  test('keeps what the user said last in the part that went', () => {
    push(update(1, { entries: [user('First.')] }), update(2, { entries: [user('Second.'), entry('x')] }))
    range(3, BACKLOG_LIMIT + 2)
    backlog.take()
    expect(backlog.gap).toEqual({ updates: 2, latest: 'Second.' })
  })
})

test('stays bounded however often its reviews fail, and keeps the newest', () => {
  for (let round = 0; round < 20; round += 1) {
    range(round * BACKLOG_LIMIT + 1, (round + 1) * BACKLOG_LIMIT)
    backlog.take()
  }
  expect(backlog.size).toBeLessThanOrEqual(2 * BACKLOG_LIMIT)
  expect(taken().at(-1)).toBe(20 * BACKLOG_LIMIT)
})

describe('a batch that is dropped', () => {
  test('is a gap before the next one, and what came since stays', () => {
    push(update(1, { entries: [user('Also b.')] }))
    backlog.take()
    range(2, 3)
    expect(backlog.drop('taken')).toBe(1)
    expect(backlog.size).toBe(2)
    expect(taken()).toEqual([2, 3])
    expect(backlog.gap).toEqual({ updates: 1, latest: 'Also b.' })
  })

  test('takes the whole backlog with it when told to', () => {
    range(1, 2)
    backlog.take()
    range(3, 5)
    expect(backlog.drop('all')).toBe(5)
    expect(backlog.size).toBe(0)
    range(6, 6)
    expect(taken()).toEqual([6])
    expect(backlog.gap).toEqual({ updates: 5, latest: undefined })
  })

  test('adds to the gap of the one before, and the user\'s latest words win', () => {
    push(update(1, { entries: [user('First.')] }))
    backlog.take()
    backlog.drop('taken')
    push(update(2, { entries: [user('Second.')] }))
    backlog.take()
    backlog.drop('taken')
    range(3, 3)
    backlog.take()
    expect(backlog.gap).toEqual({ updates: 2, latest: 'Second.' })
  })

  test('whose words are not the user\'s keeps the words of an earlier one', () => {
    push(update(1, { entries: [user('First.')] }))
    backlog.take()
    backlog.drop('taken')
    range(2, 2)
    backlog.take()
    backlog.drop('taken')
    range(3, 3)
    backlog.take()
    expect(backlog.gap.latest).toBe('First.')
  })
})

test('a gap is told once: a review that succeeds closes it', () => {
  range(1, 1)
  backlog.take()
  backlog.drop('taken')
  range(2, 2)
  backlog.take()
  backlog.settle()
  range(3, 3)
  backlog.take()
  expect(backlog.gap).toEqual({ updates: 0, latest: undefined })
})

test('a loss during a review is told to the next one', () => {
  range(1, 1)
  backlog.take()
  range(2, BACKLOG_LIMIT + 3)
  expect(backlog.gap.updates).toBe(0)
  backlog.settle()
  backlog.take()
  expect(backlog.gap.updates).toBe(2)
})

describe('a rewrite', () => {
  test('replaces all by the transcript as it stands, which is due at the next step', () => {
    range(1, 3)
    backlog.take()
    range(4, 4)
    backlog.restart([entry('summary'), user('Go on.')], { number: 4, turn: 2, step: 1, final: false })
    expect(backlog.size).toBe(1)
    expect(backlog.waiting('step')).toEqual({ entries: 2, boundaries: 1 })
    expect(backlog.take()).toMatchObject([{ number: 4, turn: 2, step: 1, entries: [{ text: 'summary' }, { text: 'Go on.' }] }])
  })

  test('of nothing is nothing to show, and closes every gap', () => {
    range(1, 1)
    backlog.take()
    backlog.drop('taken')
    backlog.restart([], { number: 1, turn: 1, step: 1, final: false })
    expect(backlog.size).toBe(0)
    range(2, 2)
    backlog.take()
    expect(backlog.gap.updates).toBe(0)
  })
})
