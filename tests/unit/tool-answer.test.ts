import { describe, expect, it } from 'vitest'
import {
  ANSWER_CHARS, FILES_SHOWN, MATCHES_SHOWN, failed, showFiles, showMatches, showRead, showText, type SearchReport,
} from '../../src/review/tools/answer.ts'

const WHOLE: SearchReport = { ended: undefined, seconds: 15, files: 12, unread: [], long: [] }
const head = (paths: readonly string[], count: number) => paths.slice(0, count)
const match = (path: string, lineNumber: number, line: string) => ({ path, lineNumber, line })

describe('a search that saw everything', () => {
  it('groups its matches by file, in an order that does not depend on the run', () => {
    const answer = showMatches([match('b.ts', 2, 'two'), match('a.ts', 9, 'nine'), match('b.ts', 1, 'one')], WHOLE)
    expect(answer).toEqual({ isError: false, text: '3 matches\na.ts\n9: nine\nb.ts\n1: one\n2: two' })
  })

  it('says how many files it searched when it found nothing', () => {
    expect(showMatches([], WHOLE).text).toBe('no matches in 12 files (hidden, git-ignored and binary files are not searched)')
    expect(showMatches([], { ...WHOLE, files: undefined }).text).toMatch(/^no matches \(hidden/)
  })

  it('says that nothing was searched rather than that nothing matches', () => {
    expect(showMatches([], { ...WHOLE, files: 0 }).text).toMatch(/^no file was searched/)
  })

  it('lists files, and says when there are none', () => {
    expect(showFiles(['b', 'a'], WHOLE, head).text).toBe('2 files\na\nb')
    expect(showFiles([], WHOLE, head).text).toBe('no files match')
  })
})

describe('a search that is cut', () => {
  const ends: readonly [Partial<SearchReport>, string][] = [
    [{ ended: 'time' }, 'the search was stopped after 15 s'],
    [{ ended: 'size' }, 'there are more results than one search returns'],
    [{ long: ['dist/a.js', 'dist/b.js'] }, 'matches on lines too long to show, in dist/a.js; dist/b.js'],
    [{ unread: ['secret: Permission denied'] }, 'not everything could be read: secret: Permission denied'],
  ]
  it.each(ends)('never says that there are no matches: %j', (report, reason) => {
    for (const { text } of [showMatches([], { ...WHOLE, files: undefined, ...report }), showFiles([], { ...WHOLE, ...report }, head)]) {
      expect(text).not.toMatch(/no match|no file/)
      expect(text).toContain('nothing to show, but not everything was seen')
      expect(text).toContain(`[cut: `)
      expect(text).toContain(reason)
    }
  })

  it('says so beside what it found', () => {
    const { text } = showMatches([match('a', 1, 'x')], { ...WHOLE, ended: 'time' })
    expect(text).toBe('more than 1 match\na\n1: x\n[cut: the search was stopped after 15 s, before it had seen everything; narrow the pattern or the path]')
  })

  it('shows some of too many matches and names both numbers', () => {
    const { text } = showMatches(Array.from({ length: 1234 }, (_, index) => match('a', index + 1, 'x')), WHOLE)
    expect(text.split('\n')).toHaveLength(MATCHES_SHOWN + 3)
    expect(text).toMatch(/\[cut: 100 of 1,234 matches shown; narrow the pattern or the path\]$/)
  })

  it('tells once that a search found more than it could hold', () => {
    const many = Array.from({ length: 500 }, (_, index) => match('a', index + 1, 'x'))
    expect(showMatches(many, { ...WHOLE, ended: 'size' }).text.match(/\[cut: .*/g)).toEqual([
      '[cut: 100 of more than 500 matches shown; narrow the pattern or the path]',
    ])
    expect(showMatches(many.slice(0, 2), { ...WHOLE, ended: 'size' }).text).toMatch(/^more than 2 matches\n[^]*\[cut: there are more results/)
  })

  it('shows a sample of too many files', () => {
    const paths = Array.from({ length: 500 }, (_, index) => `f${index}`)
    const { text } = showFiles(paths, WHOLE, (all, count) => all.slice(-count))
    expect(text).toMatch(/^500 files\nf300\n/)
    expect(text).toContain(`[cut: ${FILES_SHOWN} of 500 files shown`)
  })

  it('stays within its size when the lines are long', () => {
    const long = 'y'.repeat(5000)
    const { text } = showMatches(Array.from({ length: 100 }, (_, index) => match(`f${index}`, 1, long)), WHOLE)
    expect(text.length).toBeLessThan(ANSWER_CHARS + 300)
    expect(text).toContain('[cut: 5,000 characters in this line]')
    expect(text).toMatch(/\[cut: \d+ of 100 matches shown/)
  })

  it('names a few of many places that could not be read', () => {
    const { text } = showMatches([], { ...WHOLE, unread: ['a', 'b', 'c', 'd', 'e'] })
    expect(text).toContain('a; b; c and 2 more')
  })
})

describe('a file', () => {
  const lines = (from: number, count: number, text = 'x') => Array.from({ length: count }, (_, index) => ({ number: from + index, text }))

  it('is shown with its numbers', () => {
    expect(showRead({ path: 'a.ts', offset: 1, lines: lines(1, 2), totalLines: 2 }).text).toBe('a.ts, lines 1-2 of 2\n1: x\n2: x')
  })

  it('says where to read on', () => {
    expect(showRead({ path: 'a.ts', offset: 5, lines: lines(5, 2), totalLines: 9 }).text)
      .toBe('a.ts, lines 5-6 of 9\n5: x\n6: x\n[cut: lines 7-9 are not shown; read on with offset 7]')
  })

  it('is cut between lines, never within one', () => {
    const { text } = showRead({ path: 'a.ts', offset: 1, lines: lines(1, 40, 'z'.repeat(999)), totalLines: 40 })
    expect(text.length).toBeLessThan(ANSWER_CHARS + 200)
    expect(text).toMatch(/\[cut: lines 24-40 are not shown; read on with offset 24\]$/)
  })

  it('may be empty', () => {
    expect(showRead({ path: 'a.ts', offset: 1, lines: [], totalLines: 0 }).text).toBe('a.ts is empty')
  })
})

describe('the words of another tool', () => {
  it('are bounded, with both ends shown and the rest counted', () => {
    const { text } = showText(`begin${'w'.repeat(ANSWER_CHARS + 1490)}end..`, false)
    expect(text).toMatch(/^beginw+\n\[cut: 1,500 characters here\]\nw+end\.\.$/)
  })

  it('are never nothing', () => {
    expect(showText(' \n', true)).toEqual({ text: '(no output)', isError: true })
  })
})

it('keeps a failure to one bounded line that can be printed', () => {
  const { text } = failed('failed', `\u001b[31m${'e'.repeat(5000)}`)
  expect(text.length).toBeLessThan(1020)
  expect(text).not.toContain('\u001b')
})
