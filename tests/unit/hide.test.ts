import { describe, expect, test } from 'vitest'
import type { Entry } from '../../src/observe/entry.ts'
import { hideEntry, Veil, type Hider } from '../../src/observe/hide.ts'
import { Redactor } from '../../src/redact/redactor.ts'

/** A token of a code host, made up here. */
const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
/** More than what is looked through at one end of a text. */
const END_TO_END = 40_000
const PLACEHOLDER = /\[secret \d+: [a-z-]+\]/

const hider = (): Hider => new Redactor({ patterns: [], known: ['correct-horse-battery'] })

const ENTRIES: Readonly<Record<string, (secret: string) => Entry>> = {
  'a message of the user': text => ({ kind: 'user', seq: 1, text: `Use ${text} to log in.` }),
  'the output of the user\'s own command': text => ({ kind: 'user-command', seq: 1, text: `<bash-stdout>${text}</bash-stdout>` }),
  'a message of a plugin': text => ({ kind: 'context', seq: 1, label: 'skill', text: `It is ${text}.` }),
  'the agent\'s words': text => ({ kind: 'agent', seq: 1, text: `I use ${text}.`, reasoning: '', interrupted: false }),
  'the agent\'s thoughts': text => ({ kind: 'agent', seq: 1, text: '', reasoning: `The user gave ${text}.`, interrupted: false }),
  'the output of a tool': text => tool({ output: `token: ${text}\nok` }),
  'an argument': text => tool({ args: JSON.stringify({ command: `curl -H "x-api-key: ${text}" host` }) }),
  'an argument deep inside': text => tool({ args: JSON.stringify({ edits: [{ old: 'a', new: `k="${text}"` }] }) }),
  'arguments that are not JSON': text => tool({ args: `{"command": "echo ${text}` }),
  'the name of a tool': text => tool({ name: `run ${text}` }),
  'the new text of a diff': text => tool({ diffs: [{ path: '.env', oldText: 'A=1', newText: `A=1\nTOKEN=${text}` }] }),
  'the old text of a diff': text => tool({ diffs: [{ path: '.env', oldText: `TOKEN=${text}`, newText: '' }] }),
  'the path of a diff': text => tool({ diffs: [{ path: `backups/${text}.json`, oldText: null, newText: 'x' }] }),
  'the second of two diffs': text => tool({ diffs: [{ path: 'a', oldText: null, newText: 'x' }, { path: 'b', oldText: null, newText: text }] }),
}

function tool(more: Partial<Extract<Entry, { kind: 'tool' }>>): Entry {
  return { kind: 'tool', seq: 1, name: 'bash', args: '{}', outcome: 'ok', output: '', diffs: [], ...more }
}

describe.each(Object.entries(ENTRIES))('in %s', (_place, make) => {
  test.each([TOKEN, 'correct-horse-battery'])('the secret %s is hidden, and the rest stays', (secret) => {
    const hidden = hideEntry(make(secret), hider())
    expect(JSON.stringify(hidden)).not.toContain(secret)
    expect(hidden).toEqual(make(PLACEHOLDER.exec(JSON.stringify(hidden))![0]))
  })

  test('nothing secret is no other entry', () => {
    const entry = make('the usual')
    expect(hideEntry(entry, hider())).toBe(entry)
  })
})

test('arguments with a secret stay JSON', () => {
  const entry = hideEntry(tool({ args: JSON.stringify({ command: `login "${TOKEN}"\nthen go`, path: 'a.ts' }) }), hider())
  if (entry.kind !== 'tool') throw new Error('another entry')
  expect(JSON.parse(entry.args)).toMatchObject({ path: 'a.ts', command: expect.stringMatching(/^login "\[secret 1: [a-z-]+\]"\nthen go$/) as string })
})

test('arguments without one stay as they were written, byte for byte', () => {
  const entry = tool({ args: '{ "b":1,  "a" : "\\u0041", "n": 1e3 }' })
  expect(hideEntry(entry, hider())).toBe(entry)
})

test('the end of a turn says nothing that could be secret', () => {
  const entry: Entry = { kind: 'end', seq: 1, reason: { kind: 'completed' } }
  expect(hideEntry(entry, hider())).toBe(entry)
})

describe('a text of many megabytes', () => {
  const long = (middle = 'x') => `start ${TOKEN} ${`${middle} = 1; token: y${middle}9Zq8Lw7Rt\n`.repeat(500_000)} ${TOKEN} end`
  /** Searching all of one of these takes seconds. Processor time. */
  const SOON_MS = 1_500
  const timeOf = (work: () => Entry): { entry: Entry, ms: number } => {
    const before = process.threadCpuUsage()
    const entry = work()
    const { user, system } = process.threadCpuUsage(before)
    return { entry, ms: (user + system) / 1_000 }
  }

  test('is looked through where it can be shown, at both of its ends, and keeps its length', () => {
    const output = long()
    const { entry, ms } = timeOf(() => hideEntry(tool({ output }), hider()))
    expect(ms).toBeLessThan(SOON_MS)
    if (entry.kind !== 'tool') throw new Error('another entry')
    expect(entry.output.slice(0, 100)).toMatch(/^start \[secret \d+: github-token\] x/)
    expect(entry.output.slice(-100)).toMatch(/\[secret \d+: github-token\] end$/)
    expect(entry.output.includes(TOKEN)).toBe(false)
    expect(Math.abs(entry.output.length - output.length)).toBeLessThan(END_TO_END)
    expect(entry.output.slice(END_TO_END, -END_TO_END).includes('token')).toBe(false)
  })

  test('is another than one that differs only in its middle', () => {
    const [one, other] = ['x', 'y'].map(middle => `${'a'.repeat(100_000)}${middle}${'b'.repeat(100_000)}`)
    expect(hideEntry(tool({ output: one! }), hider())).not.toEqual(hideEntry(tool({ output: other! }), hider()))
  })

  test('is found in an argument too, beside shorter ones', () => {
    const args = JSON.stringify({ file_path: `a-${TOKEN}.ts`, password: 'hunter2-Zq9xW8', content: long() })
    const { entry, ms } = timeOf(() => hideEntry(tool({ name: 'write', args }), hider()))
    expect(ms).toBeLessThan(SOON_MS)
    if (entry.kind !== 'tool') throw new Error('another entry')
    const { file_path: path, password, content } = JSON.parse(entry.args) as Record<string, string>
    expect([path, password]).toEqual([expect.stringMatching(/^a-\[secret \d+: github-token\]\.ts$/), expect.stringMatching(/^\[secret \d+: [a-z-]+\]$/)])
    expect([content!.slice(0, 14), content!.slice(-11)]).toEqual(['start [secret ', '-token] end'])
    expect(entry.args.includes(TOKEN)).toBe(false)
  })

  test('that are arguments of many short texts, or none that can be read, hide them as one text', () => {
    const many = JSON.stringify([TOKEN, ...Array.from({ length: 300_000 }, (_, index) => `token-${index}`), TOKEN])
    for (const args of [many, `{"content": "${TOKEN} ${'x'.repeat(200_000)}`]) {
      const entry = hideEntry(tool({ args }), hider())
      expect(JSON.stringify(entry).includes(TOKEN)).toBe(false)
    }
  })
})

test.each(['.', 'notes', 'task|latest'])('a pattern of the user that fits our own words (%s) hides texts, not what they are', (pattern) => {
  const veil = new Veil()
  veil.use(new Redactor({ patterns: [pattern], known: [] }))
  const pinned = veil.value({ task: 'the notes of the task', latest: undefined, notes: [{ text: 'the latest notes', severity: 'nit' }], muted: [] as string[], count: 3 })
  expect(Object.keys(pinned)).toEqual(['task', 'latest', 'notes', 'muted', 'count'])
  expect(pinned.notes.map(note => Object.keys(note))).toEqual([['text', 'severity']])
  expect(pinned.task).toContain('[secret 1: custom]')
  expect(pinned.count).toBe(3)
})

describe('a veil', () => {
  const secret: Entry = { kind: 'user', seq: 1, text: `Use ${TOKEN}.` }
  const plain: Entry = { kind: 'user', seq: 2, text: 'Use pnpm.' }
  const update = { number: 3, entries: [secret, plain] }

  test('without a hider shows everything as it is, the very same', () => {
    const veil = new Veil()
    expect(veil.update(update)).toBe(update)
    expect(veil.text(TOKEN)).toBe(TOKEN)
    expect(veil.texts([TOKEN])).toEqual([TOKEN])
    expect(veil.value(update)).toBe(update)
  })

  test('hides in entries, texts and values, and leaves the rest of an update', () => {
    const veil = new Veil()
    veil.use(hider())
    const shown = veil.update(update)
    expect(shown).toMatchObject({ number: 3, entries: [{ kind: 'user', seq: 1 }, plain] })
    expect(JSON.stringify([shown, veil.text(TOKEN), veil.texts([TOKEN]), veil.value({ task: TOKEN })])).not.toContain(TOKEN)
  })

  test('gives the same object for the same entry, however often it is asked for', () => {
    const veil = new Veil()
    veil.use(hider())
    const [first, again] = [veil.update(update), veil.update({ ...update })]
    expect(first.entries[0]).not.toBe(secret)
    expect(again.entries[0]).toBe(first.entries[0])
    expect(first.entries[1]).toBe(plain)
  })

  test('says when it is another than before, and then hides anew', () => {
    const veil = new Veil()
    const one = hider()
    expect([veil.use(undefined), veil.use(one), veil.use(one)]).toEqual([false, true, false])
    const before = veil.update(update).entries[0]
    expect(veil.use(new Redactor({ patterns: ['pnpm'], known: [] }))).toBe(true)
    const [first, second] = veil.update(update).entries
    expect(first).not.toBe(before)
    expect(JSON.stringify(second)).not.toContain('pnpm')
    expect(veil.use(undefined)).toBe(true)
    expect(veil.update(update).entries[0]).toBe(secret)
  })
})
