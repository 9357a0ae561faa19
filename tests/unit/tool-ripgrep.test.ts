import { describe, expect, it } from 'vitest'
import { filesSearched, matchedFile, unreadPlaces } from '../../src/review/tools/ripgrep.ts'

const SUMMARY = '{"data":{"elapsed_total":{"human":"0.001801s","nanos":1801448,"secs":0},"stats":{"bytes_printed":249,"bytes_searched":6,'
  + '"elapsed":{"human":"0.000033s","nanos":32863,"secs":0},"matched_lines":1,"matches":1,"searches":4999,"searches_with_match":1}},"type":"summary"}'

describe('what ripgrep complains about', () => {
  const cases: readonly [string, string[]][] = [
    ['rg: /w/secret: Permission denied (os error 13)\nrg: /w/x: No such file or directory (os error 2)\n',
      ['/w/secret: Permission denied', '/w/x: No such file or directory']],
    ['rg: regex parse error:\n    (?:a()\n    ^\nerror: unclosed group\n', []],
    ['rg: error parsing glob \'[\': unclosed character class; missing \']\'\n', []],
    ['', []],
  ]
  it.each(cases)('%j are places that were not read: %j', (stderr, places) => {
    expect(unreadPlaces(stderr)).toEqual(places)
  })
})

describe('the number of files that were searched', () => {
  const cases: readonly [string, number | undefined][] = [
    [`${SUMMARY}\n`, 4999],
    [`{"type":"begin","data":{}}\n${SUMMARY}\n`, 4999],
    ['', undefined],
    ['src/a.ts\nsrc/b.ts\n', undefined],
    ['{"type":"summary"', undefined],
    ['null\n', undefined],
    ['{"type":"match","data":{"stats":{"searches":3}}}\n', undefined],
  ]
  it.each(cases)('in the output %j is %j', (output, files) => {
    expect(filesSearched(output)).toBe(files)
  })
})

describe('the file of a record that was cut', () => {
  const cases: readonly [string, string][] = [
    ['{"type":"match","data":{"path":{"text":"/w/a \\"b\\".js"},"lines":{"text":"xx', '/w/a "b".js'],
    ['{"type":"match","data":{"path":{"bytes":"AAA"},"lines":', 'a file'],
    ['{"type":"match","data":{"path":{"text":"/w/never en', 'a file'],
    ['', 'a file'],
  ]
  it.each(cases)('%s is %s', (record, file) => {
    expect(matchedFile(record)).toBe(file)
  })
})
