import { expect, test } from 'vitest'
import { CallId } from '@deepseek-ai/dsh-llm'
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import { diffsOf, reasoningOf, textOf } from '../../src/observe/entry.ts'

const image = { type: 'image', attachment: {} } as unknown as ContentBlock
const blocks: ContentBlock[] = [
  { type: 'reasoning', text: 'hm' }, { type: 'text', text: 'a' }, image, { type: 'text', text: 'b' },
  { type: 'tool-call', id: CallId('c'), name: 'read', arguments: '{}' },
  { type: 'tool-result', toolCallId: CallId('c'), content: [{ type: 'text', text: 'out' }, image] },
]

test('the text of a message is its text blocks, nested ones too, and images by name', () => {
  expect(textOf(blocks)).toBe('a[image]bout[image]')
  expect(textOf([])).toBe('')
})

test('an unknown kind of block is passed over', () => {
  expect(textOf([{ type: 'video' } as never, { type: 'text', text: 'a' }])).toBe('a')
})

test('the reasoning of a message is its reasoning blocks', () => {
  expect(reasoningOf([...blocks, { type: 'reasoning', text: '!' }])).toBe('hm!')
})

const good = { path: 'a.txt', oldText: null, newText: 'x' }

test.each([
  [{ diffs: [good] }, [good]],
  [{ diffs: [good, { ...good, oldText: 'y' }] }, [good, { ...good, oldText: 'y' }]],
  [{ diffs: [null, 3, 'x', {}, { ...good, path: 1 }, { ...good, newText: undefined }, { ...good, oldText: 2 }, good] }, [good]],
  [{ diffs: 'no' }, []], [{ diffs: {} }, []], [{}, []], [undefined, []], [null, []], ['diffs', []], [7, []],
])('the hunks in %j', (meta, expected) => {
  expect(diffsOf(meta)).toEqual(expected)
})
