/** The text of a roster file: what runs, and what is said about the rest. */
import { describe, expect, test } from 'vitest'
import { parseRoster } from '../../src/roster/parse.ts'

/** Slugs, and lines as a message has them. */
function read(text: string) {
  const parsed = parseRoster(text)
  const lines = parsed.remarks.map(({ line, column, text: said }) => `${line}:${column} ${said}`)
  return { kind: parsed.kind, slugs: parsed.kind === 'roster' ? parsed.entries.map(entry => entry.slug) : [], lines }
}

test('instructions and advisors are read', () => {
  expect(parseRoster('instructions: |\n  All of you.\nadvisors:\n  - name: A\n  - name: B\n    enabled: false\n')).toMatchObject({
    kind: 'roster', instructions: 'All of you.', bad: 0, remarks: [],
    entries: [{ slug: 'a', line: 4 }, { slug: 'b', line: 5, entry: { enabled: false } }],
  })
})

test.each(['', '\n', '# nothing yet\n', '---\n', '--- # nothing\n', 'null\n', 'advisors:\n', 'advisors: []\n', 'instructions:\n', 'advisors:\n#  - name: A\n'])('%j is an empty roster', (text) => {
  expect(parseRoster(text)).toEqual({ kind: 'roster', instructions: '', entries: [], bad: 0, remarks: [] })
})

test.each([
  ['- name: A\n', '1:1 skipped: a mapping with instructions and advisors is expected, not a list'],
  ['Look well.\n', '1:1 skipped: a mapping with instructions and advisors is expected, not "Look well."'],
  ['advisors:\n  - name: A\n   bad: x\n', '3:1 skipped: Sequence item without - indicator'],
  ['advisors:\n  - name: "A\n', '3:1 skipped: Missing closing "quote'],
  ['advisors: []\nadvisors: []\n', '2:1 skipped: `advisors` stands twice'],
  ['? [a]\n: b\n', '1:3 skipped: With stringKeys, all keys must be strings'],
])('nothing of %j can be used, and the place is named', (text, line) => {
  expect(read(text)).toEqual({ kind: 'broken', slugs: [], lines: [line] })
})

test.each(['['.repeat(60_000), '{'.repeat(30_000), '- '.repeat(20_000), '? '.repeat(20_000), `"${'a\n'.repeat(20_000)}`])('a text that no parser could follow is skipped, not thrown', (text) => {
  expect(read(text)).toMatchObject({ kind: 'broken', lines: [expect.stringContaining('skipped:')] })
})

describe('a bad entry costs nothing but itself', () => {
  test.each([
    ['maxNotesPerUpdate: 2', '3:5 advisor "Bad" skipped: unknown key `maxNotesPerUpdate`; it is `notesPerUpdate` here'],
    ['reviewEvery: 0', '3:5 advisor "Bad" skipped: `reviewEvery` is 0; allowed: a whole number from 1 to 1000'],
    ['tools: []\n    tools: [bash]', '4:5 advisor "Bad" skipped: `tools` stands twice'],
    ['model: *nowhere', '2:5 advisor "Bad" skipped: Unresolved alias (the anchor must be set before the alias): nowhere'],
  ])('%s', (key, line) => {
    expect(read(`advisors:\n  - name: Bad\n    ${key}\n  - name: Good\n`)).toEqual({ kind: 'roster', slugs: ['good'], lines: [line] })
  })

  test.each([
    ['-', '2:4 advisor 1 skipped: an advisor is a mapping with the key `name`, not nothing'],
    ['- Security', '2:5 advisor 1 skipped: an advisor is a mapping with the key `name`, not "Security"'],
    ['- { tools: [] }', '2:5 advisor 1 skipped: it has no `name`'],
    ['- { name: "" }', '2:7 advisor 1 skipped: `name` is ""; allowed: a text of 1 to 60 characters'],
  ])('%s has no name, so that its number is said', (item, line) => {
    expect(read(`advisors:\n  ${item}\n  - name: Good\n`)).toEqual({ kind: 'roster', slugs: ['good'], lines: [line] })
  })
})

test.each([
  ['advisors: { name: A }', '1:11 `advisors` ignored: a list is expected, not a mapping'],
  ['instructions: [a]', '1:15 `instructions` ignored: a text is expected, not a list'],
  ['advisor: []', '1:1 unknown key `advisor` ignored; allowed: instructions, advisors'],
  ['instructions: *nowhere', '1:1 `instructions` ignored: Unresolved alias (the anchor must be set before the alias): nowhere'],
])('of %j the rest of the file is used', (key, line) => {
  const other = key.startsWith('advisors') ? 'instructions: hear me' : 'advisors: [{ name: A }]'
  expect(read(`${key}\n${other}\n`)).toEqual({ kind: 'roster', slugs: key.startsWith('advisors') ? [] : ['a'], lines: [line] })
})

test('of several documents the first counts, and that is said', () => {
  expect(read('advisors: [{ name: A }]\n---\nadvisors: [{ name: B }]\n---\n[broken')).toEqual({
    kind: 'roster', slugs: ['a'], lines: ['2:1 only the first document of a file counts'],
  })
})

test('two entries of one name both run, the second under a name of its own', () => {
  expect(read('advisors:\n  - name: A\n  - name: a!\n  - name: A-2\n')).toEqual({
    kind: 'roster', slugs: ['a', 'a-2', 'a-2-2'],
    lines: [
      '3:5 advisor "a!" is called a-2: another one of this file has its name',
      '4:5 advisor "A-2" is called a-2-2: another one of this file has its name',
    ],
  })
})

test('anchors, aliases and merge keys work, and `x-` keys hold what they refer to', () => {
  expect(parseRoster('x-base: &base { model: p/m, tools: [] }\nadvisors:\n  - <<: *base\n    name: A\n  - { <<: *base, <<: *base, name: B, tools: [read] }\n')).toMatchObject({
    kind: 'roster', remarks: [],
    entries: [{ entry: { overlay: { model: 'm', tools: [] } } }, { entry: { overlay: { model: 'm', tools: ['read'] } } }],
  })
})

test('aliases that multiply are refused in the entry that follows them', () => {
  const layers = Array.from({ length: 8 }, (_, index) => `x-${index + 1}: &l${index + 1} [${Array(9).fill(`*l${index}`).join(', ')}]`)
  const bomb = ['x-0: &l0 [a]', ...layers, 'advisors:', '  - { name: Bomb, tools: *l8 }', '  - { name: Good }'].join('\n')
  expect(read(bomb)).toMatchObject({ kind: 'roster', slugs: ['good'], lines: [expect.stringContaining('advisor "Bomb" skipped: Excessive alias count')] })
})

test('an entry that holds itself is refused', () => {
  expect(read('advisors:\n  - &me { name: Me, <<: *me }\n  - &us { name: Us, tools: *us }\n  - name: Good\n')).toMatchObject({ kind: 'roster', slugs: ['good'], lines: [{}, {}] })
})

test('of 500 advisors the first 32 run, and one line names the others', () => {
  const { slugs, lines } = read(`advisors:\n${Array.from({ length: 500 }, (_, index) => `  - name: N${index}\n`).join('')}`)
  expect(slugs).toEqual(Array.from({ length: 32 }, (_, index) => `n${index}`))
  expect(lines).toEqual([expect.stringMatching(/^2:3 468 advisors beyond 32 ignored: N32, N33, .*…$/)])
})

test('control characters and marks that reorder text reach no message', () => {
  const { lines } = read('advisors:\n  - { name: A, "to\\u202eol\\e[31m": 1 }\n')
  expect(lines).toEqual([expect.stringContaining('unknown key `tool[31m`')])
})
