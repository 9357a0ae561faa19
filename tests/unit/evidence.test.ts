/** What counts as a quote that stands there, and what becomes of a finding without one. */

import { describe, expect, test } from 'vitest'
import type { Evidence, Finding } from '../../src/finding.ts'
import { omission } from '../../src/observe/markdown.ts'
import { checkEvidence, Seen } from '../../src/review/evidence.ts'
import { renderHead, renderReconfirm } from '../../src/review/head.ts'
import type { Severity } from '../../src/severity.ts'

const SHOWN = `## step 1.2
**user:** Never touch b.txt, it is Anna’s.
→ bash(npm test ⏎ echo done)
[tool result]
FAIL src/parse.test.ts
  expected 3 rows,   got 2
npm error code ELIFECYCLE
exit 1`

const NUMBERED = `src/parse.ts, lines 10-13 of 40
10: export function parseRows(text: string) {
11:   const rows = text.split('\\n')
12:   return rows.slice(0, -1)
13: }`

const NO_FILE = () => Promise.resolve(undefined)

function seenOf(...texts: string[]): Seen {
  const seen = new Seen()
  for (const text of texts) seen.add(text)
  return seen
}

/** The file that any name means. */
function inFile(text: string | undefined): () => Promise<Seen | undefined> {
  return () => Promise.resolve(text === undefined ? undefined : seenOf(text))
}

function finding(severity: Severity, evidence?: Evidence | string): Finding {
  const proof = typeof evidence === 'string' ? { quote: evidence } : evidence
  return { note: 'The parser drops the last row.', severity, ...proof === undefined ? {} : { evidence: proof } }
}

/** Whether a quote is found in what was shown, or in the file that is named. */
async function isFound(quote: string, shown: string, file?: string): Promise<boolean> {
  const evidence = file === undefined ? { quote } : { quote, path: 'a.ts' }
  return (await checkEvidence(finding('blocker', evidence), 'blocker', seenOf(shown), inFile(file))).kind === 'fine'
}

describe('a finding that needs evidence', () => {
  test.each<[string, Severity, 'off' | 'blocker' | 'concern', string | undefined, string]>([
    ['a blocker with a quote stays one', 'blocker', 'blocker', 'FAIL src/parse.test.ts', 'fine blocker'],
    ['a blocker without any becomes a concern', 'blocker', 'blocker', undefined, 'lowered concern'],
    ['a blocker with an invented quote becomes a concern', 'blocker', 'blocker', 'FAIL src/other.test.ts', 'lowered concern'],
    ['a blocker with a bracket for a quote becomes a concern', 'blocker', 'blocker', '}', 'lowered concern'],
    ['a concern becomes a nit where concerns are covered', 'concern', 'concern', undefined, 'lowered nit'],
    ['a blocker is lowered one step only, also where concerns are covered', 'blocker', 'concern', undefined, 'lowered concern'],
    ['a concern with a quote stays one', 'concern', 'concern', 'exit 1', 'fine concern'],
    ['a concern needs none where only blockers are covered', 'concern', 'blocker', undefined, 'fine concern'],
    ['a nit never needs one', 'nit', 'concern', undefined, 'fine nit'],
    ['nothing does when evidence is off', 'blocker', 'off', undefined, 'fine blocker'],
  ])('%s', async (_name, severity, policy, quote, expected) => {
    const verdict = await checkEvidence(finding(severity, quote), policy, seenOf(SHOWN), NO_FILE)
    expect(`${verdict.kind} ${verdict.finding.severity}`).toBe(expected)
  })

  test('keeps its note, its number and its proved evidence', async () => {
    const given: Finding = { ...finding('blocker', { quote: 'exit 1', path: 'log' }), replaces: 4 }
    expect((await checkEvidence(given, 'blocker', seenOf(SHOWN), NO_FILE)).finding).toEqual(given)
  })

  test('loses evidence that stands nowhere, and nothing else', async () => {
    for (const severity of ['nit', 'blocker'] as const) {
      const { finding: left } = await checkEvidence({ ...finding(severity, 'an invented line'), replaces: 4 }, 'blocker', seenOf(SHOWN), NO_FILE)
      expect(left).toEqual({ note: 'The parser drops the last row.', severity: severity === 'nit' ? 'nit' : 'concern', replaces: 4 })
    }
  })

  test.each<[string, Evidence | undefined, string | undefined, string]>([
    ['none', undefined, undefined, 'a blocker has to quote in `evidence` what proves it'],
    ['a word', { quote: 'the' }, undefined, 'its quote is too short to prove anything'],
    ['an invention', { quote: 'an invented line' }, undefined, 'its quote does not stand in what you were shown or have read'],
    [
      'a file that is not there', { quote: 'an invented line', path: 'a.ts' }, undefined,
      'its quote does not stand in what you were shown or have read, and there is no file `a.ts` to look in',
    ],
    [
      'a file that says something else', { quote: 'an invented line', path: 'a.ts' }, 'another line',
      'its quote does not stand in what you were shown or have read, nor in `a.ts` as it is now',
    ],
  ])('is told plainly what is wrong with %s', async (_name, evidence, file, reason) => {
    expect(await checkEvidence(finding('blocker', evidence), 'blocker', seenOf(SHOWN), inFile(file)))
      .toMatchObject({ kind: 'lowered', reason })
  })
})

describe('the named file', () => {
  test.each(['src/a.ts', 'src/a.ts:12', 'src/a.ts:12-20', 'src/a.ts:12:5', 'src/a.ts#L12-L20', 'src/a.ts, line 12', 'src/a.ts (lines 12-20)'])(
    'is found under %j', async (path) => {
      const asked: string[] = []
      const verdict = await checkEvidence(finding('blocker', { quote: 'return rows', path }), 'blocker', new Seen(), (file) => {
        asked.push(file)
        return inFile(file === 'src/a.ts' ? 'function f() {\n  return rows\n}' : undefined)()
      })
      expect(verdict.kind).toBe('fine')
      expect(asked[0]).toBe(path)
    })

  test('is not read when the quote was shown', async () => {
    const reading = () => { throw new Error('read') }
    expect(await checkEvidence(finding('blocker', { quote: 'ELIFECYCLE', path: 'a.ts' }), 'blocker', seenOf(SHOWN), reading)).toMatchObject({ kind: 'fine' })
  })

  test('that cannot be read is no proof, and no trouble', async () => {
    const failing = () => Promise.reject(new Error('EACCES'))
    expect(await checkEvidence(finding('blocker', { quote: 'return rows', path: 'a.ts:1' }), 'blocker', seenOf(SHOWN), failing))
      .toMatchObject({ kind: 'lowered' })
  })

  test('may hold one part of a quote, and what was shown the other', async () => {
    expect(await isFound('Never touch b.txt … fs.writeFile(\'b.txt\', rows)', SHOWN, 'await fs.writeFile(\'b.txt\', rows)')).toBe(true)
  })
})

describe('a quote stands there', () => {
  test.each<[string, string, string]>([
    ['as it is', 'npm error code ELIFECYCLE', SHOWN],
    ['inside a line', 'touch b.txt, it is', SHOWN],
    ['over several lines', 'expected 3 rows,   got 2\nnpm error code', SHOWN],
    ['with other white space', 'expected 3 rows, got 2 npm\terror code', SHOWN],
    ['without the spaces around signs', 'rows=text.split', 'const rows = text.split(x)'],
    ['with a line break of its own', 'Never touch\nb.txt', SHOWN],
    ['with the line ends of Windows', 'first line\r\nsecond line', 'first line\nsecond line'],
    ['in a text with the line ends of Windows', 'first line\nsecond line', 'first line\r\nsecond line'],
    ['indented by tabs', '\tif (a) {\n\t\treturn null\n\t}', 'if (a) {\n  return null\n}'],
    ['without the sign that stands for a line break', 'npm test\necho done', SHOWN],
    ['with straight marks for curly ones', 'it is Anna\'s', SHOWN],
    ['in quotation marks', '"npm error code ELIFECYCLE"', SHOWN],
    ['in backticks', '`npm error code ELIFECYCLE`', SHOWN],
    ['in Chinese marks', '「文件已被覆盖，无法恢复」', '警告：文件已被覆盖，无法恢复。'],
    ['in a fence', '```ts\nreturn rows.slice(0, -1)\n```', NUMBERED],
    ['with markdown escapes', 'return \\_rows\\[0\\]', 'return _rows[0]'],
    ['with a line break spelled out', 'first line\\nsecond line', 'first line\nsecond line'],
    ['with XML escapes', 'if (a &lt; b &amp;&amp; c)', 'if (a < b && c)'],
    ['in a text that was escaped for us', 'if (a < b && c)', 'if (a &lt; b &amp;&amp; c)'],
    ['in a text that is escaped twice', 'say &lt;b&gt;hello', 'say &amp;lt;b&amp;gt;hello'],
    ['in another form of the same letters', 'le re\u0301sume\u0301 est faux', 'le r\u00e9sum\u00e9 est faux'],
    ['without characters that no eye sees', 'expected three rows', 'expected\u200b three\u00ad rows'],
    ['without the colours of a terminal', 'FAIL parse.test.ts', '\u001b[31mFAIL\u001b[0m parse.test.ts'],
    ['wrapped in Chinese', '测试没有通过就提交了', '测试没有\n通过就提交了'],
    ['with a placeholder for a secret', 'TOKEN=[secret 3: github]', 'export TOKEN=[secret 3: github]'],
  ])('%s', async (_name, quote, shown) => {
    expect(await isFound(quote, shown)).toBe(true)
  })

  const PLAIN = 'export function parseRows(text: string) {\n  const rows = text.split(\'\\n\')\n  return rows.slice(0, -1)\n}'

  test.each<[string, (line: string, index: number) => string]>([
    ['read', (line, index) => `${index + 10}: ${line}`], ['grep', (line, index) => `Line ${index + 10}: ${line}`],
    ['an editor', (line, index) => `${String(index + 10).padStart(6)}  ${line}`], ['cat -n', (line, index) => `${String(index + 10).padStart(6)}\t${line}`],
    ['a listing with bars', (line, index) => `${String(index + 10).padStart(5, '0')}| ${line}`], ['a listing with arrows', (line, index) => `  ${index + 10}→${line}`],
    ['grep -n', (line, index) => `src/parse.ts:${index + 10}:${line}`], ['a diff', line => `+${line}`], ['a quotation', line => `> ${line}`],
  ])('with and without what %s puts before each line', async (_tool, number) => {
    const numbered = PLAIN.split('\n').map(number).join('\n')
    expect(await isFound(PLAIN, numbered)).toBe(true)
    expect(await isFound(numbered, numbered)).toBe(true)
    expect(await isFound(numbered, '', PLAIN)).toBe(true)
    expect(await isFound(PLAIN.replace('parseRows', 'parseLines'), numbered)).toBe(false)
  })

  test.each(['…', '...', '[…]', '[...]', '(...)'])('in parts with %s between them', async (gap) => {
    expect(await isFound(`Never touch b.txt ${gap} npm error code`, SHOWN)).toBe(true)
    expect(await isFound(`Never touch b.txt ${gap} npm error text`, SHOWN)).toBe(false)
    expect(await isFound(`Never touch b.txt ${gap} exit 1`, SHOWN)).toBe(false)
    expect(await isFound(`npm error code ELIFE${gap}`, SHOWN)).toBe(true)
  })

  test('with an ellipsis of its own', async () => {
    expect(await isFound('call(...args, …rest)', 'return call(...args, …rest)')).toBe(true)
  })
})

describe('a quote does not stand there', () => {
  test.each<[string, string, string]>([
    ['in other words', 'never touch the file b.txt', SHOWN],
    ['in other letters', 'never touch b.txt', SHOWN],
    ['with a word left out', 'npm code ELIFECYCLE', SHOWN],
    ['when words are run together', 'npmerrorcode', SHOWN],
    ['in a text that was never shown', 'exit 137', SHOWN],
    ['as a bracket', '});', 'foo(() => {\n});'],
    ['as brackets and a line number', '120: })', 'Line 120: })'],
    ['as a common word', 'the', 'the row is lost'],
    ['as two common words', 'in it', 'what is in it is lost'],
    ['as our own mark', '[tool result]', SHOWN],
    ['as our own heading', '## step 1.2', SHOWN],
    ['as a path and a line alone', 'src/a.ts:12:', 'src/a.ts:12:const a = 1'],
    ['as nothing', ' ', SHOWN],
    ['as quotation marks', '""', 'a = ""'],
    ['as an ellipsis', '…', 'a … b'],
  ])('%s', async (_name, quote, shown) => {
    expect(await isFound(quote, shown)).toBe(false)
  })

  test('across a place where we cut', async () => {
    const cut = `the first half\n${omission(812)}\nthe second half`
    for (const quote of [cut, 'the first half the second half', `half\n${omission(812)}\nthe second`, omission(812)]) expect(await isFound(quote, cut)).toBe(false)
    for (const quote of ['the first half', 'the second half', 'the first half … the second half']) expect(await isFound(quote, cut)).toBe(true)
  })

  test('across a place where a tool cut', async () => {
    const cut = '10: const table = [1, 2… [cut: 9,000 characters in this line]\n11: export default table\n[cut: lines 12-400 are not shown; read on with offset 12]'
    expect(await isFound('const table = [1, 2 export default', cut)).toBe(false)
    expect(await isFound('[cut: lines 12-400 are not shown; read on with offset 12]', cut)).toBe(false)
    expect(await isFound('export default table', cut)).toBe(true)
  })
})

describe('a short quote', () => {
  test.each(['exit 1', 'EOF', 'a.ts', 'run()', 'rm -rf', 'v2.1', '404'])('%j counts where it stands as whole words', async (quote) => {
    expect(await isFound(quote, `first\n${quote}, then more`)).toBe(true)
    expect(await isFound(quote, `first${quote}2 then more`)).toBe(false)
  })

  test('in Chinese is short at half the length', async () => {
    expect(await isFound('测试失败', '单元测试失败了')).toBe(true)
    expect(await isFound('测试', '测试失败了')).toBe(false)
  })
})

describe('what the reviewer wrote itself', () => {
  const NOTE = 'src/parse.ts drops the last row of every table'

  test('is no evidence when its notes are shown to it again', async () => {
    const pinned = {
      cwd: '/shop', task: 'Fix the parser.', latest: 'And its tests, please.', instructions: ['Use tabs, not spaces.'],
      notes: [{ text: NOTE, severity: 'concern' as const, fate: 'delivered at step 1.1' }, { text: `Again: ${NOTE}`, severity: 'nit' as const, fate: 'dismissed' }],
      muted: ['the changelog entries'], planRules: undefined,
    }
    const [head = ''] = renderHead(pinned, [])
    expect(head).toContain(NOTE)
    expect(await isFound(NOTE, head)).toBe(false)
    for (const quote of ['Fix the parser.', 'And its tests, please.', 'Use tabs, not spaces.', 'the changelog entries']) expect(await isFound(quote, head), quote).toBe(true)
  })

  test('is no evidence when it is asked about waiting notes', async () => {
    const asked = renderReconfirm([{ id: 1, text: NOTE, severity: 'nit', age: 3 }, { id: 2, text: `Again: ${NOTE}`, severity: 'nit', age: 4 }])
    expect(asked).toContain(NOTE)
    expect(await isFound(NOTE, asked)).toBe(false)
  })

  test.each([
    `[the user dismissed your note: ${NOTE}\nand its second line]\n[do not give it again, in any words]`,
    `[Recorded as a concern: its quote does not stand in what you were shown or have read, nor in \`${NOTE}\` as it is now.]`,
  ])('is no evidence in the remark %j', async (remark) => {
    expect(await isFound(NOTE, remark)).toBe(false)
    expect(await isFound('and its second line', remark)).toBe(false)
  })

  test('counts when somebody else says it too', async () => {
    expect(await isFound(NOTE, `**agent:** It is true that ${NOTE}.`)).toBe(true)
  })
})

describe('what is remembered', () => {
  test('is bounded, and the oldest goes', () => {
    const seen = new Seen(10_000)
    for (let step = 0; step < 2_000; step += 1) seen.add(`step number ${step} ran\n${step}: ${'text '.repeat(20)}`)
    expect(seen.size).toBeLessThanOrEqual(10_000)
    expect(seen.size).toBeGreaterThan(5_000)
    expect(seen.has('step number 1999 ran')).toBe(true)
    expect(seen.has('step number 3 ran')).toBe(false)
  })

  test('holds the end of a text that is larger than the whole', () => {
    const seen = new Seen(1_000)
    seen.add(`the first line\n${'filler '.repeat(2_000)}\nthe last line`)
    expect(seen.size).toBeLessThanOrEqual(1_000)
    expect([seen.has('the last line'), seen.has('the first line')]).toEqual([true, false])
  })

  test('is not joined from one text to the next', () => {
    expect(seenOf('the first half', 'the second half').has('half the second')).toBe(false)
  })

  test('holds which invisible characters were shown', () => {
    const seen = seenOf('a\u202eb\u001b[31m')
    expect([seen.has('\u202e'), seen.has('\u001b'), seen.has('\u2066'), seen.has('\u202e\u2066'), seen.has('')]).toEqual([true, true, false, false, false])
  })
})

test.each<[string, string]>([
  ['spaces', ' '.repeat(100_000)], ['digits', '1'.repeat(100_000)], ['one letter', 'a'.repeat(100_000)], ['entities', '&amp;'.repeat(20_000)],
  ['escapes', '\u001b]'.repeat(50_000)], ['line breaks', '\n'.repeat(100_000)], ['prefixes', '1: '.repeat(33_000)], ['cuts', '[cut: '.repeat(20_000)],
])('100 kB of %s are taken and searched without a long wait', async (_name, text) => {
  const started = performance.now()
  const seen = seenOf(text)
  await checkEvidence(finding('blocker', text.slice(0, 1_000)), 'blocker', seen, NO_FILE)
  expect(performance.now() - started).toBeLessThan(1_000)
})
