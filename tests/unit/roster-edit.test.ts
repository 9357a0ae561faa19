/** A change to a WATCHDOG.yml keeps every byte that it is not about. */
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { editDocument, readDocument, type Edit } from '../../src/roster/edit.ts'

/** Files as people leave them. Each has the advisors A, B and C. */
const UGLY: Record<string, string> = {
  plain: 'advisors:\n  - name: A\n    model: openai/x\n  - name: B\n    tools: [read]\n  - name: C\n',
  'everything in odd places': [
    '# head', '', 'instructions: >-', '    folded   text', '    of two lines', '', '', '# the list', 'advisors:   # all of them',
    '    -   name:   "A"     # first', '        model: \'openai/x\'', '        # about tools', '        tools:', '        -  read  # always',
    '        # tail of A', '', '', '    # about B', '    -', '        name: B', '        tools: [ read,grep , ]', '',
    '        instructions: |+', '            keep', '', '', '    - {name: C, "model":  openai/y }   # flow', '# the end', '',
  ].join('\n'),
  'no final newline': 'advisors:\n- name: A\n  model: openai/x\n- name: B\n- name: C\n  enabled: false',
  CRLF: '# mine\r\nadvisors:\r\n  - name: A\r\n    model: openai/x\r\n\r\n  - name: B\r\n    instructions: |\r\n      one\r\n      two\r\n\r\n  - name: C\r\n',
  'byte order mark': '\ufeffadvisors:\n  - name: A\n    model: openai/x\n  - name: B\n  - name: C\ninstructions: x\n',
  'JSON on one line': '{"advisors": [{"name": "A", "model": "openai/x"}, {"name": "B"}, {"name": "C", "tools": ["read"]}]}',
  'JSON on many lines': '{\n  "instructions": "x",\n  "advisors": [\n    { "name": "A",\n      "model": "openai/x" },\n    {\n      "name": "B"\n    },\n    { "name": "C" }\n  ]\n}\n',
  'flow list in a block': 'advisors: [ { name: A, model: openai/x }, { name: B, }, { name: C } ]  # all\n',
  'long lines and markers': `---\nadvisors:\n  - name: A\n    model: openai/x\n    instructions: ${'very '.repeat(60)}long\n  - instructions: 'it''s\n\n      folded'\n    name: B\n  - name: C\n...\n# after\n`,
  'anchors beside': 'x-tools: &t [read, grep]\nadvisors:\n  - name: A\n    model: openai/x\n    tools: *t\n  - name: B\n    tools: *t\n  - name: C\n',
  'blank lines with spaces': 'advisors:\n\n  - name: A\n    model: openai/x\n   \n\n  - name: B\n  \n  - name: C\n\n\n',
  'comment at the column of the dash': 'advisors:\n# A\n- name: A\n  model: openai/x # dear\n# B\n- name: B\n# C\n- name: C\n# none after C\n',
}

const files = Object.entries(UGLY)
const INDEX = { A: 0, B: 1, C: 2 } as const

function edited(text: string, edit: Edit): string {
  const result = editDocument(text, edit)
  if (result.kind !== 'edited') throw new Error(`${result.kind}: ${'reason' in result ? result.reason : ''}`)
  return result.text
}

function change(name: keyof typeof INDEX, key: string, value: string | number | boolean | string[] | undefined): Edit {
  return { kind: 'change', index: INDEX[name], key, value }
}

function advisors(text: string): Record<string, unknown>[] {
  return (parse(text) as { advisors: Record<string, unknown>[] }).advisors
}

/** How much of the old text stands at the front and at the end of the new one, together. */
function kept(before: string, after: string): number {
  let front = 0
  while (front < Math.min(before.length, after.length) && before[front] === after[front]) front++
  let back = 0
  while (back < Math.min(before.length, after.length) - front && before.at(-1 - back) === after.at(-1 - back)) back++
  return front + back
}

describe.each(files)('%s', (_, text) => {
  test('nothing to change is no change', () => {
    expect(editDocument(text, change('A', 'model', 'openai/x'))).toEqual({ kind: 'same' })
    expect(editDocument(text, change('C', 'maxSeverity', undefined))).toEqual({ kind: 'same' })
  })

  test.each<[string, Edit]>([
    ['a setting that is new', change('A', 'reviewEvery', 3)],
    ['a setting that is new, on the last advisor', change('C', 'immuneTurns', 0)],
    ['a pause', change('B', 'enabled', false)],
    ['one line of instructions', change('C', 'instructions', 'Watch: "quotes", [brackets] and # marks.')],
    ['several lines of instructions', change('C', 'instructions', 'First line.\n\n  - second: line\nLast line.')],
    ['tools', change('A', 'notesPerUpdate', 2)],
    ['an advisor', { kind: 'add', entry: { name: 'D', model: 'openai/z', tools: ['read', 'bash'], instructions: 'One.\nTwo.' } }],
  ])('adding %s leaves the whole of the old text where it was', (__, edit) => {
    const after = edited(text, edit)
    expect(kept(text, after)).toBe(text.length)
  })

  test('a value that is replaced is all that is replaced', () => {
    const after = edited(text, change('A', 'model', 'openai/new:high'))
    expect(advisors(after)[0]?.model).toBe('openai/new:high')
    expect(after.replace('openai/new:high', 'openai/x').replace('"openai/x"', text.includes('"openai/x"') ? '"openai/x"' : 'openai/x')).toBe(text)
  })

  test('what is added and taken away again leaves the file as it was', () => {
    const entry = { name: 'D', instructions: 'One.\nTwo.' }
    expect(edited(edited(text, { kind: 'add', entry }), { kind: 'remove', index: 3 })).toBe(text)
    expect(edited(edited(text, change('A', 'enabled', false)), change('A', 'enabled', undefined))).toBe(text)
    expect(edited(edited(text, change('C', 'reviewAt', 'turn')), change('C', 'reviewAt', undefined))).toBe(text)
  })

  test.each([0, 1, 2])('advisor %i goes, the others stay', (index) => {
    const after = edited(text, { kind: 'remove', index })
    expect(advisors(after)).toEqual(advisors(text).filter((entry, at) => at !== index))
    for (const comment of text.match(/# (?:head|the list|the end|mine|all|after|none after C)\b/g) ?? []) expect(after).toContain(comment)
  })

  test('one advisor after the other goes, until nothing is left', () => {
    const two = edited(text, { kind: 'remove', index: 1 })
    const one = edited(two, { kind: 'remove', index: 0 })
    expect(advisors(one).map(entry => entry.name)).toEqual(['C'])
    const none = editDocument(one, { kind: 'remove', index: 0 })
    expect(none.kind).toBe(/^(?:instructions|x-)|"instructions"/m.test(text) ? 'edited' : 'empty')
  })

  test('a name changes, whatever its quotes', () => {
    const after = edited(text, change('B', 'name', 'Tests & builds'))
    expect(advisors(after).map(entry => entry.name)).toEqual(['A', 'Tests & builds', 'C'])
  })

  test('line ends and the mark at the start stay as they are', () => {
    const after = edited(edited(text, { kind: 'add', entry: { name: 'D', instructions: 'One.\nTwo.' } }), change('A', 'instructions', 'a\nb'))
    expect(after.replaceAll('\r\n', '').includes('\n')).toBe(text.replaceAll('\r\n', '').includes('\n'))
    expect(after.includes('\r\n')).toBe(text.includes('\r\n'))
    expect(after.startsWith('\ufeff')).toBe(text.startsWith('\ufeff'))
    expect(after.endsWith('\n')).toBe(text.endsWith('\n'))
  })
})

const NEW = ['advisors:', '  - name: Architecture', '    model: openai/x:high', '    tools: [read, grep]', '    instructions: |-', '      Layers.', '', '      No cycles.', '    reviewEvery: 3', ''].join('\n')
const ARCHITECTURE = { name: 'Architecture', model: 'openai/x:high', tools: ['read', 'grep'], instructions: 'Layers.\n\nNo cycles.', reviewEvery: 3 }

test.each([
  ['an empty file', '', NEW],
  ['a file of comments', '# mine\n\n', `# mine\n\n${NEW}`],
  ['comments without a final newline', '# mine', `# mine\n${NEW.trimEnd()}`],
  ['a document that only begins', '---\n', `---\n${NEW}`],
  ['an empty list', 'advisors: [] # none yet\n# end\n', `${NEW.replace('advisors:', 'advisors: # none yet')}# end\n`],
  ['a list not yet written', '# a\nadvisors:\nx-more: 1\n', `# a\n${NEW}x-more: 1\n`],
  ['other keys', 'instructions: Be brief. # yes\n', `instructions: Be brief. # yes\n${NEW}`],
])('the first advisor goes into %s as a person would write it', (_, before, after) => {
  expect(edited(before, { kind: 'add', entry: ARCHITECTURE })).toBe(after)
})

test.each<[string, string, string | undefined, string]>([
  ['plain', 'instructions: a # why\nx-y: 1\n', 'b', 'instructions: b # why\nx-y: 1\n'],
  ['plain to lines', 'instructions: a # why\nx-y: 1\n', 'b\nc', 'instructions: |- # why\n  b\n  c\nx-y: 1\n'],
  ['double quotes', 'instructions: "a"\n', 'b: "c"', 'instructions: "b: \\"c\\""\n'],
  ['single quotes', 'instructions: \'a\'\n', 'it\'s b', 'instructions: \'it\'\'s b\'\n'],
  ['literal', 'instructions: |\n     a\n     b\n\n\nx-y: 1\n', 'c\nd\n', 'instructions: |\n     c\n     d\n\n\nx-y: 1\n'],
  ['folded to one line', 'instructions: >-\n  a\n  b\n', 'c', 'instructions: |-\n  c\n'],
  ['literal to what no block holds', 'instructions: | # why\n  a\n', '  c', 'instructions: "  c" # why\n'],
  ['nothing behind the key', 'instructions:\nx-y: 1\n', 'true', 'instructions: "true"\nx-y: 1\n'],
  ['nothing behind the key, but a comment', 'instructions: # why\n', 'a', 'instructions: a # why\n'],
  ['taken away', '# a\ninstructions: |\n  a\n\n# b\nx-y: 1\n', undefined, '# a\n\n# b\nx-y: 1\n'],
  ['an alias', 'x-a: &a text\ninstructions: *a\n', 'b', 'x-a: &a text\ninstructions: b\n'],
  ['a tag', 'instructions: !!str 5\n', 'b', 'instructions: !!str b\n'],
  ['an explicit key', '? instructions\n: a\n', 'b', '? instructions\n: b\n'],
])('shared instructions are replaced in their own style: %s', (_, before, value, after) => {
  expect(edited(before, { kind: 'instructions', value })).toBe(after)
})

const TOOLS = 'advisors:\n- name: A\n  tools: # which\n    # first\n    - read # r\n    - "grep"\n    # last\n    - glob\n# end\n'

test.each<[string, string[] | undefined, string]>([
  ['one fewer', ['read', 'glob'], 'advisors:\n- name: A\n  tools: # which\n    # first\n    - read # r\n    # last\n    - glob\n# end\n'],
  ['one more', ['read', 'grep', 'glob', 'bash'], 'advisors:\n- name: A\n  tools: # which\n    # first\n    - read # r\n    - "grep"\n    # last\n    - glob\n    - bash\n# end\n'],
  ['none', [], 'advisors:\n- name: A\n  tools: [] # which\n# end\n'],
  ['as by default', undefined, 'advisors:\n- name: A\n# end\n'],
])('a list keeps the lines of what stays: %s', (_, value, after) => {
  expect(edited(TOOLS, { kind: 'change', index: 0, key: 'tools', value })).toBe(after)
})

test('an entry whose first key goes keeps its place', () => {
  expect(edited('advisors:\n  -   model: a/b # m\n      # who\n      name: A\n', { kind: 'change', index: 0, key: 'model', value: undefined }))
    .toBe('advisors:\n  -   # who\n      name: A\n')
})

test('comments below an entry that are indented like it go with it', () => {
  expect(edited('advisors:\n  - name: A\n    # old: x\n  # B is next\n  - name: B\n', { kind: 'remove', index: 0 })).toBe('advisors:\n  # B is next\n  - name: B\n')
})

test('a file that would hold nothing but comments says so', () => {
  expect(editDocument('# mine\nadvisors:\n  - name: A\n', { kind: 'remove', index: 0 })).toEqual({ kind: 'empty', text: '# mine\n' })
  expect(editDocument('instructions: a\n', { kind: 'instructions', value: undefined })).toEqual({ kind: 'empty', text: '' })
})

test('what cannot be changed alone is refused', () => {
  const shared = 'x-base: &b { name: A }\nadvisors:\n  - &c\n    name: B\n    model: &m a/b\n  - *c\n  - *b\n  - name: D\n    model: *m\n'
  for (const edit of [
    change('A', 'model', 'c/d'), change('B', 'model', 'c/d'), change('C', 'model', 'c/d'), { kind: 'remove', index: 0 },
  ] satisfies Edit[]) expect(editDocument(shared, edit).kind).toBe('refused')
  const merged = 'x-base: &b { model: a/b }\nadvisors:\n  - <<: *b\n    name: A\n'
  expect(editDocument(merged, change('A', 'model', undefined)).kind).toBe('refused')
  expect(edited(merged, change('A', 'model', 'c/d'))).toBe(`${merged}    model: c/d\n`)
  expect(edited(shared, { kind: 'change', index: 3, key: 'model', value: 'c/d' })).toBe(shared.replace('*m', 'c/d'))
})

test.each([
  ['advisors:\n  - name: A\n   model: x\n', 3, 1],
  ['advisors:\n  - name: A\n    name: B\n', 3, 5],
  ['a: 1\n---\nb: 2\n', 2, 1],
  ['- name: A\n', 1, 1],
  ['\ufeff# c\nadvisors: none\n', 2, 11],
  ['advisors: [*a]\n', 1, 12],
])('a file with errors is not edited, and the error has a place: %j', (text, line, column) => {
  expect(readDocument(text)).toMatchObject({ kind: 'broken', line, column })
  expect(editDocument(text, { kind: 'instructions', value: 'a' })).toMatchObject({ kind: 'refused', reason: expect.stringMatching(`^line ${line}, column ${column}: `) })
})

test('entries are listed as they are, with their lines, the bad ones too', () => {
  expect(readDocument('\n# c\nadvisors:\n  - name: A\n  - 5\n  -\n    naem: B\n')).toEqual({
    kind: 'document', instructions: undefined,
    entries: [{ line: 4, value: { name: 'A' } }, { line: 5, value: 5 }, { line: 7, value: { naem: 'B' } }],
  })
  expect(readDocument('')).toEqual({ kind: 'document', instructions: undefined, entries: [] })
})
