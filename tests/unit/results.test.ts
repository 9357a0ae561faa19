import { beforeEach, expect, test } from 'vitest'
import type { Entry } from '../../src/observe/entry.ts'
import type { Update } from '../../src/observe/fold.ts'
import type { ToolEntry } from '../../src/observe/markdown.ts'
import { ShownResults } from '../../src/review/results.ts'

const LONG = 'line of a file\n'.repeat(20)
const read = (changes: Partial<ToolEntry> = {}): ToolEntry => ({
  kind: 'tool', seq: 0, name: 'read', args: '{"file_path":"a.txt"}', outcome: 'ok', output: LONG, diffs: [], ...changes,
})
const update = (step: number, ...entries: Entry[]): Update => ({
  number: step, turn: 1, step, boundary: 'step', mutated: false, final: false, entries,
})

let results: ShownResults
beforeEach(() => { results = new ShownResults() })

test('a result that was read is named by the step it was first shown at', () => {
  const first = read()
  results.add([update(2, first)], new Set([first]))
  const again = read()
  results.add([update(5, again)], new Set([again]))
  expect(results.find(read())).toBe('1.2')
})

test.each<[string, Partial<ToolEntry>]>([
  ['another result', { output: `${LONG}changed` }], ['another call', { args: '{"file_path":"b.txt"}' }],
  ['another tool', { name: 'bash' }], ['a failure', { outcome: 'error' }], ['a short one', { output: 'ok' }],
  ['an edit', { diffs: [{ path: 'a', oldText: 'x', newText: 'y' }] }],
])('%s is shown', (_name, changes) => {
  const first = read()
  results.add([update(2, first)], new Set([first]))
  expect(results.find(read(changes))).toBeUndefined()
})

test('what a delta left out was not shown, so it cannot be named', () => {
  results.add([update(2, read())], new Set())
  expect(results.find(read())).toBeUndefined()
})

test('a conversation that starts over shows everything again', () => {
  const first = read()
  results.add([update(2, first)], new Set([first]))
  results.clear()
  expect(results.find(read())).toBeUndefined()
})
