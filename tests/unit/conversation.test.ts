import { beforeEach, describe, expect, test } from 'vitest'
import { CallId, createAssistantMessage } from '@deepseek-ai/dsh-llm'
import type { AssistantMessage, Message, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import { Conversation, toExchange, toMessages } from '../../src/review/conversation.ts'

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
  conversation.commit(toMessages(['one']), toExchange(said, [{ call, answer: 'Recorded.' }]))
  expect(held()).toHaveLength(3)
  expect(held()[1]).toBe(said)
  expect(held()[2]).toMatchObject({
    role: 'user', content: [{ type: 'tool-result', toolCallId: 'c1', isError: false, content: [{ type: 'text', text: 'Recorded.' }] }],
  })
})

test('a reply without a call stands alone', () => {
  conversation.commit(toMessages(['one']), [reply({ type: 'text', text: '{"note":"Look."}' })])
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
      if (round % 3 === 0) conversation.commit(batch, toExchange(reply(call), [{ call, answer: 'Recorded.' }]))
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

/** A look: one call and its result, or several. */
function look(...results: readonly string[]): Message[] {
  const calls = results.map((_, index): ToolCallBlock => ({ type: 'tool-call', id: CallId(`look-${looks += 1}-${index}`), name: 'read', arguments: '{}' }))
  return toExchange(reply(...calls), calls.map((asked, index) => ({ call: asked, answer: results[index]! })))
}
let looks = 0

/** Calls without an answer, and answers without a call. */
function unanswered(messages: readonly Message[]): string[] {
  const blocks = messages.flatMap(message => [...message.content])
  const calls = blocks.flatMap(block => block.type === 'tool-call' ? [String(block.id)] : [])
  const answers = blocks.flatMap(block => block.type === 'tool-result' ? [String(block.toolCallId)] : [])
  return [...calls.filter(id => !answers.includes(id)), ...answers.filter(id => !calls.includes(id))]
}

const shown = (): string => JSON.stringify(held().map(message => message.content))
const LONG = 'a line of a file\n'.repeat(100)

describe('a call that failed', () => {
  test('is told as one that failed', () => {
    const [, answer] = toExchange(reply(call), [{ call, answer: 'no such file', failed: true }])
    expect(answer).toMatchObject({ content: [{ type: 'tool-result', toolCallId: 'c1', isError: true }] })
  })
})

describe('letting go of results', () => {
  test('there may be none', () => {
    expect(conversation.dropResults()).toBe(false)
    conversation.commit(toMessages(['one']), toExchange(reply(call), [{ call, answer: 'Recorded.' }]))
    conversation.commit(toMessages(['two']))
    const before = held()
    expect(conversation.dropResults()).toBe(false)
    expect(held()).toEqual(before)
  })

  test('the last review keeps its results', () => {
    conversation.commit(toMessages(['one']), look(`first ${LONG}`))
    expect(conversation.dropResults()).toBe(false)
    conversation.commit(toMessages(['two']), look(`second ${LONG}`))
    expect(conversation.dropResults()).toBe(true)
    expect(shown()).not.toContain('first')
    expect(shown()).toContain('second')
    expect(shown()).toContain('call again')
  })

  test('every call stays answered, and what was shown and said stays as it was', () => {
    conversation.commit(toMessages(['one']), [...look(LONG, 'short', LONG), ...toExchange(reply(call), [{ call, answer: 'Recorded.' }])])
    conversation.commit(toMessages(['two']), look(LONG))
    const before = held()
    conversation.dropResults()
    const after = held()
    expect(unanswered(after)).toEqual([])
    expect(after).toHaveLength(before.length)
    expect(after.filter(message => !before.includes(message))).toHaveLength(2)
    expect(shown()).toContain('short')
    expect(shown()).toContain('Recorded.')
  })

  test('a second time finds nothing', () => {
    for (const text of ['one', 'two']) conversation.commit(toMessages([text]), look(LONG))
    expect(conversation.dropResults()).toBe(true)
    const before = held()
    expect(conversation.dropResults()).toBe(false)
    expect(held().every((message, index) => message === before[index])).toBe(true)
  })

  test('a request that was handed out keeps them', () => {
    for (const text of ['one', 'two']) conversation.commit(toMessages([text]), look(LONG))
    const request = conversation.with([])
    conversation.dropResults()
    expect(JSON.stringify(request)).toContain(JSON.stringify(LONG).slice(1, -1))
  })
})

describe('a summary in the place of older reviews', () => {
  /** One unit a message. */
  const count = (messages: readonly Message[]) => messages.length

  beforeEach(() => {
    for (const text of ['one', 'two', 'three', 'four']) conversation.commit(toMessages([text]), look(text))
  })

  test.each([[0, 0], [2, 0], [3, 1], [5, 1], [6, 2], [12, 4], [Infinity, 4]])('of reviews of three messages, %j has room for %i', (limit, kept) => {
    expect(conversation.newestWithin(limit, count)).toBe(kept)
  })

  test('the newest stop at the first that does not fit, though an older one would', () => {
    conversation.commit(toMessages(['x', 'x', 'x', 'x']))
    conversation.commit(toMessages(['y']))
    expect(conversation.newestWithin(4, count)).toBe(1)
  })

  test.each([0, 1, 2, 4])('stands before the newest %i, whole and answered', (kept) => {
    const before = held()
    conversation.replaceOlder(toMessages(['summary']), kept)
    expect(held()).toHaveLength(1 + 3 * kept)
    expect(shown().startsWith('[[{"type":"text","text":"summary"}]')).toBe(true)
    expect(held().slice(1)).toEqual(before.slice(before.length - 3 * kept))
    expect(unanswered(held())).toEqual([])
    expect(conversation.length).toBe(kept + 1)
  })

  test('leaves a conversation that is not fresh and goes on', () => {
    conversation.replaceOlder(toMessages(['summary']), 0)
    expect(conversation.fresh).toBe(false)
    const before = held()
    conversation.commit(toMessages(['five']))
    expect(held().slice(0, before.length)).toEqual(before)
  })
})
