import { expect, test } from 'vitest'
import { ENVIRONMENT_KEY, parseSelector, withEnvironment } from '../../src/config/environment.ts'
import type { ConfigSource } from '../../src/config/resolve.ts'
import { defaults } from '../../src/config/schema.ts'

const BASE = { ...defaults, provider: 'p', model: 'm', effort: 'low' }
const source = (enabled: boolean): ConfigSource => ({ kind: 'value', value: { ...BASE, enabled } })

test.each([[undefined], [''], ['  ']])('%j changes nothing', (wish) => {
  expect(withEnvironment(source(false), wish)).toEqual(source(false))
  expect(withEnvironment(source(true), wish)).toEqual(source(true))
})

test.each(['on', 'ON', ' on ', '1', 'true'])('%j switches on', (wish) => {
  expect(withEnvironment(source(false), wish)).toMatchObject(source(true))
})

test.each(['off', 'Off', '0', 'false'])('%j switches off', (wish) => {
  expect(withEnvironment(source(true), wish)).toMatchObject(source(false))
})

test.each([
  ['q/n', { provider: 'q', model: 'n' }],
  ['q/n:high', { provider: 'q', model: 'n', effort: 'high' }],
  ['router/vendor/n', { provider: 'router', model: 'vendor/n' }],
  [' q/n ', { provider: 'q', model: 'n' }],
])('%j names a model and switches on', (wish, expected) => {
  expect(withEnvironment(source(false), wish)).toMatchObject({ kind: 'value', value: { ...BASE, enabled: true, ...expected } })
})

test.each(['yes', 'q/', '/n', 'q n', 'q/n:', 'q/n m'])('%j is refused by name and value', (wish) => {
  const result = withEnvironment(source(false), wish)
  expect(result).toMatchObject({ kind: 'invalid', value: BASE })
  expect(result.kind === 'invalid' && result.reason).toContain(ENVIRONMENT_KEY)
  expect(result.kind === 'invalid' && result.reason).toContain(wish)
})

test('what it decides is known to come from it, what it does not from where it came before', () => {
  const settings: ConfigSource = { ...source(false), origins: () => ({ effort: 'settings', enabled: 'row' }) }
  expect(withEnvironment(settings, 'on').origins?.()).toEqual({ effort: 'settings', enabled: 'environment' })
  expect(withEnvironment(settings, 'q/n').origins?.()).toEqual({ effort: 'settings', enabled: 'environment', provider: 'environment', model: 'environment' })
  expect(withEnvironment(settings, 'yes').origins?.()).toEqual({ effort: 'settings', enabled: 'row' })
})

test('an invalid user layer stays invalid, whatever the environment says', () => {
  const broken: ConfigSource = { kind: 'invalid', reason: 'wrong', value: BASE }
  for (const wish of ['on', 'off', 'q/n']) expect(withEnvironment(broken, wish)).toBe(broken)
})

test('a selector is provider, model and perhaps effort', () => {
  expect(parseSelector('a/b/c:d')).toEqual({ provider: 'a', model: 'b/c', effort: 'd' })
  expect(parseSelector('a')).toBeUndefined()
})
