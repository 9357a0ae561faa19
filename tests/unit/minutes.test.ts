import { beforeEach, describe, expect, test } from 'vitest'
import { CallId, createAssistantMessage, createUserMessage } from '@deepseek-ai/dsh-llm'
import type { ContentBlock, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import type { Charge } from '../../src/record/ledger.ts'
import { Minutes } from '../../src/review/minutes.ts'
import { used } from './support/records.ts'

const shown = (...texts: readonly string[]) => ({
  span: [3, 4] as const,
  batch: {
    messages: texts.map(text => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } })),
    shown: new Set<never>(), plan: undefined, remarks: 0, asked: [],
  },
})
const INQUIRY = shown('**user:** go', '**agent:** done')
const reply = (...content: readonly ContentBlock[]) => createAssistantMessage({ content: [...content], source: { provider: 'p', model: 'm' } })
const charge = (changes: Partial<Charge> = {}): Charge => (
  { model: 'p/m', usage: used({ input: 10, output: 2 }), cost: { amount: 0.5, currency: 'USD' }, ...changes }
)
const read: ToolCallBlock = { type: 'tool-call', id: CallId('c1'), name: 'read', arguments: '{"path":"a"}' }
const hide = (text: string) => text.replace('sk-1', '[secret 1: key]')

let minutes: Minutes
beforeEach(() => { minutes = new Minutes() })

test('a review is written down with all that was shown, asked, answered and said, and what it took', () => {
  minutes.called(charge(), 1_000)
  minutes.replied(reply({ type: 'reasoning', text: 'Is it there?' }, read), [{ call: read, answer: 'empty', failed: false }])
  minutes.called(charge({ usage: used({ input: 1, cacheRead: 9, output: 3 }) }), 2_000)
  minutes.replied(reply({ type: 'text', text: 'No.' }), [])
  minutes.gave([{ id: 1, severity: 'concern', text: 'a is empty' }])
  expect(minutes.take(INQUIRY, 'advice', 4_500)).toEqual({
    kind: 'review', updates: [3, 4], shown: ['**user:** go', '**agent:** done'], end: 'advice', model: 'p/m', ms: 3_500,
    replies: [
      { text: '', reasoning: 'Is it there?', calls: [{ name: 'read', arguments: '{"path":"a"}', answer: 'empty' }] },
      { text: 'No.', calls: [] },
    ],
    notes: [{ id: 1, severity: 'concern', text: 'a is empty' }],
    usage: used({ input: 11, output: 5, cacheRead: 9 }), cost: { amount: 1, currency: 'USD' },
  })
})

test('a call that could not be run is marked', () => {
  minutes.replied(reply(read), [{ call: read, answer: 'no such file', failed: true }])
  expect(minutes.take(INQUIRY, 'silent', 0).replies[0]?.calls).toEqual([{ name: 'read', arguments: '{"path":"a"}', answer: 'no such file', failed: true }])
})

describe('what a review took', () => {
  test.each<[string, readonly Charge[], object]>([
    ['is unknown when the provider told nothing', [charge({ usage: undefined, cost: undefined })], { usage: undefined, cost: undefined }],
    ['has a usage without a cost when no price is known', [charge({ cost: undefined })], { usage: used({ input: 10, output: 2 }), cost: undefined }],
    ['has no cost when one of its calls has none', [charge(), charge({ model: 'q/n', cost: undefined })], { usage: used({ input: 20, output: 4 }), cost: undefined, model: 'q/n' }],
    ['has no cost in two currencies', [charge(), charge({ cost: { amount: 1, currency: 'CNY' } })], { cost: undefined }],
    ['has what was told when one call told nothing', [charge(), charge({ usage: undefined, cost: undefined })], { usage: used({ input: 10, output: 2 }) }],
  ])('%s', (_, charges, taken) => {
    for (const each of charges) minutes.called(each, 0)
    expect(minutes.take(INQUIRY, 'silent', 1)).toMatchObject(taken)
  })

  test('is never less than no time, also when the clock was set back', () => {
    minutes.called(charge(), 10_000)
    expect(minutes.take(INQUIRY, 'silent', 9_000).ms).toBe(0)
  })
})

test('a review that goes on after a failure does not write again what was written', () => {
  minutes.called(charge(), 0)
  minutes.replied(reply(read), [{ call: read, answer: 'empty' }])
  minutes.gave([{ id: 1, severity: 'nit', text: 'a' }])
  expect(minutes.breakOff(INQUIRY, { kind: 'failed', failure: { code: 'SERVER', message: 'no' } }, 5, hide)).toMatchObject({
    end: 'failed', failure: { code: 'SERVER', message: 'no' }, notes: [{ id: 1 }], ms: 5, replies: [{}],
  })
  minutes.called(charge({ cost: { amount: 0.25, currency: 'USD' } }), 100)
  expect(minutes.take(INQUIRY, 'silent', 101)).toMatchObject({ notes: [], replies: [], ms: 1, cost: { amount: 0.25 } })
})

describe('a review that is broken off', () => {
  test.each([
    [{ kind: 'failed', failure: { code: 'AUTH', message: 'no key sk-1' } } as const, { end: 'failed', failure: { code: 'AUTH', message: 'no key [secret 1: key]' } }],
    [{ kind: 'exhausted', reason: 'all is spent' } as const, { end: 'aborted', failure: { code: 'BUDGET', message: 'all is spent' } }],
  ])('by %j says why, without secrets', (end, record) => {
    minutes.called(charge(), 0)
    expect(minutes.breakOff(INQUIRY, end, 1, hide)).toMatchObject(record)
  })

  test('by us needs no reason', () => {
    minutes.called(charge(), 0)
    expect(minutes.breakOff(INQUIRY, { kind: 'aborted' }, 1, hide)).not.toHaveProperty('failure')
  })

  test('before its first call is not written down', () => {
    expect(minutes.breakOff(INQUIRY, { kind: 'exhausted', reason: 'all is spent' }, 1, hide)).toBeUndefined()
  })
})
