import { createAssistantMessage } from '@deepseek-ai/dsh-llm'
import type { AssistantMessage, CallId, ContentBlock } from '@deepseek-ai/dsh-llm'
import { expect, test } from 'vitest'
import { isContentFree } from '../../src/deliver/guard.ts'
import { readReply } from '../../src/review/reply.ts'
import { tidyReply } from '../../src/review/tidy.ts'

const say = (...content: ContentBlock[]): AssistantMessage => createAssistantMessage({ content, source: { provider: 'p', model: 'm' } })
const call = (index: number, name: string, args: string): ContentBlock => ({ type: 'tool-call', id: `c${index}` as CallId, name, arguments: args })
const tidy = (message: AssistantMessage) => tidyReply(message, readReply(message, isContentFree))
const size = (message: AssistantMessage | undefined) => JSON.stringify(message?.content).length

test('silence and prose leave nothing', () => {
  expect(tidy(say({ type: 'text', text: 'ok' }))).toBeUndefined()
  expect(tidy(say({ type: 'text', text: 'I think the agent is doing well.' }))).toBeUndefined()
})

test('a small and sound reply is kept as it came', () => {
  const message = say({ type: 'reasoning', text: 'hm' }, call(0, 'advise', '{"note":"Look at a.ts."}'))
  expect(tidy(message)?.message).toBe(message)
})

test('a note of a megabyte costs no more later than what was delivered of it', () => {
  const kept = tidy(say(call(0, 'advise', JSON.stringify({ note: 'x'.repeat(1_000_000), severity: 'concern' }))))
  expect(size(kept?.message)).toBeLessThan(3_000)
  expect(kept?.calls.map(({ answer }) => answer)).toEqual(['Recorded.'])
})

test('of thousands of calls a few are kept, each with its answer', () => {
  const kept = tidy(say(...Array.from({ length: 2_000 }, (_, index) => call(index, 'advise', `{"note":"Finding ${index}."}`))))
  const calls = kept?.message.content.filter(block => block.type === 'tool-call') ?? []
  expect(calls).toHaveLength(8)
  expect(kept?.calls.map(outcome => outcome.call.id)).toEqual(calls.map(block => block.id))
})

test.each([['not json', 'advise'], ['[1]', 'advise'], ['{}', ''], ['{}', 'x'.repeat(500)]])(
  'a call with arguments %j of the tool %j goes back in a form that a provider takes', (args, name) => {
    const kept = tidy(say(call(0, name, args)))
    const [block] = kept?.message.content ?? []
    expect(block).toMatchObject({ type: 'tool-call' })
    if (block?.type !== 'tool-call') return
    expect(JSON.parse(block.arguments)).toEqual({})
    expect(block.name.length).toBeGreaterThan(0)
    expect(block.name.length).toBeLessThanOrEqual(64)
  })
