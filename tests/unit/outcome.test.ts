import { describe, expect, test } from 'vitest'
import type { Entry } from '../../src/observe/entry.ts'
import { GIVE_UP_AFTER, judgeStep, pursue, type Outcome, type Pursuit } from '../../src/record/outcome.ts'
import { rateText, ratesOf } from '../../src/record/rates.ts'
import { emptyTotals, type Totals } from '../../src/record/totals.ts'

const tool = (args: unknown, changes: Partial<Extract<Entry, { kind: 'tool' }>> = {}): Entry => ({
  kind: 'tool', seq: 1, name: 'bash', args: typeof args === 'string' ? args : JSON.stringify(args), outcome: 'ok', output: '', diffs: [], ...changes,
})
const said = (text: string): Entry => ({ kind: 'agent', seq: 1, text, reasoning: '', interrupted: false })
/** The end of a turn that broke off; one that ends well leaves no entry. */
const ended: Entry = { kind: 'end', seq: 2, reason: { kind: 'max-tokens' } }
/** The end of a turn, with what stood there. */
const over = (...entries: readonly Entry[]) => ({ entries, isOver: true })

function begun(note: string, paths: readonly string[] = []): Pursuit {
  const outcome = pursue(note, paths)
  if (outcome.kind !== 'open') throw new Error(`"${note}" cannot be followed`)
  return outcome.pursuit
}

function follow(note: string, ...steps: (readonly Entry[] | ReturnType<typeof over>)[]): Outcome {
  let outcome: Outcome = pursue(note)
  for (const step of steps) {
    const { entries, isOver } = 'isOver' in step ? step : { entries: step, isOver: false }
    if (outcome.kind === 'open') outcome = judgeStep(outcome.pursuit, entries, isOver)
  }
  return outcome
}

describe('what a note names', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['src/a.ts swallows the error', ['src/a.ts'], []],
    ['See `./src/a.ts:42`, it throws.', ['src/a.ts'], []],
    ['`C:\\repo\\a.ts` is left open', ['C:/repo/a.ts'], []],
    ['parseDate() returns null (see foo_bar)', [], ['parseDate', 'foo_bar']],
    ['run `npm test -- --ci` first', [], ['npm test -- --ci']],
    ['config.ts sets "timeout" to 0', ['config.ts'], ['timeout', 'config.ts']],
    ['the file /etc/app/conf is world-readable', ['/etc/app/conf'], []],
  ])('%s', (note, paths, words) => {
    const pursuit = begun(note)
    expect(pursuit.paths).toEqual(paths)
    expect(pursuit.words).toEqual(words)
  })

  test('the file of its evidence is one of them', () => {
    expect(begun('this swallows the error', ['./lib/b.py'])).toEqual({ paths: ['lib/b.py'], words: [], steps: 0 })
  })

  test.each(['You claim success but ran no test.', 'Read and/or write, e.g. in TypeScript.', '`x` is unused', ''])('%j names nothing', (note) => {
    expect(pursue(note)).toEqual({ kind: 'unknown', reason: 'the note names nothing' })
  })
})

describe('a step touches it', () => {
  test.each<[string, string, Entry]>([
    ['reads the file', 'src/a.ts is wrong', tool({ file_path: '/repo/p/src/a.ts' })],
    ['names the file by less of its path', '/repo/p/src/a.ts is wrong', tool({ command: 'cat src/a.ts' })],
    ['names it the Windows way', 'src/a.ts is wrong', tool({ file_path: 'C:\\p\\src\\a.ts' })],
    ['changes the file', 'src/a.ts is wrong', tool({}, { diffs: [{ path: '/repo/src/a.ts', oldText: null, newText: '' }] })],
    ['changes what uses the name', 'parseDate() is wrong', tool({}, { diffs: [{ path: 'x', oldText: 'a', newText: 'b\nparseDate(c)' }] })],
    ['has the name behind a line break', '`fooBar` is wrong', tool({ new_string: 'x\nfooBar' })],
    ['runs the quoted command, spaced otherwise', 'run `npm  test`', tool({ command: 'cd p && npm test' })],
    ['has arguments that are no JSON', '`fooBar` is wrong', tool('{"a": fooBar')],
    ['fails', 'src/a.ts is wrong', tool({ path: 'src/a.ts' }, { outcome: 'error' })],
  ])('that %s', (_what, note, entry) => {
    expect(follow(note, [entry])).toMatchObject({ kind: 'touched', steps: 1 })
  })

  test('and the reason says with what', () => {
    expect(follow('src/a.ts is wrong', [said('hm')], [said('ok'), tool({ path: 'src/a.ts' }, { name: 'edit' })]))
      .toEqual({ kind: 'touched', reason: 'edit names src/a.ts', steps: 2 })
  })
})

describe('a step does not touch it', () => {
  test.each<[string, string, Entry]>([
    ['only talks about it', 'src/a.ts is wrong', said('I leave src/a.ts')],
    ['only finds it', 'src/a.ts is wrong', tool({ pattern: 'x' }, { output: 'src/a.ts' })],
    ['names a longer path', 'src/a.ts is wrong', tool({ path: 'lib/src/a.tsx' })],
    ['names a file of the same name elsewhere', 'src/a.ts is wrong', tool({ path: 'lib/a.ts' })],
    ['names a longer word', '`foo_bar` is wrong', tool({ command: 'grep foo_bars' })],
  ])('that %s', (_what, note, entry) => {
    expect(follow(note, [entry])).toMatchObject({ kind: 'open', pursuit: { steps: 1 } })
  })
})

describe('it ends', () => {
  test('as ignored after so many steps', () => {
    const steps = Array.from({ length: GIVE_UP_AFTER }, () => [tool({ command: 'ls' })])
    expect(follow('src/a.ts is wrong', ...steps.slice(1))).toMatchObject({ kind: 'open' })
    expect(follow('src/a.ts is wrong', ...steps)).toEqual({ kind: 'ignored', reason: `${GIVE_UP_AFTER} steps did not touch it`, steps: GIVE_UP_AFTER })
  })

  test('as ignored with the answer', () => {
    expect(follow('src/a.ts is wrong', [said('done')], over()))
      .toEqual({ kind: 'ignored', reason: 'the agent answered without touching it', steps: 1 })
  })

  test('as unknown when the turn broke off', () => {
    expect(follow('src/a.ts is wrong', over(ended))).toEqual({ kind: 'unknown', reason: 'the turn ended: max-tokens' })
  })

  test('as touched when the last step touched it', () => {
    expect(follow('src/a.ts is wrong', over(tool({ path: 'src/a.ts' }), ended))).toMatchObject({ kind: 'touched' })
  })
})

test('a note of a single long word is read in no time', () => {
  expect(pursue('a'.repeat(1_000_000)).kind).toBe('unknown')
})

describe('rates', () => {
  const totals = (change: (totals: Totals) => void): Totals => {
    const made = emptyTotals()
    change(made)
    return made
  }

  test('are by advisor and severity, the gravest first', () => {
    const rows = ratesOf(new Map([
      ['', totals(({ outcomes }) => {
        outcomes.nit.notes = 3
        outcomes.blocker = { notes: 4, touched: 1, ignored: 2, good: 1, bad: 0 }
      })],
      ['security', totals(({ outcomes }) => { outcomes.concern = { notes: 1, touched: 1, ignored: 0, good: 0, bad: 0 } })],
    ]))
    expect(rows.map(({ advisor, severity, share }) => [advisor, severity, share])).toEqual([
      ['', 'blocker', 1 / 3], ['', 'nit', undefined], ['security', 'concern', 1],
    ])
    expect(rows.map(rateText)).toEqual([
      'blocker: 4 notes, 1 of 3 acted on; the user found 1 good and 0 bad', 'nit: 3 notes, none followed to its end yet', 'concern: 1 note, 1 of 1 acted on',
    ])
  })

  test('of nothing are none', () => {
    expect(ratesOf(new Map([['', emptyTotals()]]))).toEqual([])
  })
})
