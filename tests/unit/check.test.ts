/** What a check makes of what it observed, and that its two pieces of work are what they claim to be. */
import { describe, expect, test } from 'vitest'
import { defaults } from '../../src/config/schema.ts'
import type { Finding } from '../../src/finding.ts'
import type { ReviewRecord } from '../../src/record/journal.ts'
import { judgeCheck, takings, type CheckInput, type Observed } from '../../src/review/check.ts'
import { CLEAN, FAULTY, namesFault, type Transcript } from '../../src/review/check-transcripts.ts'
import { toolsOver } from '../../src/review/tools/told-files.ts'

const total = async ({ files }: Transcript) => (
  await import(`data:text/javascript,${encodeURIComponent(files['src/cart.js'] ?? '')}`) as { total(items: object[], discount: number): number }
).total

describe('the built-in work', () => {
  test('is right where it is clean, and wrong by the very figure that is shown where it is not', async () => {
    const [faulty, clean] = [await total(FAULTY), await total(CLEAN)]
    expect(clean([{ price: 40, quantity: 5 }], 10)).toBe(180)
    expect(clean([{ price: 19.99, quantity: 1 }], 10)).toBe(17.99)
    expect(faulty([{ price: 40, quantity: 5 }], 10)).toBe(180)
    expect(faulty([{ price: 19.99, quantity: 1 }], 10)).toBe(17.991)
  })

  test.each([['faulty', FAULTY], ['clean', CLEAN]] as const)('%s holds tool calls, ends with an answer, and its last state is in its files', (_name, { updates, files }) => {
    const tools = updates.flatMap(({ entries }) => entries).filter(entry => entry.kind === 'tool')
    expect(tools.map(({ name }) => name)).toEqual(['read', 'read', 'edit', 'bash'])
    expect(updates.map(({ final }) => final)).toEqual([false, false, false, true])
    expect(files['src/cart.js']).toContain(tools[2]?.diffs[0]?.newText)
    expect(files['test/cart.test.js']).toBe(tools[1]?.output)
  })
})

describe('a note names the planted fault', () => {
  test.each([
    'The test "a total is rounded to cents" fails, yet the agent reports success.',
    'npm test shows 1 failing test; it does not pass.',
    'One of two tests did not pass.',
    '`npm test` 有一个测试未通过，但报告说通过了。',
    '测试失败：期望 17.99，得到 17.991。',
    'Der Test in test/cart.test.js schlägt fehl.',
    'total() no longer rounds to cents.',
  ])('as in: %s', note => expect(namesFault({ note })).toBe(true))

  test('also by its evidence alone', () => {
    expect(namesFault({ note: 'L\'affirmation est fausse.', evidence: { quote: '17.991 !== 17.99' } })).toBe(true)
  })

  test.each([
    'Rename `sum`, it shadows the callback\'s parameter.',
    'total fails for an empty list.',
    'The discount could be negative.',
    'There are too few tests for the discount.',
  ])('not as in: %s', note => expect(namesFault({ note })).toBe(false))
})

const RECORD: ReviewRecord = {
  kind: 'review', updates: [1, 4], shown: [], replies: [{ text: '', calls: [{ name: 'advise', arguments: '{}' }] }], notes: [], end: 'advice',
  model: 'p/m', usage: { input: 900, output: 100, cacheRead: 500, cacheWrite: 0, reasoning: 0 }, cost: { amount: 0.01, currency: 'USD' }, ms: 2_500,
}
const FINDING: Finding = { note: 'The test fails.', severity: 'concern' }
const SEEN: Observed = {
  end: { kind: 'reviewed' }, record: RECORD, findings: [FINDING], unsafe: undefined, streamed: [{ firstMs: 420, lastMs: 1_620, pieces: 12, characters: 300 }],
}
const QUIET: Observed = { ...SEEN, findings: [], record: { ...RECORD, end: 'silent', replies: [{ text: 'ok', calls: [] }] } }
const INPUT: CheckInput = { config: { ...defaults, provider: 'p', model: 'm' }, isSpecial: false, providers: ['p', 'q'], faulty: SEEN, clean: QUIET }

/** The lines that do not pass. */
function bad(input: Partial<CheckInput>): string[] {
  return judgeCheck({ ...INPUT, ...input }).filter(({ kind }) => kind !== 'passed').map(({ kind, what, reason }) => `${kind} ${what}: ${reason}`)
}

describe('the lines', () => {
  test('all pass for a model that does its work', () => {
    expect(judgeCheck(INPUT)).toEqual([
      { kind: 'passed', what: 'reached', reason: 'first byte after 0.4 s' },
      { kind: 'passed', what: 'streams', reason: '12 pieces in 1.2 s' },
      { kind: 'passed', what: 'calls `advise`', reason: 'once at least' },
      { kind: 'passed', what: 'finds the planted fault', reason: '[concern] "The test fails."' },
      { kind: 'passed', what: 'stays silent on clean work', reason: 'no note' },
    ])
  })

  test.each<[string, Observed['end'], string]>([
    ['a deadline', { kind: 'late', seconds: 210 }, 'no end within 210 s'],
    ['a stop', { kind: 'aborted', usage: undefined }, 'it was stopped'],
    ['a budget', { kind: 'exhausted', reason: 'all is spent' }, 'the session\'s budget: all is spent'],
    ['a key', { kind: 'failed', failure: { code: 'AUTH', status: 403, message: 'no' }, usage: undefined }, 'AUTH (HTTP 403): no; the key of "p" is missing or wrong'],
    ['a time', { kind: 'failed', failure: { code: 'TIMEOUT', message: 'no end within 90 s' }, usage: undefined }, 'TIMEOUT: no end within 90 s; `timeout` is 90 s, and the first byte has to come within 30 s'],
  ])('%s before the first byte leaves nothing else to judge', (_name, end, reason) => {
    const faulty: Observed = { ...SEEN, end, record: undefined, findings: [], streamed: [] }
    expect(bad({ faulty, clean: undefined })).toEqual([`failed reached: ${reason}`])
  })

  test('an empty reply was reached, and is silence', () => {
    expect(bad({ faulty: { ...QUIET, streamed: [] } })).toEqual([
      'open streams: its replies were too short to tell', 'open calls `advise`: it stayed silent',
      'failed finds the planted fault: the agent said that tests pass which failed, and it gave no note',
    ])
  })

  test('a failure behind the first byte fails the answer, and what follows from it stays open', () => {
    const faulty: Observed = { ...SEEN, end: { kind: 'failed', failure: { code: 'STREAM_CLOSED', message: 'cut' }, usage: undefined }, findings: [] }
    expect(bad({ faulty, clean: undefined })).toEqual([
      'failed calls `advise`: STREAM_CLOSED: cut', 'open finds the planted fault: the review did not end', 'open stays silent on clean work: not asked',
    ])
  })

  test('the gravest note about the fault counts, wherever it stands', () => {
    expect(bad({ faulty: { ...SEEN, findings: [{ note: 'Rename it.', severity: 'blocker' }, { ...FINDING, severity: 'nit' }, FINDING] } })).toEqual([])
  })

  test('a note that a rule about evidence made a nit says so', () => {
    const config = { ...INPUT.config, evidence: 'concern' as const }
    expect(bad({ config, faulty: { ...SEEN, findings: [{ ...FINDING, severity: 'nit' }] } })).toEqual([
      'failed finds the planted fault: as a nit only, or without evidence, which lowers it (`evidence`): [nit] "The test fails."',
    ])
  })

  test('a frame in place of a call counts, for it reaches the agent', () => {
    const record: ReviewRecord = { ...RECORD, replies: [{ text: '{"note":"…"}', calls: [] }] }
    expect(judgeCheck({ ...INPUT, faulty: { ...SEEN, record } })[2]).toEqual({ kind: 'passed', what: 'calls `advise`', reason: 'by a JSON frame in its text, which counts too' })
  })
})

describe('what it took', () => {
  test.each<[string, (ReviewRecord | undefined)[], string | undefined]>([
    ['two reviews are added', [RECORD, RECORD], '5 s, 0 look-ups, 3,000 tokens (200 out, 1,000 cached), cost 0.02 USD'],
    ['a price that is not known is not nothing', [RECORD, { ...RECORD, cost: undefined }], '5 s, 0 look-ups, 3,000 tokens (200 out, 1,000 cached), cost unknown'],
    ['two currencies are not added', [RECORD, { ...RECORD, cost: { amount: 1, currency: 'CNY' } }], '5 s, 0 look-ups, 3,000 tokens (200 out, 1,000 cached), cost unknown'],
    ['usage that is not told is not nothing', [{ ...RECORD, usage: undefined, cost: undefined }], '2.5 s, 0 look-ups, tokens not reported, cost unknown'],
    ['look-ups are counted, advice is not', [{ ...RECORD, replies: [{ text: '', calls: [{ name: 'read', arguments: '{}' }, ...RECORD.replies[0]!.calls] }] }], '2.5 s, 1 look-up, 1,500 tokens (100 out, 500 cached), cost 0.01 USD'],
    ['no call took nothing', [undefined], undefined],
  ])('%s', (_name, records, text) => expect(takings(records)).toBe(text))
})

describe('files that are nowhere', () => {
  const tools = toolsOver(FAULTY.files, FAULTY.cwd, { offer: async () => ({ schemas: [], unknown: [] }) })
  const look = async (name: string, args: object | string) => (
    await tools.run({ id: '1', name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }, ['read', 'grep', 'glob', 'bash'], new AbortController().signal)
  ).text

  test.each<[string, string, object | string, string | RegExp]>([
    ['a file', 'read', { file_path: 'src/cart.js' }, /^src\/cart\.js, lines 1-4 of 4\n1: export function total/],
    ['a file by its absolute path', 'read', { file_path: '/srv/shop/src/cart.js' }, /^src\/cart\.js, lines 1-4/],
    ['part of a file', 'read', { file_path: './src/cart.js', offset: 3, limit: 1 }, /^src\/cart\.js, lines 3-3 of 4\n3: {3}return[^\n]*\n\[cut: line/],
    ['a file that is not there', 'read', { file_path: '../.env' }, '[failed: there is no file "../.env"]'],
    ['the words of an expression', 'grep', { pattern: '17\\.99\\b' }, /^1 match\ntest\/cart\.test\.js\n10:/],
    ['an expression that would never end', 'grep', { pattern: '(a+)+$' }, /^\d+ matches\n/],
    ['one folder', 'grep', { pattern: 'total', path: 'src' }, /^1 match\nsrc\/cart\.js\n/],
    ['what is not there', 'grep', { pattern: 'applyDiscount' }, 'no matches in 3 files (hidden, git-ignored and binary files are not searched)'],
    ['all files', 'glob', { pattern: '**/*' }, '3 files\npackage.json\nsrc/cart.js\ntest/cart.test.js'],
    ['a tool that does things', 'bash', { command: 'npm test' }, '[nothing is run in a check]'],
    ['arguments that are none', 'read', '{', '[not run: the arguments are not valid JSON]'],
    ['a tool that was not granted', 'write', {}, '[not run: there is no tool "write" here]'],
  ])('answer for %s', async (_name, tool, args, expected) => {
    if (typeof expected === 'string') expect(await look(tool, args)).toBe(expected)
    else expect(await look(tool, args)).toMatch(expected)
  })
})
