/** The fixed part of every reviewer request, word for word, and what it weighs. */
import { describe, expect, test } from 'vitest'
import { defaults } from '../../src/config/schema.ts'
import { ADVISE_TOOL, systemText } from '../../src/review/prompt.ts'

const text = (config: Partial<typeof defaults>): string => systemText({ ...defaults, ...config })

describe('the system text', () => {
  test('with the built-in stance', async () => {
    await expect(text({})).toMatchFileSnapshot('./texts/system.md')
  })

  test('with three notes an update', async () => {
    await expect(text({ notesPerUpdate: 3 })).toMatchFileSnapshot('./texts/system-three-notes.md')
  })

  test('with a stance of the user\'s own, which the protocol follows', async () => {
    await expect(text({ systemPrompt: '\nYou watch for SQL injection, nothing else.\n' })).toMatchFileSnapshot('./texts/system-own-stance.md')
  })

  test('takes the user\'s stance literally, whatever stands in it', () => {
    const own = 'Say $& and $1 and {{notes}}.'
    expect(text({ systemPrompt: own }).startsWith(`${own}\n\n`)).toBe(true)
    expect(text({ systemPrompt: ' \n' })).toBe(text({}))
  })

  test('has no gap left to fill', () => {
    for (const notesPerUpdate of [1, 3, 8]) expect(text({ notesPerUpdate })).not.toMatch(/\{\{|\}\}|undefined/)
    expect(text({})).toContain('at most one')
    expect(text({ notesPerUpdate: 8 })).toContain('at most 8')
  })
})

test('the advise tool', async () => {
  await expect(`${JSON.stringify(ADVISE_TOOL, null, 2)}\n`).toMatchFileSnapshot('./texts/advise-tool.json')
})

test('the fixed part stays under four kilobytes', () => {
  const bytes = Buffer.byteLength(text({ notesPerUpdate: 8 })) + Buffer.byteLength(JSON.stringify([ADVISE_TOOL]))
  expect(bytes).toBeLessThan(4_096)
})
