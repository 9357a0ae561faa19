import { describe, expect, test } from 'vitest'
import { CallId, createAssistantMessage } from '@deepseek-ai/dsh-llm'
import type { ToolCallBlock } from '@deepseek-ai/dsh-llm'
import type { Batch } from '../../src/review/batch.ts'
import { toMessages, type AnsweredCall } from '../../src/review/conversation.ts'
import { correction, Inquiry, type Asking } from '../../src/review/inquiry.ts'

const BATCH: Batch = { messages: toMessages(['update']), shown: new Set(), plan: undefined, remarks: 0, asked: [] }
const LIMITS = { calls: 12, ms: 120_000 }

const begin = (startedAt = 0) => new Inquiry(BATCH, [5, 7], startedAt)
const read = (path: string): ToolCallBlock => ({ type: 'tool-call', id: CallId(`c-${path}`), name: 'read', arguments: JSON.stringify({ path }) })
const judge = (inquiry: Inquiry, calls = [read('a')], now = 0, full = false, limits = LIMITS): Asking => inquiry.judge(calls, limits, now, full)

/** A reply with these calls, answered. */
function round(inquiry: Inquiry, calls: readonly ToolCallBlock[], asking: Asking['kind'] | undefined = 'run'): void {
  const answers: AnsweredCall[] = calls.map(call => ({ call, answer: 'seen' }))
  inquiry.add(createAssistantMessage({ content: [...calls], source: { provider: 'p', model: 'm' } }), answers, asking)
}

const several = (count: number, from = 0): ToolCallBlock[] => Array.from({ length: count }, (_, index) => read(`file-${from + index}`))

test('a first call is run, with all the calls that the review has', () => {
  expect(judge(begin())).toEqual({ kind: 'run', calls: 12 })
})

test('it knows what it was shown and up to where', () => {
  const inquiry = begin()
  expect(inquiry.messages).toEqual(BATCH.messages)
  expect(inquiry.span).toEqual([5, 7])
  expect(inquiry.exchanged).toEqual([])
})

test('replies and results stand behind the batch, in order', () => {
  const inquiry = begin()
  round(inquiry, several(2))
  round(inquiry, several(1, 2))
  expect(inquiry.messages.map(message => message.role)).toEqual(['user', 'assistant', 'user', 'user', 'assistant', 'user'])
  expect(inquiry.messages.slice(1)).toEqual(inquiry.exchanged)
})

describe('the budget of calls', () => {
  test('shrinks with every call that was answered', () => {
    const inquiry = begin()
    round(inquiry, several(5))
    expect(judge(inquiry, several(1, 5))).toEqual({ kind: 'run', calls: 7 })
  })

  test('may be used to its last call', () => {
    const inquiry = begin()
    round(inquiry, several(11))
    expect(judge(inquiry, several(1, 11))).toEqual({ kind: 'run', calls: 1 })
    round(inquiry, several(1, 11))
    expect(judge(inquiry, several(1, 12))).toMatchObject({ kind: 'correct', reason: expect.stringContaining('all its calls') as string })
  })

  test('ends with the rounds too, however large it is', () => {
    const inquiry = begin()
    let rounds = 0
    for (; rounds < 100 && judge(inquiry, several(1, rounds), 0, false, { calls: 100, ms: 1 }).kind === 'run'; rounds += 1) round(inquiry, several(1, rounds))
    expect(rounds).toBe(12)
  })
})

describe('the budget of time', () => {
  test.each([[0, 'run'], [119_999, 'run'], [120_000, 'correct'], [500_000, 'correct']])('%i ms after its beginning: %s', (elapsed, kind) => {
    expect(judge(begin(5_000), [read('a')], 5_000 + elapsed).kind).toBe(kind)
  })

  test('a clock that was set back costs nothing', () => {
    expect(judge(begin(5_000), [read('a')], 0).kind).toBe('run')
  })
})

test('without room nothing more is run', () => {
  expect(judge(begin(), [read('a')], 0, true)).toEqual({ kind: 'correct', reason: 'there is no room for more' })
})

describe('the same call again', () => {
  /** How a reviewer fares that asks the same over and over. */
  function ask(...rounds: readonly (readonly ToolCallBlock[])[]): string[] {
    const inquiry = begin()
    return rounds.map((calls) => {
      const asking = judge(inquiry, [...calls])
      if (asking.kind !== 'end') round(inquiry, calls, asking.kind)
      return asking.kind
    })
  }

  test('is run twice, refused the third time, and then ends the review', () => {
    const same = [read('a')]
    expect(ask(same, same, same, same)).toEqual(['run', 'run', 'correct', 'end'])
  })

  test('is the same in another order and spacing of its arguments', () => {
    const one = { ...read('a'), arguments: '{"path":"a","limit":3}' }
    const other = { ...read('a'), arguments: ' {"limit": 3, "path": "a"}' }
    expect(ask([one], [other], [one])).toEqual(['run', 'run', 'correct'])
  })

  test('is no loop as long as something new is asked beside it', () => {
    expect(ask(...Array.from({ length: 5 }, (_, index) => [read('a'), read(`new-${index}`)]))).not.toContain('correct')
  })

  test('with another tool or other arguments is another call', () => {
    expect(ask([read('a')], [read('b')], [{ ...read('a'), name: 'grep' }], [read('c')])).not.toContain('correct')
  })
})

describe('after one correction', () => {
  test('whatever else is asked ends the review', () => {
    const inquiry = begin()
    const asking = judge(inquiry, [read('a')], 0, true)
    round(inquiry, [read('a')], asking.kind)
    expect(judge(inquiry, [read('b')])).toEqual({ kind: 'end', reason: 'no more calls in this review' })
  })

  test('a reply that asks nothing changes neither budget nor standing', () => {
    const inquiry = begin()
    round(inquiry, [], undefined)
    expect(judge(inquiry)).toEqual({ kind: 'run', calls: 12 })
  })

  test('the reviewer is told why, and what it can still do', () => {
    expect(correction('too many calls')).toBe('[not run: too many calls. Call `advise` now if you have a finding, else reply `ok`]')
  })
})
