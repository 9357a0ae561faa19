import { describe, expect, test } from 'vitest'
import { CallId, createAssistantMessage, createToolResultMessage } from '@deepseek-ai/dsh-llm'
import { toMessages } from '../../src/review/conversation.ts'
import {
  contextBound, fitText, messageTokens, planUpkeep, replyRoom, textTokens, UPKEEP_STEPS, type Sizes, type UpkeepStep,
} from '../../src/review/upkeep.ts'

const SIZES: Sizes = { next: 10_000, bound: 48_000, rebuilt: 4_000, reread: 0 }
const OVER = { ...SIZES, next: 48_001 }
/** So much was read again that a rebuild would have been cheaper. */
const DEAR = { ...SIZES, reread: 10_000_000 }

const plan = (sizes: Sizes, tried: readonly UpkeepStep[] = [], possible: readonly UpkeepStep[] = UPKEEP_STEPS) => planUpkeep(sizes, new Set(tried), possible)

/** The steps that are taken when none of them helps. */
function steps(sizes: Sizes, possible?: readonly UpkeepStep[], helps: (step: UpkeepStep) => Sizes = () => sizes): UpkeepStep[] {
  const tried: UpkeepStep[] = []
  for (let now = sizes; ;) {
    const { kind } = plan(now, tried, possible)
    if (kind === 'none') return tried
    tried.push(kind)
    now = helps(kind)
  }
}

describe('a conversation that fits', () => {
  test.each([0, 1, 47_999, 48_000])('of %i tokens is left alone', (next) => {
    expect(plan({ ...SIZES, next })).toEqual({ kind: 'none' })
  })

  test('is left alone when no bound is known', () => {
    expect(plan({ ...SIZES, next: 10_000_000, bound: Infinity })).toEqual({ kind: 'none' })
  })
})

describe('a conversation over its bound', () => {
  test('is made smaller in the order of the steps, each taken once, and then goes as it is', () => {
    expect(steps(OVER)).toEqual(['drop-results', 'promote', 'summarise', 'clear'])
  })

  test('says why', () => {
    expect(plan(OVER)).toEqual({ kind: 'drop-results', reason: 'over the bound' })
  })

  test.each<[readonly UpkeepStep[]]>([[['drop-results', 'summarise', 'clear']], [['drop-results', 'promote', 'clear']], [['drop-results', 'clear']]])(
    'takes of the steps only those that can be taken: %j', (possible) => {
      expect(steps(OVER, possible)).toEqual(possible)
    })

  test.each([[48_001, true], [40_000, true], [33_601, true], [33_600, false], [10_000, false]])(
    'that a step left at %i tokens is worked on further: %j', (next, goesOn) => {
      expect(plan({ ...SIZES, next }, ['drop-results']).kind).toBe(goesOn ? 'promote' : 'none')
    })

  test('is not worked on again at once: what a step leaves has room to grow', () => {
    const after = 33_600
    expect(steps(OVER, UPKEEP_STEPS, () => ({ ...SIZES, next: after }))).toEqual(['drop-results'])
    expect(plan({ ...SIZES, next: after + 5_000 })).toEqual({ kind: 'none' })
  })

  test('stops as soon as a larger model takes it', () => {
    expect(steps(OVER, UPKEEP_STEPS, step => step === 'promote' ? { ...OVER, bound: 200_000 } : OVER)).toEqual(['drop-results', 'promote'])
  })
})

describe('a conversation that is dear to re-read', () => {
  test('is summarised, and nothing else', () => {
    expect(plan(DEAR)).toEqual({ kind: 'summarise', reason: 'dearer to re-read than to rebuild' })
    expect(steps(DEAR)).toEqual(['summarise'])
  })

  test.each([40_000, 48_000])('of %i tokens is neither cleared nor given to another model when the summary fails', (next) => {
    expect(steps({ ...DEAR, next })).toEqual(['summarise'])
  })

  test('is left alone when there is nothing to summarise', () => {
    expect(plan(DEAR, [], ['drop-results', 'clear'])).toEqual({ kind: 'none' })
  })

  test('that is over its bound too is made smaller like any other', () => {
    expect(plan({ ...OVER, reread: DEAR.reread })).toMatchObject({ kind: 'drop-results', reason: 'over the bound' })
  })

  test('and that a batch has taken over its bound meanwhile still has every other step', () => {
    expect(plan(OVER, ['summarise']).kind).toBe('drop-results')
    expect(plan(OVER, ['summarise', 'drop-results', 'promote']).kind).toBe('clear')
  })

  test('is one when re-reading has cost several times as much as a rebuild, and not before', () => {
    const dear = (reread: number) => plan({ ...SIZES, reread }).kind === 'summarise'
    const turn = Array.from({ length: 2_000 }, (_, index) => index * 1_000).find(dear)
    // A rebuild costs 4,800 for the summary, 4,000 for what comes after and 1,000 for what is read before it.
    expect(turn).toBeGreaterThan(9_800 / 0.1)
    expect(turn).toBeLessThan(10 * 9_800 / 0.1)
  })
})

describe('what a request may hold', () => {
  test.each([
    [48_000, undefined, 48_000], [48_000, 1_000_000, 48_000], [2_000_000, undefined, 2_000_000],
    [48_000, 32_000, 21_600], [48_000, 16_000, 10_800], [48_000, 8_000, 5_400], [8_000, 32_000, 8_000], [Infinity, 200_000, 172_627],
  ])('of %j configured tokens and a window of %j is %i', (maxContextTokens, window, bound) => {
    expect(contextBound({ maxContextTokens }, window, replyRoom(window, 8_192))).toBe(bound)
  })

  test.each([undefined, 2_000, 8_192, 16_000, 32_000, 64_000, 128_000, 1_000_000])('with the reply it always fits a window of %j', (window) => {
    const reply = replyRoom(window, 8_192)
    expect(contextBound({ maxContextTokens: 2_000_000 }, window, reply) + reply).toBeLessThan(window ?? Infinity)
  })

  test.each([[undefined, 8_192], [1_000_000, 8_192], [32_768, 8_192], [32_000, 8_000], [8_000, 2_000], [1_000, 250]])(
    'a window of %j leaves %i tokens for a reply', (window, room) => {
      expect(replyRoom(window, 8_192)).toBe(room)
    })
})

describe('tokens of a text', () => {
  test.each([
    ['', 0], ['a', 1], ['abcd', 1], ['abcde', 2], ['x'.repeat(4_000), 1_000], ['é'.repeat(400), 100], ['→ …', 1],
    ['中', 1], ['中文字符', 4], ['測試'.repeat(500), 800], ['かな'.repeat(50), 80], ['한글'.repeat(50), 80], ['abcd中', 2],
  ])('%j', (text, tokens) => {
    expect(textTokens(text)).toBe(tokens)
  })

  test('a text of a megabyte is counted in no time', () => {
    expect(textTokens('x'.repeat(1_000_000))).toBe(250_000)
  })
})

describe('tokens of messages', () => {
  test('count every block that is sent', () => {
    const id = CallId('c1')
    const reply = createAssistantMessage({
      source: { provider: 'p', model: 'm' },
      content: [
        { type: 'reasoning', text: 'x'.repeat(40) }, { type: 'text', text: 'x'.repeat(80) },
        { type: 'tool-call', id, name: 'read', arguments: 'x'.repeat(36) },
      ],
    })
    const result = createToolResultMessage({ callId: id, content: [{ type: 'text', text: 'x'.repeat(400) }], isError: false })
    const [text] = toMessages(['x'.repeat(4_000)])
    const own = messageTokens(toMessages(['']))
    expect(messageTokens([reply])).toBe(own + 10 + 20 + 1 + 9)
    expect(messageTokens([result])).toBe(own + 100)
    expect(messageTokens([reply, result, text!])).toBe(3 * own + 40 + 100 + 1_000)
  })

  test('of none are none', () => {
    expect(messageTokens([])).toBe(0)
  })

  test('are the same when they are counted again', () => {
    const messages = toMessages(['one', 'two'])
    expect(messageTokens(messages)).toBe(messageTokens(messages))
  })
})

describe('a text that has to fit', () => {
  test.each(['', 'short', 'x'.repeat(400)])('is left as it is when it does', (text) => {
    expect(fitText(text, 100)).toBe(text)
    expect(fitText(text, Infinity)).toBe(text)
  })

  test.each([['ASCII', 'x'.repeat(40_000)], ['CJK', '文'.repeat(40_000)]])('of %s is cut in its middle, and says so', (_script, text) => {
    const cut = fitText(`head ${text} tail`, 100)
    expect(textTokens(cut)).toBeLessThan(150)
    expect(cut).toMatch(/^head [\s\S]*\[cut: \d+ characters here, for want of room\][\s\S]* tail$/)
  })

  test.each([0, -5])('of which there is room for %i tokens, only the cut is left', (tokens) => {
    expect(fitText('x'.repeat(40_000), tokens).trim()).toBe('[cut: 40000 characters here, for want of room]')
  })
})
