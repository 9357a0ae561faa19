/** Where a text asks for another file. */
import { expect, test } from 'vitest'
import { findImports } from '../../src/roster/tokens.ts'

const paths = (text: string) => findImports(text).map(token => token.path)

test.each([
  ['@a.md', ['a.md']],
  ['See @docs/rules.md, @../b.md and (@~/c.md).', ['docs/rules.md', '../b.md', '~/c.md']],
  ['- @./a.md\n- @b.md\n', ['./a.md', 'b.md']],
  ['write to me@example.org or @scope/package', ['scope/package']],
  ['"@quoted.md" and **@bold.md**', ['quoted.md']],
  ['参见 @文档/规则.md。（@b.md）', ['文档/规则.md', 'b.md']],
  ['a lone @ and @. and @@x', []],
  ['@node_modules/@scope/a.md', ['node_modules/@scope/a.md']],
])('%j asks for %j', (text, expected) => {
  expect(paths(text)).toEqual(expected)
})

test.each([
  ['a span', 'use `@a.md` here'],
  ['a span of more ticks', 'use `` ` @a.md `` here'],
  ['a span over two lines', 'use `one\n@a.md` here'],
  ['a fence', '```\n@a.md\n```'],
  ['a fence of tildes', '~~~md\n@a.md\n~~~'],
  ['a longer fence', '````\n```\n@a.md\n```\n````'],
  ['a fence of the other kind inside', '~~~\n```\n@a.md\n~~~'],
  ['a fence that never ends', 'text\n```\n@a.md\n\n@b.md'],
  ['a fence in a list', '- item\n\n    ```\n    @a.md\n    ```\n'],
  ['a fence on a list item\'s line', '- ```\n  @a.md\n  ```\n'],
  ['an indented block', 'text\n\n    @a.md\n    @b.md\n'],
  ['an indented block at the start', '\t@a.md'],
])('%s is literal', (_, text) => {
  expect(paths(text)).toEqual([])
})

test.each([
  ['a tick without its pair', 'a ` tick @a.md'],
  ['ticks of two paragraphs', 'a ` tick\n\n@a.md ` more'],
  ['an escaped tick', '\\`x` @a.md'],
  ['text behind a fence', '```\ncode\n```\n@a.md\n```\ncode\n```'],
  ['text behind a span', '`code` @a.md `code`'],
  ['a continued list item', '- item\n\n    @a.md\n'],
  ['an indented line of a paragraph', 'text\n    @a.md'],
  ['a line of three ticks and more', '``` is `code` ```\n@a.md'],
])('%s is not code', (_, text) => {
  expect(paths(text)).toEqual(['a.md'])
})

test('positions are those of the text', () => {
  const text = 'x `@no.md` @yes.md!'
  const [token] = findImports(text)
  expect(text.slice(token!.start, token!.end)).toBe('@yes.md')
})
