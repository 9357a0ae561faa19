import { describe, expect, test } from 'vitest'
import { Config, defaults } from '../../src/config/schema.ts'

/** Parse what a user wrote. */
const parse = (written: unknown): Config => Config(written as never)

/** What the parser says of something it refuses. */
function refusal(written: unknown): string {
  try {
    parse(written)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error(`accepted: ${JSON.stringify(written)}`)
}

test('every key has its documented default', () => {
  const documented = {
    enabled: false, provider: '', model: '', effort: 'low', systemPrompt: '', reviewAt: 'step', reviewEvery: 1, immuneTurns: 3,
    maxDeltaMessages: 60, maxDeltaChars: 48_000, includeReasoning: false, syncBacklog: 'off',
    tools: ['read', 'grep', 'glob'], toolCalls: 12, notesPerUpdate: 1, maxSeverity: 'blocker', evidence: 'blocker', reconfirmAfter: 3,
    subagents: false, redact: true, redactPatterns: [], maxContextTokens: 48_000, longContextModel: '', trustedWorkspaces: [],
    fallbacks: [], prices: {}, budget: {}, timeout: 90, reopen: 1, drain: 600,
  }
  expect(defaults).toMatchObject(documented)
  expect(parse({})).toEqual(defaults)
})

test('a missing row is the defaults, and so is an empty one', () => {
  expect(parse(undefined)).toEqual(defaults)
  expect(parse(null)).toEqual(defaults)
})

/** Whole numbers: the key, its least and its greatest value. */
const WHOLE = [
  ['reviewEvery', 1, 1000], ['immuneTurns', 0, 1000], ['maxDeltaMessages', 0, 10_000], ['maxDeltaChars', 1_000, 1_000_000],
  ['toolCalls', 1, 100], ['notesPerUpdate', 1, 8], ['maxContextTokens', 8_000, 2_000_000], ['reconfirmAfter', 0, 1000], ['timeout', 1, 3600], ['reopen', 0, 5], ['drain', 0, 3600],
] as const

describe.each(WHOLE)('%s', (key, min, max) => {
  test.each([min, max])(`takes %i`, (value) => {
    expect(parse({ [key]: value })[key]).toBe(value)
  })

  test.each([min - 1, max + 1, min + 0.5, Number.NaN, Infinity, String(min), true, [min], {}, 'many'])('refuses %j by name', (value) => {
    expect(refusal({ [key]: value })).toContain(key)
  })
})

describe.each(['provider', 'model', 'effort', 'systemPrompt'] as const)('%s', (key) => {
  test('takes any text', () => {
    for (const value of ['', 'x', ' padded ', '提供者/模型:high', 'a\nb']) expect(parse({ [key]: value })[key]).toBe(value)
  })

  test.each([1, true, ['a'], {}])('refuses %j by name', (value) => {
    expect(refusal({ [key]: value })).toContain(key)
  })
})

describe.each(['enabled', 'includeReasoning', 'redact'] as const)('%s', (key) => {
  test('takes true and false', () => {
    for (const value of [true, false]) expect(parse({ [key]: value })[key]).toBe(value)
  })

  test.each(['true', 'on', 1, 0, [], {}])('refuses %j by name', (value) => {
    expect(refusal({ [key]: value })).toContain(key)
  })
})

/** Closed sets. */
const CHOICES = [
  ['reviewAt', ['step', 'mutation', 'turn'], ['never', 'Step', '', 1, true]],
  ['evidence', ['off', 'blocker', 'concern'], ['nit', 'all', 'Blocker', '', false, true]],
  ['maxSeverity', ['nit', 'concern', 'blocker'], ['critical', 'Blocker', '', 2, true]],
  ['syncBacklog', ['off', 1, 3, 5, '1', '3', '5'], [0, 2, 4, 6, '2', 'on', true, '', 1.5]],
  ['subagents', [true, false, [], ['explore'], ['explore', 'plan']], ['all', 1, [1], [true], { explore: true }]],
] as const

describe.each(CHOICES)('%s', (key, allowed, refused) => {
  test.each(allowed.map(value => [value]))('takes %j', (value) => {
    expect(parse({ [key]: value })[key]).toEqual(value)
  })

  test.each(refused.map(value => [value]))('refuses %j by name', (value) => {
    expect(refusal({ [key]: value })).toContain(key)
  })
})

/** Lists of texts: the key, and a list that fits. */
const LISTS = [
  ['fallbacks', ['p/m', ' q/n:high ', 'openrouter/vendor/large:low']], ['tools', ['read', 'bash', 'mcp__db__query']], ['redactPatterns', ['ACME-\\d+', '(?i)customer-[a-z0-9]{4}']], ['trustedWorkspaces', ['/work/shop', 'C:\\shop']],
] as const

describe.each(LISTS)('%s', (key, list) => {
  test('takes a list of texts, and an empty one', () => {
    expect(parse({ [key]: list })[key]).toEqual(list)
    expect(parse({ [key]: [] })[key]).toEqual([])
  })

  test.each(['read', true, 1, {}, [1], [['read']], ['read', {}]].map(value => [value]))('refuses %j by name', (value) => {
    expect(refusal({ [key]: value })).toContain(key)
  })
})

describe('longContextModel', () => {
  test.each(['', '  ', 'p/m', 'p/m:high', ' p/m ', 'openrouter/vendor/large:low'])('takes %j', (value) => {
    expect(parse({ longContextModel: value }).longContextModel).toBe(value)
  })

  test.each(['m', 'p/', '/m', 'p/m:', 'p /m', 'p/m low', 'x'.repeat(500)])('refuses %j with its name, its value and what is allowed', (value) => {
    const message = refusal({ longContextModel: value })
    expect(message).toContain('longContextModel')
    expect(message).toContain(JSON.stringify(value).slice(0, 40))
    expect(message).toContain('provider/model[:effort]')
    expect(message.length).toBeLessThan(300)
  })

  test.each([[1], [true], [['p/m']], [{}]])('refuses %j by name', (value) => {
    expect(refusal({ longContextModel: value })).toContain('longContextModel')
  })
})

test.each(['', ' ', 'm', 'p/', '/m', 'p/m:', 'p /m', 'p/m low', 'x'.repeat(500)])('fallbacks refuses the selector %j with its place, its value and what is allowed', (selector) => {
  const message = refusal({ fallbacks: ['p/m', selector] })
  expect(message).toContain('fallbacks[1]')
  expect(message).toContain(`expected provider/model[:effort] but got ${JSON.stringify(selector).slice(0, 40)}`)
  expect(message.length).toBeLessThan(300)
})

describe('prices', () => {
  const PRICE = { input: 0.3, output: 1.2, currency: 'USD' }

  test.each<[object, object]>([
    [{}, {}],
    [{ 'p/m': { input: 0.3, output: 1.2 } }, { 'p/m': PRICE }],
    [{ 'openrouter/a/b:c': { input: 0, output: 1_000_000, cacheRead: 0, cacheWrite: 2.5, currency: 'CNY' } }, {
      'openrouter/a/b:c': { input: 0, output: 1_000_000, cacheRead: 0, cacheWrite: 2.5, currency: 'CNY' },
    }],
  ])('takes %j', (prices, read) => {
    expect(parse({ prices }).prices).toEqual(read)
  })

  test.each<[unknown, string]>([
    [{ m: PRICE }, 'm'], [{ 'p/': PRICE }, 'p/'], [{ 'p /m': PRICE }, 'p /m'], [{ '': PRICE }, 'prices'],
    [{ 'p/m': {} }, 'input'], [{ 'p/m': { input: 1 } }, 'output'], [{ 'p/m': { ...PRICE, input: -1 } }, 'input'], [{ 'p/m': { ...PRICE, output: '1' } }, 'output'],
    [{ 'p/m': { ...PRICE, cacheRead: Number.NaN } }, 'cacheRead'], [{ 'p/m': { ...PRICE, cacheWrite: Infinity } }, 'cacheWrite'],
    [{ 'p/m': { ...PRICE, input: 1_000_001 } }, 'input'], [{ 'p/m': { ...PRICE, currency: 'usd' } }, 'currency'], [{ 'p/m': { ...PRICE, currency: '$' } }, 'currency'],
    [{ 'p/m': { ...PRICE, cached: 1 } }, 'unknown key "cached"; allowed: input, output, cacheRead, cacheWrite, currency'],
    [{ 'p/m': null }, 'p/m'], [{ 'p/m': 3 }, 'p/m'], [[PRICE], 'prices'], ['p/m', 'prices'], [3, 'prices'],
  ])('refuses %j by name', (prices, name) => {
    const message = refusal({ prices })
    expect(message).toContain('prices')
    expect(message).toContain(name)
  })
})

describe('budget', () => {
  test.each([{}, { tokens: 1 }, { tokens: 1e12 }, { cost: 0.000_001 }, { tokens: 5_000_000, cost: 2.5 }])('takes %j', (budget) => {
    expect(parse({ budget }).budget).toEqual(budget)
  })

  test.each<[unknown, string]>([
    [{ tokens: 0 }, 'tokens'], [{ tokens: -1 }, 'tokens'], [{ tokens: 1.5 }, 'tokens'], [{ tokens: '100' }, 'tokens'], [{ tokens: Number.NaN }, 'tokens'],
    [{ cost: 0 }, 'cost'], [{ cost: -1 }, 'cost'], [{ cost: Infinity }, 'cost'], [{ cost: Number.NaN }, 'cost'], [{ cost: '1 USD' }, 'cost'],
    [{ token: 1 }, 'unknown key "token"; allowed: tokens, cost'], [100, 'budget'], ['100', 'budget'], [[100], 'budget'], [true, 'budget'],
  ])('refuses %j by name', (budget, name) => {
    const message = refusal({ budget })
    expect(message).toContain('budget')
    expect(message).toContain(name)
  })
})

test.each(['(', '[a', 'a{2,1}', '', ' ', 'x*', '(a+)+', 'x'.repeat(2_000)])('redactPatterns refuses the expression %j with its place, its value and why', (pattern) => {
  const message = refusal({ redactPatterns: ['fine', pattern] })
  expect(message).toContain('redactPatterns[1]')
  expect(message).toContain(JSON.stringify(pattern).slice(0, 40))
  expect(message).toMatch(/expected a regular expression .+: .+/)
  expect(message.length).toBeLessThan(400)
})

describe('an unknown key', () => {
  test.each([
    ['reviewEvry', 3, '3'], ['Enabled', true, 'true'], ['api_key', 'secret', '"secret"'], ['__proto__', 1, '1'], ['constructor', 1, '1'],
    ['nested', { enabled: true }, '{"enabled":true}'], ['', null, 'null'],
  ])('%j is refused with its name, its value and what is allowed', (key, value, shown) => {
    const row = JSON.parse(`{"enabled": true, ${JSON.stringify(key)}: ${JSON.stringify(value)}}`) as unknown
    const message = refusal(row)
    expect(message).toContain(`"${key}"`)
    expect(message).toContain(shown)
    for (const allowed of Object.keys(defaults)) expect(message).toContain(allowed)
  })

  test('is refused also when its value is missing', () => {
    expect(refusal({ reviewEvry: undefined })).toContain('"reviewEvry"')
  })
})

test.each([[5], ['on'], [true], [['enabled']], [[]], [() => {}]])('what is no mapping at all is refused: %o', (written) => {
  expect(() => parse(written)).toThrow()
})

test('what passes does not change the written object and keeps nothing that is not a key', () => {
  const written = Object.freeze({ enabled: true, provider: 'p', model: 'm' })
  expect(Object.keys(parse(written)).toSorted()).toEqual(Object.keys(defaults).toSorted())
})

test('a second pass changes nothing', () => {
  const once = parse({ enabled: true, provider: 'p', model: 'm', syncBacklog: '3', subagents: ['explore'] })
  expect(parse(once)).toEqual(once)
})

describe('as a Standard Schema', () => {
  const { validate } = (Config as unknown as { '~standard': { validate(value: unknown): unknown } })['~standard']

  test('it gives the value with its defaults', () => {
    expect(validate({ enabled: true })).toMatchObject({ value: { ...defaults, enabled: true } })
  })

  test.each([
    [{ reviewEvry: 1 }, 'reviewEvry'], [{ reviewEvery: 0 }, 'reviewEvery'], [{ provider: 1 }, 'provider'], [{ timeout: 0.5 }, 'timeout'],
    [{ longContextModel: 'm' }, 'longContextModel'], [{ fallbacks: ['m'] }, 'fallbacks'], [{ redactPatterns: ['('] }, 'redactPatterns'],
  ])('it gives issues instead of a throw for %j', (written, key) => {
    const { issues } = validate(written) as { issues: readonly { message: string, path?: readonly unknown[] }[] }
    expect(issues.length).toBeGreaterThan(0)
    expect(JSON.stringify(issues)).toContain(key)
  })
})
