/** The messages the primary's model sees, and what a reviewer is told about its calls, word for word. */
import { expect, test } from 'vitest'
import { CallId } from '@deepseek-ai/dsh-llm'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import { isContentFree } from '../../src/deliver/guard.ts'
import { advisoryMessage } from '../../src/deliver/message.ts'
import type { Note } from '../../src/deliver/note.ts'
import { readReply } from '../../src/review/reply.ts'

const FIRST: Note = {
  id: 1, at: 0, update: 6, severity: 'concern', advisors: [],
  text: 'You edited src/price.ts, but the user said "Do not touch `price.ts`". Put the rate into src/cart.ts & undo step 2.',
}
const SECOND: Note = { id: 2, at: 0, update: 4, severity: 'nit', advisors: [], text: '`total` has no test for <empty> carts.' }
const THIRD: Note = {
  id: 3, at: 0, update: 6, severity: 'blocker', advisors: [], text: 'The test failed and was passed over.\nRun it again.',
}

/** The text and the source of a message on one page. */
function page({ content, source }: UserMessage): string {
  const text = content.map(block => block.type === 'text' ? block.text : '').join('')
  return `${text}\n\n--- source\n${JSON.stringify(source, null, 2)}\n`
}

test('one note', async () => {
  await expect(page(advisoryMessage([FIRST], 6))).toMatchFileSnapshot('./texts/advisory-one.md')
})

test('notes that land together', async () => {
  await expect(page(advisoryMessage([SECOND, FIRST, THIRD], 6))).toMatchFileSnapshot('./texts/advisory-merged.md')
})

test('a stale note', async () => {
  await expect(page(advisoryMessage([FIRST], 10))).toMatchFileSnapshot('./texts/advisory-stale.md')
})

test('a note of a named advisor', async () => {
  await expect(page(advisoryMessage([{ ...FIRST, advisors: ['Architecture & "Style"'] }], 6))).toMatchFileSnapshot('./texts/advisory-named.md')
})

test('a note that two advisors gave', async () => {
  await expect(page(advisoryMessage([{ ...FIRST, advisors: ['Security', 'Tests'] }], 6))).toMatchFileSnapshot('./texts/advisory-two-advisors.md')
})

test('what a reviewer reads in answer to its calls', async () => {
  const calls = [['advise', '{"note": "Look."}'], ['advise', '{"note": 7}'], ['advise', '{"note": '], ['bash', '{"command": "ls"}']] as const
  const verdict = readReply({
    content: calls.map(([name, args], index) => ({ type: 'tool-call', id: CallId(`c${index}`), name, arguments: args })),
  }, isContentFree)
  if (verdict.kind === 'silent') throw new Error('no call was read')
  const lines = verdict.calls.map(({ call, answer }) => `${call.name}(${call.arguments})\n→ ${answer}`)
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./texts/call-answers.md')
})
