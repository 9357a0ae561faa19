import { createAssistantMessage } from '@deepseek-ai/dsh-llm'
import type { AssistantMessage, CallId, ContentBlock, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import { expect, test } from 'vitest'
import { isContentFree } from '../../src/deliver/guard.ts'
import { readReply } from '../../src/review/reply.ts'
import { CALLS_KEPT, tidyReply, type HeardCall } from '../../src/review/tidy.ts'

const say = (...content: ContentBlock[]): AssistantMessage => createAssistantMessage({ content, source: { provider: 'p', model: 'm' } })
const call = (index: number, name: string, args: string): ToolCallBlock => ({ type: 'tool-call', id: `c${index}` as CallId, name, arguments: args })
const size = (message: AssistantMessage) => JSON.stringify(message.content).length

/** The calls of a reply as they were heard. */
function heard(message: AssistantMessage): readonly HeardCall[] {
  const verdict = readReply(message, isContentFree)
  return verdict.kind === 'silent' ? [] : verdict.calls
}
const tidy = (message: AssistantMessage) => tidyReply(message, heard(message))
const callsIn = (message: AssistantMessage) => message.content.filter(block => block.type === 'tool-call')

test('a small and sound reply is kept as it came, with its answers', () => {
  const message = say({ type: 'reasoning', text: 'hm' }, call(0, 'advise', '{"note":"Look at a.ts."}'))
  const kept = tidy(message)
  expect(kept.message).toBe(message)
  expect(kept.calls.map(({ answer }) => answer)).toEqual(['Recorded.'])
})

test('so is a reply that only looks', () => {
  const asked = [call(0, 'read', '{"file_path":"a.ts"}'), call(1, 'grep', '{"pattern":"total"}')]
  const message = say({ type: 'text', text: 'Let me see.' }, ...asked)
  const calls = asked.map(one => ({ call: one, answer: 'x'.repeat(50_000) }))
  expect(tidyReply(message, calls)).toEqual({ message, calls })
})

test('a note of a megabyte costs no more later than what was delivered of it', () => {
  const kept = tidy(say(call(0, 'advise', JSON.stringify({ note: 'x'.repeat(1_000_000), severity: 'concern' }))))
  expect(size(kept.message)).toBeLessThan(3_000)
  expect(kept.calls.map(({ answer }) => answer)).toEqual(['Recorded.'])
})

test.each([['text', 2_200], ['reasoning', 2_200]] as const)('%s of a megabyte is cut', (type, bound) => {
  const kept = tidy(say({ type, text: 'x'.repeat(1_000_000) }, call(0, 'advise', '{"note":"Look."}')))
  expect(size(kept.message)).toBeLessThan(bound + 200)
  expect(callsIn(kept.message)).toHaveLength(1)
})

test('arguments of a megabyte in a call that only looks are let go, the call stays answered', () => {
  const asked = call(0, 'grep', JSON.stringify({ pattern: 'x'.repeat(1_000_000) }))
  const kept = tidyReply(say(asked), [{ call: asked, answer: 'no matches' }])
  expect(callsIn(kept.message)).toMatchObject([{ id: 'c0', name: 'grep', arguments: '{}' }])
  expect(kept.calls).toMatchObject([{ call: { id: 'c0' }, answer: 'no matches' }])
})

test('of thousands of calls a few are kept, each with its answer', () => {
  const kept = tidy(say(...Array.from({ length: 2_000 }, (_, index) => call(index, 'advise', `{"note":"Finding ${index}."}`))))
  expect(callsIn(kept.message)).toHaveLength(CALLS_KEPT)
  expect(kept.calls.map(outcome => outcome.call.id)).toEqual(callsIn(kept.message).map(block => block.id))
})

test.each([['not json', 'advise'], ['[1]', 'advise'], ['{}', ''], ['{}', 'x'.repeat(500)]])(
  'a call with arguments %j of the tool %j goes back in a form that a provider takes', (args, name) => {
    const [block] = callsIn(tidy(say(call(0, name, args))).message)
    expect(JSON.parse(block!.arguments)).toEqual({})
    expect(block!.name.length).toBeGreaterThan(0)
    expect(block!.name.length).toBeLessThanOrEqual(64)
  })
