import { describe, expect, test } from 'vitest'
import { elide, errorMessage, escapeXml, truncate, unescapeXml, printable } from '../../src/text.ts'

/** One character in two units. */
const FACE = '😀'

/** Texts in which every cut of a small limit falls into a pair for some of them. */
const MIXED = [
  FACE.repeat(20), '\u{10000}'.repeat(20), '\u{103ff}'.repeat(20), `a${FACE.repeat(20)}`, `ab${FACE}cd${FACE}${FACE}ef`.repeat(4),
  'plain text of one byte a letter'.repeat(2),
]

describe('truncate', () => {
  test.each([
    ['abc', 3, 'abc'], ['abc', 4, 'abc'], ['abcd', 3, 'ab…'], ['abcd', 1, '…'], ['', 1, ''],
    [`ab${FACE}`, 4, `ab${FACE}`], [`ab${FACE}c`, 4, 'ab…'], [`a${FACE}bc`, 4, `a${FACE}…`], [`${FACE}${FACE}`, 3, `${FACE}…`],
  ])('%j cut to %i units is %j', (text, limit, expected) => {
    expect(truncate(text, limit)).toBe(expected)
  })

  test('never exceeds its limit and never splits a surrogate pair', () => {
    for (const text of MIXED) {
      for (let limit = 1; limit <= text.length + 1; limit += 1) {
        const cut = truncate(text, limit)
        expect(cut.length, `${text} at ${limit}`).toBeLessThanOrEqual(limit)
        expect(cut.isWellFormed(), `${text} at ${limit}`).toBe(true)
        expect(cut).toBe(text.length <= limit ? text : `${cut.slice(0, -1)}…`)
        expect(text.startsWith(cut.replace(/…$/, ''))).toBe(true)
      }
    }
  })
})

describe('elide', () => {
  const label = (left: number) => `[${left}]`

  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdefghi', 6, 'abcd\n[3]\nhi'],
    ['0123456789', 9, '012345\n[1]\n789'],
    ['abcdef\nhi', 6, 'abcd\n[3]\nhi'],
    ['ab\ncdefghi', 6, 'ab\nc\n[4]\nhi'],
  ])('%j cut to %i units keeps two thirds at its head and one at its tail: %j', (text, limit, expected) => {
    expect(elide(text, limit, label)).toBe(expected)
  })

  /** What `elide` kept of every mixed text at every limit from 3 on. */
  const cuts = MIXED.flatMap(text => Array.from({ length: text.length - 3 }, (_, index) => {
    const limit = index + 3
    const [, head = '', left = '', tail = ''] = /^([^]*)\n\[(\d+)\]\n([^]*)$/.exec(elide(text, limit, label)) ?? []
    return { text, limit, head, left: Number(left), tail, where: `${text} at ${limit}` }
  }))

  test('never splits a surrogate pair, and counts exactly what it left out', () => {
    for (const { text, head, left, tail, where } of cuts) {
      expect(head.isWellFormed() && tail.isWellFormed(), where).toBe(true)
      expect(text.startsWith(head) && text.endsWith(tail), where).toBe(true)
      expect(head.length + left + tail.length, where).toBe(text.length)
    }
  })

  test('treats the whole text, or each part that remains, and never the label', () => {
    const treat = (part: string) => part.toUpperCase()
    const words = (left: number) => `cut ${left}`
    expect(elide('abc', 3, words, treat)).toBe('ABC')
    expect(elide('abcdefghi', 6, words, treat)).toBe('ABCD\ncut 3\nHI')
  })

  test('never keeps more than its limit, also where a pair stands at the cut', () => {
    for (const { limit, head, tail, where } of cuts) expect(head.length + tail.length, where).toBeLessThanOrEqual(limit)
  })
})

test.each([
  ['a & b', 'a &amp; b'], ['</advisory>', '&lt;/advisory&gt;'], ['say "x"', 'say &quot;x&quot;'],
  ['&lt;', '&amp;lt;'], ['it\'s', 'it\'s'], ['', ''], [`${FACE} ${'\ud800'}`, `${FACE} ${'\ud800'}`],
])('%j stands in XML as %j and comes back whole', (text, escaped) => {
  expect(escapeXml(text)).toBe(escaped)
  expect(unescapeXml(escaped)).toBe(text)
})

test.each([
  [new Error('broken'), 'broken'], ['a string', 'a string'], [undefined, 'undefined'], [null, 'null'], [7, '7'],
])('whatever was thrown has a message: %o', (thrown, message) => {
  expect(errorMessage(thrown)).toBe(message)
})

describe('printable', () => {
  test.each([
    ['\u001b]0;owned\u0007\u001b[2Jred', ']0;owned[2Jred'], ['a\u0000b\rc\u009bd', 'abcd'], ['\ud800x', '\ufffdx'],
    ['user\u202egnp.exe', 'usergnp.exe'], ['one\n\ttwo', 'one\n\ttwo'], ['修复 👩‍👧 é', '修复 👩‍👧 é'],
  ])('%j is shown as %j', (text, expected) => {
    expect(printable(text)).toBe(expected)
  })
})
