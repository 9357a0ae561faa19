/** What a dump's page does with the texts that stand in it. */
import { expect, test } from 'vitest'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { advisorDump } from '../../src/surface/dump-text.ts'

function dumped(text: string): string {
  const messages = [createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } })]
  return advisorDump({ name: undefined, state: 'running', request: { provider: 'p', model: 'm', messages } }, 'compact')
}

test('a text stands in a fence that none of its own can close', () => {
  expect(dumped('a ```` b')).toContain('\n`````\na ```` b\n`````')
})

test('a text of nothing but backticks and spaces is written like any other', () => {
  expect(dumped('` '.repeat(300_000)).length).toBeGreaterThan(600_000)
})
