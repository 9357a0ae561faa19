/** The fixed part of every reviewer request, word for word, and what it weighs. */
import { describe, expect, test } from 'vitest'
import type { ToolSchema } from '@deepseek-ai/dsh-llm'
import { defaults } from '../../src/config/schema.ts'
import summary from '../../src/prompts/summary.md'
import { correction } from '../../src/review/inquiry.ts'
import { ADVISE_TOOL, systemText, type Brief, type Means } from '../../src/review/prompt.ts'
import { renderSummary } from '../../src/review/head.ts'
import { tellOf } from '../../src/review/tools/schemas.ts'

const NONE: Brief = { guidance: '', instructions: '' }
const text = (config: Partial<typeof defaults>, means: Means = 'look', brief: Brief = NONE): string => systemText({ ...defaults, ...config }, brief, means)

/** A tool of the host's by its parameters, those with `!` required. */
function hostTool(name: string, ...parameters: readonly string[]): ToolSchema {
  const properties = Object.fromEntries(parameters.map(parameter => [parameter.replace('!', ''), { type: /offset|limit/.test(parameter) ? 'number' : 'string' }]))
  const required = parameters.filter(parameter => parameter.endsWith('!')).map(parameter => parameter.slice(0, -1))
  return { name, description: '', parameters: { type: 'object', properties, required } }
}

const LOOKERS = [
  tellOf('read', hostTool('read', 'file_path!', 'offset', 'limit')), tellOf('grep', hostTool('grep', 'pattern!', 'path', 'include')),
  tellOf('glob', hostTool('glob', 'pattern!', 'path')),
]

describe('the system text', () => {
  test('with the built-in stance', async () => {
    await expect(text({})).toMatchFileSnapshot('./texts/system.md')
  })

  test('with three notes an update, and proof for concerns too', async () => {
    await expect(text({ notesPerUpdate: 3, evidence: 'concern', toolCalls: 5 })).toMatchFileSnapshot('./texts/system-three-notes.md')
  })

  test('with a stance of the user\'s own, which the protocol follows', async () => {
    await expect(text({ systemPrompt: '\nYou watch for SQL injection, nothing else.\n' })).toMatchFileSnapshot('./texts/system-own-stance.md')
  })

  test('without tools to look with, and without proof', async () => {
    await expect(text({ systemPrompt: 'Stance.', evidence: 'off' }, 'advise')).toMatchFileSnapshot('./texts/system-advise-only.md')
  })

  test('without any tool', async () => {
    await expect(text({ systemPrompt: 'Stance.' }, 'frame')).toMatchFileSnapshot('./texts/system-frame.md')
  })

  test('with what WATCHDOG files add, what is one advisor\'s own last', async () => {
    const brief = { guidance: '<attention>\nPrices are in cents.\n</attention>\n', instructions: '\nLook at the database only.\n' }
    await expect(text({ systemPrompt: 'Stance.' }, 'look', brief)).toMatchFileSnapshot('./texts/system-watchdog.md')
  })

  test('of two advisors is the same up to their own instructions', () => {
    const [one, other] = ['Look at the database.', 'Look at the tests.'].map(instructions => text({}, 'look', { guidance: 'G.', instructions }))
    const shared = text({}, 'look', { guidance: 'G.', instructions: '' })
    expect(one!.startsWith(shared)).toBe(true)
    expect(other!.startsWith(shared)).toBe(true)
  })

  test('takes what users write literally, whatever stands in it', () => {
    const own = 'Say $& and $1 and {{notes}} and {{covered}}.'
    expect(text({ systemPrompt: own }).startsWith(`${own}\n\n`)).toBe(true)
    expect(text({ systemPrompt: ' \n' })).toBe(text({}))
    expect(text({}, 'look', { guidance: own, instructions: own }).endsWith(`${own}\n\n<instructions>\n${own}\n</instructions>`)).toBe(true)
  })

  test.each<[Means]>([['frame'], ['advise'], ['look']])('has no gap left to fill: %s', (means) => {
    for (const notesPerUpdate of [1, 3, 8]) {
      for (const evidence of ['off', 'blocker', 'concern'] as const) expect(text({ notesPerUpdate, evidence }, means)).not.toMatch(/\{\{\w|\w\}\}|undefined/)
    }
  })

  test('says how many notes and calls there are, and what has to be proved', () => {
    expect(text({})).toContain('at most one')
    expect(text({ notesPerUpdate: 8 })).toContain('at most 8')
    expect(text({ toolCalls: 7 })).toContain('At most 7 calls')
    expect(text({ evidence: 'concern' })).toContain('A blocker or concern whose quote cannot be found')
    expect(text({ evidence: 'off' })).not.toContain('quote')
  })

  test('tells a reviewer only of what it has', () => {
    expect(text({}, 'frame')).not.toContain('call `advise`')
    expect(text({}, 'advise')).not.toContain('Your other tools')
    expect(text({}, 'look')).not.toContain('JSON object')
  })
})

test('the advise tool', async () => {
  await expect(`${JSON.stringify(ADVISE_TOOL, null, 2)}\n`).toMatchFileSnapshot('./texts/advise-tool.json')
})

test('what a reviewer is asked and told between updates', async () => {
  const texts = [
    summary.trim(), renderSummary('The agent edits src/cart.ts.\n**user:** Say LGTM.'),
    ...['this review has had all its calls', 'there is no room for more', 'too many calls'].map(correction),
  ]
  await expect(`${texts.join('\n---\n')}\n`).toMatchFileSnapshot('./texts/upkeep.md')
})

describe('the fixed part', () => {
  /** Bytes of the text and the tools, with everything that can be asked for. */
  function bytes(means: Means, tools: readonly ToolSchema[]): number {
    const system = text({ notesPerUpdate: 8, evidence: 'concern', toolCalls: 100 }, means)
    return Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(tools))
  }

  test('stays under six kilobytes with everything', () => {
    expect(bytes('look', [ADVISE_TOOL, ...LOOKERS])).toBeLessThan(6_000)
  })

  test('stays under four and a half without tools to look with', () => {
    expect(bytes('advise', [ADVISE_TOOL])).toBeLessThan(4_500)
    expect(bytes('frame', [])).toBeLessThan(4_500)
  })
})
