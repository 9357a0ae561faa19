import { describe, expect, test } from 'vitest'
import { OMITTED, renderDelta, type Stretch } from '../../src/observe/delta.ts'
import type { Entry } from '../../src/observe/entry.ts'
import { WORKING } from '../../src/observe/markdown.ts'

const OPTIONS = { cwd: undefined, includeReasoning: false }
const LIMITS = { maxDeltaMessages: 60, maxDeltaChars: 48_000 }

const said = (text: string): Entry => ({ kind: 'agent', seq: 0, text, reasoning: '', interrupted: false })
const silent = said('')

function stretch(step: number, entries: readonly Entry[], final = false): Stretch {
  return { turn: 1, step, final, entries }
}

function render(stretches: readonly Stretch[], limits: Partial<typeof LIMITS> = {}): string[] {
  return renderDelta(stretches, { ...LIMITS, ...limits }, OPTIONS).map(({ text }) => text)
}

/** Characters over all messages of a delta. */
const size = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0)

test('one message for each entry, a heading above each stretch, a marker at the end while the agent is at work', () => {
  const texts = render([stretch(1, [said('a'), said('b')]), stretch(2, [said('c')])])
  expect(texts).toEqual(['## step 1.1\n**agent:** a', '**agent:** b', `## step 1.2\n**agent:** c\n${WORKING}`])
})

test('the newest stretch decides on the marker', () => {
  expect(render([stretch(1, [said('a')]), stretch(2, [said('b')], true)]).join()).not.toContain(WORKING)
  expect(render([stretch(1, [said('a')], true), stretch(2, [said('b')])]).at(-1)).toContain(WORKING)
  const ended: Entry = { kind: 'end', seq: 0, reason: { kind: 'blocked' } }
  expect(render([stretch(1, [said('a'), ended])]).join()).not.toContain(WORKING)
  expect(render([stretch(1, [said('a')], true), stretch(2, [])]).join()).not.toContain(WORKING)
})

test.each([[[]], [[stretch(1, [])]], [[stretch(1, [silent])]], [[stretch(1, []), stretch(2, [silent, silent])]]])(
  'nothing worth showing is no text: %j', (stretches) => {
    expect(render(stretches)).toEqual([])
  })

test('what shows nothing takes no heading', () => {
  expect(render([stretch(1, [silent]), stretch(2, [silent, said('a')], true)])).toEqual(['## step 1.2\n**agent:** a'])
})

describe('too many messages', () => {
  const many = [stretch(1, Array.from({ length: 100 }, (_, index) => said(`m${index}`)), true)]

  test('leave the newest after a mark', () => {
    const texts = render(many)
    expect(texts).toHaveLength(60)
    expect(texts[0]).toBe(`${OMITTED}\n## step 1.1\n**agent:** m40`)
    expect(texts.at(-1)).toBe('**agent:** m99')
  })

  test('as many as allowed are no cut', () => {
    expect(render(many, { maxDeltaMessages: 100 }).join()).not.toContain(OMITTED)
    expect(render(many, { maxDeltaMessages: 99 })[0]).toBe(`${OMITTED}\n## step 1.1\n**agent:** m1`)
  })

  test('may be one alone', () => {
    expect(render(many, { maxDeltaMessages: 1 })).toEqual([`${OMITTED}\n## step 1.1\n**agent:** m99`])
  })

  test('are all shown when the number is not bounded', () => {
    expect(render(many, { maxDeltaMessages: 0 })).toHaveLength(100)
  })

  test('across stretches the newest are kept too', () => {
    const texts = render([stretch(1, [said('a'), said('b')]), stretch(2, [said('c')], true)], { maxDeltaMessages: 2 })
    expect(texts).toEqual([`${OMITTED}\n## step 1.1\n**agent:** b`, '## step 1.2\n**agent:** c'])
  })
})

describe('too many characters', () => {
  test('one message of five million leaves a delta within its size, head and tail kept', () => {
    const text = `START${'x'.repeat(5_000_000)}END`
    for (const maxDeltaChars of [1_000, 2_000, 48_000]) {
      const texts = render([stretch(1, [said(text)])], { maxDeltaChars })
      expect(size(texts)).toBeLessThanOrEqual(maxDeltaChars)
      expect(texts.join()).toMatch(/^## step 1\.1\n\*\*agent:\*\* START/)
      expect(texts.join()).toContain('END')
      expect(texts.join().endsWith(WORKING)).toBe(true)
    }
  })

  test.each([1_000, 1_001, 1_357, 5_000, 48_000])('no mix of messages exceeds %i characters, whatever stands in them', (maxDeltaChars) => {
    for (const unit of ['x', '😀', 'x😀', 'word\n', '→ \n', '**user:** x\n', '[working]\n']) {
      for (const length of [1, 10, 100, 333, 900, 1_000, 3_000, 20_000]) {
        for (const final of [true, false]) {
          const entries = Array.from({ length: 30 }, () => said(unit.repeat(length)))
          const texts = render([stretch(1, entries), stretch(2, entries, final)], { maxDeltaChars })
          expect(size(texts), `${unit} × ${length}`).toBeLessThanOrEqual(maxDeltaChars)
          expect(texts.every(text => text.isWellFormed())).toBe(true)
        }
      }
    }
  })

  test('the newest are kept whole, and the rest is announced', () => {
    const entries = [said('old'.repeat(300)), said('older'.repeat(100)), said('newest')]
    const texts = render([stretch(1, entries, true)], { maxDeltaChars: 1_000 })
    expect(texts[0]).toMatch(new RegExp(`^${OMITTED.replace('…', '.')}\\n`))
    expect(texts.at(-1)).toBe('**agent:** newest')
    expect(texts.join()).not.toContain('oldold')
  })

  test('the newest is shown, cut, even when it alone is too long', () => {
    const texts = render([stretch(1, [said('old'), said('n'.repeat(6_000))], true)], { maxDeltaChars: 1_000 })
    expect(texts).toHaveLength(1)
    expect(texts[0]).toMatch(/^… <earlier messages omitted>\n## step 1\.1\n\*\*agent:\*\* n+\n\[… \d+ characters left out for you; the agent saw them …\]\nn+$/)
  })
})

describe('the framing of one step', () => {
  const utf8 = (text: string): number => Buffer.byteLength(text)

  test.each([['read', 'src/a.ts'], ['bash', 'npm test'], ['mcp__files__list', 'packages/core/agent-loop/src/index.ts']])(
    'around a call of %s stays under 60 bytes', (name, argument) => {
      const output = 'line one\nline two'
      const entry: Entry = { kind: 'tool', seq: 0, name, args: JSON.stringify({ path: argument }), outcome: 'ok', output, diffs: [] }
      for (const [turn, step] of [[1, 1], [100, 100]] as const) {
        const [shown] = renderDelta([{ turn, step, final: false, entries: [silent, entry] }], LIMITS, OPTIONS)
        expect(shown!.text).toContain(WORKING)
        expect(utf8(shown!.text) - utf8(name) - utf8(argument) - utf8(output)).toBeLessThan(60)
      }
    })

  test('around an answer too', () => {
    const [text] = render([stretch(100, [said('Done.')], true)])
    expect(utf8(text!) - utf8('Done.')).toBeLessThan(60)
  })
})
