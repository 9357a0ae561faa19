import { describe, expect, test } from 'vitest'
import { CallId } from '@deepseek-ai/dsh-llm'
import type { Finding } from '../../src/finding.ts'
import { Seen } from '../../src/review/evidence.ts'
import type { Verdict } from '../../src/review/reply.ts'
import { weigh, type Scales } from '../../src/review/weigh.ts'

const seen = new Seen()
seen.add('export function total(items) { return sum(items) }')

const SCALES: Scales = {
  policy: 'blocker', seen, hide: text => text.replace('hunter2', '[secret 1: password]'),
  readFile: async path => path === 'a.ts' ? 'const rate = computeTheRate(0.9)\nconst pass = "hunter2" // rotate me' : undefined,
}
const PROVED = { quote: 'function total(items)' }
const MADE_UP = { quote: 'function discount(items)' }
const NOTE = 'The sum in src/cart.ts leaves the discount out.'
const EMPTY_ADVICE = 'Please wait for the user before you go on.'

const finding = (more: Partial<Finding> = {}): Finding => ({ note: NOTE, severity: 'blocker', ...more })

/** A verdict as `advise` calls give it. */
function called(...findings: readonly Finding[]): Verdict {
  const calls = findings.map((said, index) => ({
    call: { type: 'tool-call' as const, id: CallId(`c${index}`), name: 'advise', arguments: '{}' }, answer: 'Recorded.', finding: said,
  }))
  return { kind: 'advice', findings, calls }
}
/** A verdict as the JSON frame gives it. */
const framed = (said: Finding): Verdict => ({ kind: 'advice', findings: [said], calls: [] })

test('silence weighs nothing', async () => {
  expect(await weigh({ kind: 'silent' }, SCALES)).toEqual({ findings: [], heard: [], remarks: [], refused: [] })
})

test('an unusable call keeps its answer', async () => {
  const calls = [{ call: { type: 'tool-call' as const, id: CallId('c'), name: 'advise', arguments: '{' }, answer: 'Not recorded.' }]
  expect(await weigh({ kind: 'no-verdict', reason: 'r', calls }, SCALES)).toEqual({ findings: [], heard: calls, remarks: [], refused: [] })
})

test('a finding whose quote is found goes on as it is', async () => {
  const said = finding({ evidence: PROVED })
  const verdict = called(said)
  const weighed = await weigh(verdict, SCALES)
  expect(weighed).toMatchObject({ findings: [said], remarks: [], refused: [] })
  expect(weighed.heard.map(({ answer }) => answer)).toEqual(['Recorded.'])
})

test('so does one whose quote stands in the file that it names', async () => {
  const said = finding({ evidence: { quote: 'computeTheRate(0.9)', path: 'a.ts' } })
  expect((await weigh(called(said), SCALES)).findings).toEqual([said])
})

describe('a finding without proof', () => {
  test.each([[undefined], [MADE_UP]])('quoting %j counts one step less, and the call is answered with why', async (evidence) => {
    const weighed = await weigh(called(finding(evidence === undefined ? {} : { evidence })), SCALES)
    expect(weighed.findings).toEqual([{ note: NOTE, severity: 'concern' }])
    expect(weighed.heard[0]!.answer).toMatch(/^Recorded as a concern: .+\.$/)
    expect(weighed.remarks).toEqual([])
  })

  test('in a frame is told with the next update instead', async () => {
    const weighed = await weigh(framed(finding({ evidence: MADE_UP })), SCALES)
    expect(weighed.findings).toMatchObject([{ severity: 'concern' }])
    expect(weighed.heard).toEqual([])
    expect(weighed.remarks).toEqual([expect.stringMatching(/^\[Recorded as a concern: .+\.\]$/)])
  })

  test.each([
    ['off', 'blocker', 'blocker'], ['blocker', 'blocker', 'concern'], ['blocker', 'concern', 'concern'],
    ['concern', 'concern', 'nit'], ['concern', 'nit', 'nit'],
  ] as const)('under the policy %s a %s goes on as a %s', async (policy, severity, weighs) => {
    expect((await weigh(called(finding({ severity })), { ...SCALES, policy })).findings).toMatchObject([{ severity: weighs }])
  })
})

describe('what is no advice', () => {
  test('is refused, and the call is answered all the same', async () => {
    const weighed = await weigh(called(finding({ note: EMPTY_ADVICE, severity: 'concern' })), SCALES)
    expect(weighed.findings).toEqual([])
    expect(weighed.heard.map(({ answer }) => answer)).toEqual(['Recorded.'])
    expect(weighed.refused).toEqual([expect.stringContaining(EMPTY_ADVICE)])
  })

  test('costs the findings beside it nothing', async () => {
    const weighed = await weigh(called(finding({ note: EMPTY_ADVICE }), finding({ evidence: PROVED }), finding({ evidence: MADE_UP })), SCALES)
    expect(weighed.findings.map(({ severity }) => severity)).toEqual(['blocker', 'concern'])
    expect(weighed.heard.map(({ answer }) => answer.split(':')[0])).toEqual(['Recorded.', 'Recorded.', 'Recorded as a concern'])
  })
})

test('an empty note that takes an older one back needs no proof', async () => {
  const said = finding({ note: '', replaces: 4 })
  const weighed = await weigh(called(said), { ...SCALES, policy: 'concern' })
  expect(weighed).toMatchObject({ findings: [said], refused: [], remarks: [] })
  expect(weighed.heard[0]!.answer).toBe('Recorded.')
})

test('a file that cannot be read proves nothing and breaks nothing', async () => {
  const said = finding({ evidence: { quote: 'computeTheRate(0.9)', path: 'b.ts' } })
  const weighed = await weigh(called(said), { ...SCALES, readFile: () => Promise.reject(new Error('EACCES')) })
  expect(weighed.findings).toMatchObject([{ severity: 'concern' }])
})

describe('a quote of a file that was not shown', () => {
  const quoting = (quote: string) => finding({ evidence: { quote, path: 'a.ts' } })

  test('may name a secret as it is shown', async () => {
    expect((await weigh(called(quoting('pass = "[secret 1: password]" // rotate me')), SCALES)).findings).toMatchObject([{ severity: 'blocker' }])
  })

  test('is no proof when it holds the secret itself: nobody showed it to the reviewer', async () => {
    expect((await weigh(called(quoting('pass = "hunter2" // rotate me')), SCALES)).findings).toMatchObject([{ severity: 'concern' }])
  })
})

describe('a reply with more notes than anybody can use', () => {
  const many = (path: (index: number) => string) => called(...Array.from({ length: 50 }, (_, index) => (
    finding({ note: `${NOTE} ${index}`, evidence: { quote: 'computeTheRate(0.9)', path: path(index) } })
  )))

  test('is heard up to a bound', async () => {
    const weighed = await weigh(many(() => 'a.ts'), SCALES)
    expect(weighed.findings).toHaveLength(8)
    expect(weighed.findings.every(({ severity }) => severity === 'blocker')).toBe(true)
    expect(weighed.refused).toHaveLength(42)
  })

  test('has each file read once, and few of them', async () => {
    const read: string[] = []
    const readFile = async (path: string) => {
      read.push(path)
      return 'const rate = computeTheRate(0.9)'
    }
    await weigh(many(index => `${index % 2}.ts`), { ...SCALES, readFile })
    expect(read).toEqual(['0.ts', '1.ts'])
    read.length = 0
    const weighed = await weigh(many(index => `${index}.ts`), { ...SCALES, readFile })
    expect(read).toEqual(['0.ts', '1.ts', '2.ts', '3.ts'])
    expect(weighed.findings.map(({ severity }) => severity)).toEqual([...Array(4).fill('blocker'), ...Array(4).fill('concern')])
  })
})
