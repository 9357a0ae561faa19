import { describe, expect, test } from 'vitest'
import { defaults, type Config } from '../../src/config/schema.ts'
import type { Entry } from '../../src/observe/entry.ts'
import type { Update } from '../../src/observe/fold.ts'
import { composeBatch, type BatchInput } from '../../src/review/batch.ts'

const agent = (text: string): Entry => ({ kind: 'agent', seq: 0, text, reasoning: '', interrupted: false })
const user = (text: string): Entry => ({ kind: 'user', seq: 0, text })
const update = (...entries: Entry[]): Update => ({ number: 1, turn: 1, step: 1, boundary: 'step', mutated: false, final: true, entries })

const INPUT: BatchInput = {
  updates: [update(agent('I look.'))], fresh: false, gap: { updates: 0, latest: undefined }, shownPlan: undefined, remarks: [], stale: [], sameResult: () => undefined,
  pinned: { cwd: undefined, task: 'Fix a.', latest: 'Fix a.', instructions: [], notes: [], muted: [], planRules: undefined },
}
const DELTA = '## step 1.1\n**agent:** I look.'

/** The texts of the messages. */
function texts(input: Partial<BatchInput>, config: Partial<Config> = {}): string[] {
  return composeBatch({ ...INPUT, ...input }, { ...defaults, ...config }).messages.map((message) => {
    expect(message).toMatchObject({ role: 'user', source: { kind: 'plugin', plugin: 'dsh-advisor' } })
    return message.content.map(block => block.type === 'text' ? block.text : '').join('')
  })
}

test('a running conversation gets the delta and nothing else', () => {
  expect(texts({})).toEqual([DELTA])
})

test.each([[[]], [[update()]], [[update(agent(''))]]])('nothing to show is no message, whatever else there is to say: %j', (updates) => {
  expect(texts({ updates, fresh: true, gap: { updates: 3, latest: 'x' }, remarks: ['r'] })).toEqual([])
})

describe('a fresh conversation', () => {
  test('begins with the task', () => {
    expect(texts({ fresh: true })).toEqual(['The user\'s request:\n**user:** Fix a.', DELTA])
  })

  test('does not say the task twice', () => {
    const updates = [update(user('Fix a.'), agent('I look.'))]
    expect(texts({ fresh: true, updates })).toEqual(['## step 1.1\n**user:** Fix a.', '**agent:** I look.'])
  })

  test('says the task when the delta was too long to hold it', () => {
    const updates = [update(user('Fix a.'), ...Array.from({ length: 100 }, (_, index) => agent(`m${index}`)))]
    for (const limits of [{ maxDeltaMessages: 3 }, { maxDeltaChars: 1_000 }]) {
      const [first] = texts({ fresh: true, updates }, limits)
      expect(first, JSON.stringify(limits)).toBe('The user\'s request:\n**user:** Fix a.')
    }
  })

  test('begins with the task and not with the gap: what was lost is pinned', () => {
    expect(texts({ fresh: true, gap: { updates: 3, latest: 'Fix a.' } })[0]).toContain('**user:** Fix a.')
  })
})

test('a gap is told to a conversation that goes on', () => {
  expect(texts({ gap: { updates: 1, latest: undefined } })).toEqual(['[1 earlier update was not shown to you]', DELTA])
  expect(texts({ gap: { updates: 3, latest: 'Also b.' } })).toEqual([
    '[3 earlier updates were not shown to you]\nIn them the user said:\n**user:** Also b.', DELTA,
  ])
})

describe('plan mode', () => {
  const pinned = { ...INPUT.pinned, planRules: 'Write the plan only.' }

  test('stands once in full, and then as a line', () => {
    expect(texts({ pinned })[0]).toContain('<primary-context kind="plan-mode">\nWrite the plan only.')
    expect(texts({ pinned, shownPlan: 'Write the plan only.' })[0]).toBe('[plan mode still in effect]')
  })

  test('stands in full again when its rules are others', () => {
    expect(texts({ pinned, shownPlan: 'Other rules.' })[0]).toContain('Write the plan only.')
  })

  test('says what stands in the conversation afterwards', () => {
    expect(composeBatch({ ...INPUT, pinned }, defaults).plan).toBe('Write the plan only.')
    expect(composeBatch({ ...INPUT, shownPlan: 'Write the plan only.' }, defaults).plan).toBeUndefined()
  })
})

test('remarks and questions stand before the delta, and are counted', () => {
  const input = { ...INPUT, remarks: ['[r1]', '[r2]'], stale: [{ id: 4, text: 'Check b.', severity: 'nit' as const, age: 3 }] }
  const batch = composeBatch(input, defaults)
  expect(batch).toMatchObject({ remarks: 2, asked: [4] })
  const shown = texts(input)
  expect(shown.slice(0, 2)).toEqual(['[r1]', '[r2]'])
  expect(shown[2]).toContain('4. nit, 3 steps ago: Check b.')
  expect(shown.at(-1)).toBe(DELTA)
})

test('reasoning is shown when configured', () => {
  const updates = [update({ kind: 'agent', seq: 0, text: 'I look.', reasoning: 'hm', interrupted: false })]
  expect(texts({ updates })[0]).not.toContain('hm')
  expect(texts({ updates }, { includeReasoning: true })[0]).toContain('hm')
})

describe('secrets', () => {
  test('are hidden over all texts together, once, in their order', () => {
    const seen: (readonly string[])[] = []
    const hide = (all: readonly string[]): string[] => {
      seen.push(all)
      return all.map(text => text.replaceAll('hunter2', '[secret 1: password]'))
    }
    expect(texts({ hide, remarks: ['[r: hunter2]'], updates: [update(agent('hunter2'))] })).toEqual([
      '[r: [secret 1: password]]', '## step 1.1\n**agent:** [secret 1: password]',
    ])
    expect(seen).toHaveLength(1)
  })
})

describe('what was shown', () => {
  test('is the entries of the delta, not those that were left out', () => {
    const entries = Array.from({ length: 10 }, (_, index) => agent(`m${index}`))
    const batch = composeBatch({ ...INPUT, updates: [update(...entries)] }, { ...defaults, maxDeltaMessages: 3 })
    expect([...batch.shown]).toEqual(entries.slice(-3))
    expect(batch.messages).toHaveLength(3)
  })

  test('of a fresh conversation the head is no part', () => {
    const batch = composeBatch({ ...INPUT, fresh: true }, defaults)
    expect(batch.messages).toHaveLength(2)
    expect(batch.shown.size).toBe(1)
  })
})

test('a small share of room shortens the head, not the delta', () => {
  const pinned = { ...INPUT.pinned, task: 't'.repeat(4_000), latest: 'l'.repeat(4_000), instructions: ['i'.repeat(8_000)] }
  const [whole, half] = [1, 0.5].map(share => texts({ fresh: true, pinned, share }))
  expect(half![0]!.length).toBeLessThan(whole![0]!.length * 0.55)
  expect(half![0]).toContain('**user:** ttt')
  expect(half!.slice(1)).toEqual(whole!.slice(1))
})
