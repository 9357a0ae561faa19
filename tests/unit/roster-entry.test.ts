/** One entry of WATCHDOG.yml, as a value. */
import { describe, expect, test } from 'vitest'
import { allowed, ENTRY_KEYS, readEntry, slugOf } from '../../src/roster/entry.ts'

const read = (value: unknown) => {
  const result = readEntry(value)
  if (result.kind === 'bad') throw new Error(result.reason)
  return result.entry
}
const reason = (value: unknown) => {
  const result = readEntry(value)
  return result.kind === 'bad' ? result.reason : 'read'
}

test('an entry with nothing but a name looks with the read-only tools and takes the rest from the session', () => {
  expect(read({ name: ' Security \n team ' })).toEqual({
    name: 'Security team', enabled: true, agents: undefined, overlay: { tools: ['read', 'grep', 'glob'] }, instructions: '',
  })
})

test('every key of an entry counts', () => {
  expect(read({
    name: 'A', enabled: false, agents: [' Main ', 'code'], model: ' p/vendor/m:high ', tools: ['search', 'find', 'grep', ' bash '], instructions: ' look \n',
    reviewAt: 'mutation', reviewEvery: 1000, notesPerUpdate: 8, maxSeverity: 'nit', immuneTurns: 0,
  })).toEqual({
    name: 'A', enabled: false, agents: ['main', 'code'], instructions: 'look',
    overlay: {
      provider: 'p', model: 'vendor/m', effort: 'high', tools: ['grep', 'glob', 'bash'],
      reviewAt: 'mutation', reviewEvery: 1000, notesPerUpdate: 8, maxSeverity: 'nit', immuneTurns: 0,
    },
  })
})

test('a model without an effort leaves the session\'s effort alone', () => {
  expect(read({ name: 'A', model: 'p/m' }).overlay).toEqual({ provider: 'p', model: 'm', tools: ['read', 'grep', 'glob'] })
})

test('an empty list of tools is none, an empty list of agents is none', () => {
  expect(read({ name: 'A', tools: [], agents: [] })).toMatchObject({ agents: [], overlay: { tools: [] } })
})

test('instructions that are not yet written are none', () => {
  expect(read({ name: 'A', instructions: null }).instructions).toBe('')
})

test.each([
  [{ name: '' }, '`name` is ""; allowed: a text of 1 to 60 characters'],
  [{ name: 'x'.repeat(61) }, '`name` is "xxx'],
  [{ name: 42 }, '`name` is 42; allowed: a text'],
  [{ tools: [] }, 'it has no `name`'],
  ['Security', 'an advisor is a mapping with the key `name`, not "Security"'],
  [null, 'an advisor is a mapping with the key `name`, not nothing'],
  [['a'], 'an advisor is a mapping with the key `name`, not a list'],
  [{ name: 'A', tool: [] }, 'unknown key `tool`; allowed: name, enabled, agents'],
  [{ name: 'A', maxNotesPerUpdate: 3 }, 'unknown key `maxNotesPerUpdate`; it is `notesPerUpdate` here'],
  [{ name: 'A', reviewInterval: 3 }, 'unknown key `reviewInterval`; it is `reviewEvery` here'],
  [JSON.parse('{"name": "A", "__proto__": {}}'), 'unknown key `__proto__`'],
  [{ name: 'A', toString: 1 }, 'unknown key `toString`; allowed: name'],
  [{ name: 'A', enabled: 'no' }, '`enabled` is "no"; allowed: true or false'],
  [{ name: 'A', model: 'm' }, '`model` is "m"; allowed: provider/model or provider/model:effort'],
  [{ name: 'A', model: null }, '`model` is nothing; allowed: provider/model'],
  [{ name: 'A', model: `p/${'m'.repeat(200)}` }, '`model` is "p/mm'],
  [{ name: 'A', tools: 'read' }, '`tools` is "read"; allowed: a list of tool names, 64 at most, [] for none'],
  [{ name: 'A', tools: null }, '`tools` is nothing; allowed: a list'],
  [{ name: 'A', tools: ['read, bash'] }, '`tools` is a list; allowed: a list of tool names'],
  [{ name: 'A', tools: [['read']] }, '`tools` is a list; allowed: a list of tool names'],
  [{ name: 'A', tools: ['ba\u202esh'] }, '`tools` is a list; allowed: a list of tool names'],
  [{ name: 'A', tools: Array.from({ length: 65 }, (_, index) => `t${index}`) }, '`tools` is a list; allowed: a list of tool names, 64'],
  [{ name: 'A', agents: 'main' }, '`agents` is "main"; allowed: a list of agent names, 64 at most'],
  [{ name: 'A', agents: [''] }, '`agents` is a list; allowed: a list of agent names'],
  [{ name: 'A', instructions: ['x'] }, '`instructions` is a list; allowed: a text'],
  [{ name: 'A', reviewAt: 'never' }, '`reviewAt` is "never"; allowed: step, mutation or turn'],
  [{ name: 'A', reviewAt: null }, '`reviewAt` is nothing; allowed: step, mutation or turn'],
  [{ name: 'A', maxSeverity: 'fatal' }, '`maxSeverity` is "fatal"; allowed: nit, concern or blocker'],
  [{ name: 'A', reviewEvery: 0 }, '`reviewEvery` is 0; allowed: a whole number from 1 to 1000'],
  [{ name: 'A', reviewEvery: '2' }, '`reviewEvery` is "2"; allowed: a whole number'],
  [{ name: 'A', notesPerUpdate: 9 }, '`notesPerUpdate` is 9; allowed: a whole number from 1 to 8'],
  [{ name: 'A', notesPerUpdate: 1.5 }, '`notesPerUpdate` is 1.5; allowed: a whole number'],
  [{ name: 'A', immuneTurns: -1 }, '`immuneTurns` is -1; allowed: a whole number from 0 to 1000'],
  [{ name: 'A', immuneTurns: Number.NaN }, '`immuneTurns` is NaN; allowed: a whole number'],
  [{ name: 'A', immuneTurns: null }, '`immuneTurns` is nothing; allowed: a whole number'],
])('%j is refused', (value, expected) => {
  expect(reason(value)).toContain(expected)
})

test('the key that is wrong is named, and the name of its entry when that one is right', () => {
  expect(readEntry({ name: 'A', reviewEvery: 0 })).toMatchObject({ kind: 'bad', name: 'A', key: 'reviewEvery' })
})

test('every key says what it allows', () => {
  for (const key of ENTRY_KEYS) expect(allowed(key)).toMatch(/^(?!.*undefined).+/)
})

describe('slugs', () => {
  test.each([
    ['Security', 'security'], ['API & Schema', 'api-schema'], ['  --x--  ', 'x'], ['../../etc', 'etc'], ['!!', 'advisor'],
    ['架构 Review', '架构-review'], ['Größe', 'größe'], ['Ａ１', 'a1'], ['a_b.c', 'a-b-c'],
  ])('%j is called %s', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
  })

  test('a name that grows when it is folded stays fit for a file name', () => {
    expect(slugOf('\ufdfa'.repeat(60)).length).toBeLessThanOrEqual(60)
  })
})
