/** The READMEs say what the product says: its texts word for word, its keys with their defaults in its order, its prices. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { AdvisorConfig } from '../../src/config/resolve.ts'
import { Config, defaults } from '../../src/config/schema.ts'
import { advisoryText } from '../../src/deliver/message.ts'
import summary from '../../src/prompts/summary.md'
import { priceOf } from '../../src/record/prices.ts'
import { ADVISE_TOOL, systemText } from '../../src/review/prompt.ts'
import type { ReviewerState } from '../../src/review/reviewer.ts'
import { tellOf } from '../../src/review/tools/schemas.ts'
import { ENTRY_KEYS } from '../../src/roster/entry.ts'
import { parseRoster } from '../../src/roster/parse.ts'

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const golden = (name: string) => read(`tests/golden/texts/${name}`)
const flat = (text: string) => text.replace(/\s+/g, ' ').trim()

/** A default in the words of a configuration file. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(', ')}]`
  if (typeof value === 'object') return JSON.stringify(value)
  return value === '' ? '\'\'' : String(value)
}

/** Every word that a status may begin with. */
const STATES: Record<Exclude<AdvisorConfig['kind'], 'ready'> | ReviewerState['kind'], true> = {
  running: true, failing: true, quota_exhausted: true, budget_exhausted: true, halted: true, no_model: true, disabled: true, off: true,
}

/** Monday, in the peak hours of the list. */
const PEAK = Date.UTC(2026, 9, 19, 7)

describe.each(['README.md', 'README.zh.md'])('%s', (name) => {
  const readme = read(name)
  const text = flat(readme)

  test('shows the texts that the models read', () => {
    const none = { guidance: '', instructions: '' }
    const frame = systemText({ ...defaults, evidence: 'off', systemPrompt: 'x' }, none, 'frame').split('\n\n').at(-1)
    for (const said of [systemText(defaults, none, 'look'), frame ?? '', summary]) expect(text).toContain(flat(said))
    expect(text).toContain(advisoryText({ text: '', severity: 'concern', advisors: [] }, 0).split('\n')[0])
    expect(text).toContain(flat(golden('advisory-merged.md').split('--- source')[0]!))
  })

  test('shows what a reviewer is shown', () => {
    expect(text).toContain(flat(golden('head-after-reset.md')))
    expect(text).toContain(flat(golden('reconfirm.md')))
    const [first, , third] = golden('delta-step-by-step.md').split('\n\n=== message 1\n')
    for (const message of `${first}\n${third}`.split(/=== message \d+\n/)) expect(text).toContain(flat(message))
  })

  test('shows the tools that a reviewer has', () => {
    const blocks = [...readme.matchAll(/```json\n([^]*?)\n```/g)].map(([, json]) => JSON.parse(json!) as unknown)
    expect(blocks).toContainEqual(ADVISE_TOOL)
    for (const tool of ['read', 'grep', 'glob'] as const) expect(text).toContain(tellOf(tool, { name: tool, description: '', parameters: {} }).description)
  })

  test('lists every key with its default, in order', () => {
    const rows = [...readme.matchAll(/^\| `(\w+)` \| `([^`]*)` \|/gm)].filter(([, key]) => Object.hasOwn(defaults, key!)).map(([, key, value]) => [key, value])
    expect(rows).toEqual(Object.entries(defaults).map(([key, value]) => [key, shown(value)]))
  })

  test('lists every key of an advisor\'s entry, in order', () => {
    const [, table = ''] = /\n\n(\| [^\n]+\n\| --- \| --- \|\n\| `name`[^]*?)\n\n/.exec(readme) ?? []
    const keys = table.split('\n').slice(2).flatMap(row => [...row.split('|')[1]!.matchAll(/`(\w+)`/g)].map(([, key]) => key))
    expect(keys).toEqual(ENTRY_KEYS)
  })

  test('gives examples that are accepted as they stand', () => {
    const examples = [...readme.matchAll(/```yaml\n([^]*?)\n```/g)].map(([, yaml]) => yaml!)
    const settings = examples.filter(yaml => yaml.startsWith('advisor:')).map(yaml => (parse(yaml) as { advisor: never }).advisor)
    expect(settings.map(section => Object.keys(Config(section)))).toEqual([Object.keys(defaults), Object.keys(defaults)])
    const rosters = examples.filter(yaml => /^advisors:/m.test(yaml)).map(parseRoster)
    expect(rosters).toMatchObject([{ kind: 'roster', entries: [{ slug: 'security' }, { slug: 'tests' }, { slug: 'style' }], bad: 0, remarks: [] }])
  })

  test('has a row for every state', () => {
    for (const state of Object.keys(STATES)) expect(readme).toMatch(new RegExp(`^\\| \`${state}\` \\|`, 'm'))
  })

  test.each(['deepseek-v4-pro', 'deepseek-v4-flash', 'deepseek-v4-flash-vision-exp', 'deepseek-flash'])('has the price of %s', (model) => {
    const price = priceOf(`deepseek-official/${model}`, {}, PEAK)
    const row = readme.split('\n').find(line => line.startsWith('| `deepseek-') && line.includes(`\`${model}\``))
    expect(row?.split('|').slice(2, 5).map(Number)).toEqual([price?.input, price?.cacheRead, price?.output])
  })
})
