import { beforeEach, describe, expect, test } from 'vitest'
import { keyOf, KnownCalls, UNCHANGED } from '../../src/review/calls.ts'
import { textTokens } from '../../src/review/upkeep.ts'

let known: KnownCalls
beforeEach(() => { known = new KnownCalls() })

const RESULT = 'a line of the file\n'.repeat(20)
const call = (args: unknown, name = 'read') => ({ name, arguments: typeof args === 'string' ? args : JSON.stringify(args) })
const CALL = call({ path: 'a.ts', limit: 3 })

describe('the same result of the same call', () => {
  test('is shown once, and then named', () => {
    expect(known.answer(CALL, RESULT)).toBe(RESULT)
    expect(known.answer(CALL, RESULT)).toBe(UNCHANGED)
    expect(known.answer(CALL, RESULT)).toBe(UNCHANGED)
  })

  test('is known whatever the order and the spacing of the arguments', () => {
    known.answer(CALL, RESULT)
    expect(known.answer(call('{ "limit": 3,\n "path": "a.ts" }'), RESULT)).toBe(UNCHANGED)
  })

  test('is shown again each time it has changed', () => {
    const changed = `${RESULT}one more line\n`
    expect([RESULT, changed, changed, RESULT].map(result => known.answer(CALL, result))).toEqual([RESULT, changed, UNCHANGED, RESULT])
  })

  test('is shown again when it no longer stands in the conversation', () => {
    known.answer(CALL, RESULT)
    known.clear()
    expect(known.answer(CALL, RESULT)).toBe(RESULT)
    expect(known.answer(CALL, RESULT)).toBe(UNCHANGED)
  })

  test('of another call is another result', () => {
    known.answer(CALL, RESULT)
    for (const other of [call({ path: 'a.ts', limit: 4 }), call({ path: 'a.ts' }), call({ path: 'a.ts', limit: 3 }, 'grep')]) {
      expect(known.answer(other, RESULT), JSON.stringify(other)).toBe(RESULT)
    }
  })

  test.each(['', 'no matches', 'x'.repeat(79)])('that is as short as %j is shown every time', (short) => {
    for (const _ of [1, 2]) expect(known.answer(CALL, short)).toBe(short)
  })
})

describe('calls side by side', () => {
  const calls = ['a', 'b', 'c'].map(path => call({ path }))

  test('are answered in their order, with what is known named', () => {
    known.answer(calls[1]!, RESULT)
    expect(known.answerAll(calls, [RESULT, RESULT, 'no matches'], Infinity)).toEqual([RESULT, UNCHANGED, 'no matches'])
  })

  test('of which two are the same show the result once', () => {
    expect(known.answerAll([CALL, CALL], [RESULT, RESULT], Infinity)).toEqual([RESULT, UNCHANGED])
  })

  test('share the room there is, and what one does not need is left to the others', () => {
    const large = 'x'.repeat(100_000)
    const answers = known.answerAll(calls, ['short', large, large], 1_000)
    expect(answers[0]).toBe('short')
    for (const answer of answers.slice(1)) {
      expect(answer).toContain('[cut: ')
      expect(textTokens(answer)).toBeGreaterThan(450)
    }
    expect(answers.reduce((sum, answer) => sum + textTokens(answer), 0)).toBeLessThan(1_050)
  })

  test('a result that was cut is not taken for the whole one when there is room', () => {
    const large = 'x'.repeat(100_000)
    known.answerAll([CALL], [large], 100)
    expect(known.answerAll([CALL], [large], Infinity)).toEqual([large])
  })

  test('may be none', () => {
    expect(known.answerAll([], [], 100)).toEqual([])
  })
})

describe('what makes a call the same', () => {
  test.each([
    ['{"a":1,"b":2}', '{"b":2,"a":1}'], ['{"a":1}', ' { "a" : 1 } '], ['[1,2]', '[1, 2]'], ['not json', 'not json'], ['', ''],
  ])('%s and %s', (one, other) => {
    expect(keyOf(call(one))).toBe(keyOf(call(other)))
  })

  test.each([
    ['{"a":1}', '{"a":2}'], ['{"a":1}', '{"b":1}'], ['{"a":"1"}', '{"a":1}'], ['{}', ''], ['[1,2]', '[2,1]'], ['not json', 'not  json'], ['null', '{}'],
  ])('not %s and %s', (one, other) => {
    expect(keyOf(call(one))).not.toBe(keyOf(call(other)))
  })
})
