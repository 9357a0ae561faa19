import { beforeEach, describe, expect, test } from 'vitest'
import { CallId, createAssistantMessage } from '@deepseek-ai/dsh-llm'
import type { AssistantMessage, Message, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import { Conversation, toMessages } from '../../src/review/conversation.ts'

let conversation: Conversation
beforeEach(() => { conversation = new Conversation() })

/** What the conversation holds now. */
const held = (): Message[] => conversation.with([])

const call: ToolCallBlock = { type: 'tool-call', id: CallId('c1'), name: 'advise', arguments: '{"note":"Look."}' }

function reply(...content: AssistantMessage['content']): AssistantMessage {
  return createAssistantMessage({ content, source: { provider: 'p', model: 'm' } })
}

test('each text is one user message of its own', () => {
  const [first, second, ...rest] = toMessages(['one', 'two'])
  expect(rest).toEqual([])
  expect(first).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'one' }], source: { kind: 'plugin', plugin: 'dsh-advisor' } })
  expect(second).toMatchObject({ content: [{ text: 'two' }] })
  expect(first!.id).not.toBe(second!.id)
})

test('is fresh until something was reviewed', () => {
  expect(conversation.fresh).toBe(true)
  conversation.with(toMessages(['one']))
  expect(conversation.fresh).toBe(true)
  conversation.commit(toMessages(['one']))
  expect(conversation.fresh).toBe(false)
  conversation.clear()
  expect(conversation.fresh).toBe(true)
  expect(held()).toEqual([])
})

test('a batch that was not reviewed leaves no trace', () => {
  conversation.commit(toMessages(['one']))
  const before = held()
  conversation.with(toMessages(['two']))
  expect(held()).toEqual(before)
})

test('silence leaves no trace: the updates stand one after the other', () => {
  conversation.commit(toMessages(['one', 'two']))
  conversation.commit(toMessages(['three']))
  expect(held().map(message => message.content)).toEqual(['one', 'two', 'three'].map(text => [{ type: 'text', text }]))
})

test('a reply with a call stands with the answer to the call behind it', () => {
  const said = reply(call)
  conversation.commit(toMessages(['one']), said, [{ call, answer: 'Recorded.' }])
  expect(held()).toHaveLength(3)
  expect(held()[1]).toBe(said)
  expect(held()[2]).toMatchObject({
    role: 'user', content: [{ type: 'tool-result', toolCallId: 'c1', isError: false, content: [{ type: 'text', text: 'Recorded.' }] }],
  })
})

test('a reply without a call stands alone', () => {
  conversation.commit(toMessages(['one']), reply({ type: 'text', text: '{"note":"Look."}' }))
  expect(held().map(message => message.role)).toEqual(['user', 'assistant'])
})

describe('append-only', () => {
  test('every request begins with the one before, the same objects in the same order', () => {
    let before: Message[] = []
    for (let round = 0; round < 20; round += 1) {
      const batch = toMessages([`update ${round}`])
      const request = conversation.with(batch)
      expect(request.slice(0, before.length)).toEqual(before)
      expect(request.slice(0, before.length).every((message, index) => message === before[index])).toBe(true)
      if (round % 3 === 0) conversation.commit(batch, reply(call), [{ call, answer: 'Recorded.' }])
      else conversation.commit(batch)
      before = request
    }
  })

  test('a request that was handed out does not grow afterwards', () => {
    const request = conversation.with(toMessages(['one']))
    conversation.commit(toMessages(['one']))
    conversation.commit(toMessages(['two']))
    expect(request).toHaveLength(1)
  })
})
