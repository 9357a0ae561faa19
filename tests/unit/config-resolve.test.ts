import { describe, expect, test } from 'vitest'
import { configOf, resolveAdvisorConfig, type ConfigSource, type KnownAdvisors, type Override } from '../../src/config/resolve.ts'
import { defaults, type Config } from '../../src/config/schema.ts'

const MODEL = { provider: 'p', model: 'm' }

function value(config: Partial<Config>): ConfigSource {
  return { kind: 'value', value: { ...defaults, ...config } }
}

function invalid(config: Partial<Config>): ConfigSource {
  return { kind: 'invalid', reason: 'settings.yaml is wrong', value: { ...defaults, ...config } }
}

const OFF = '`enabled` is false'
const SWITCHED_OFF = 'switched off in this session'
const NO_BOTH = 'no model: set `provider` and `model`'
const NO_PROVIDER = 'no model: set `provider`'
const NO_MODEL = 'no model: set `model`'
const WRONG = 'settings.yaml is wrong'

/** For each source what it comes to without an override, with `on` and with `off`; a missing reason means ready. */
const TABLE: [string, ConfigSource, string | undefined, string | undefined, string][] = [
  ['nothing set', value({}), OFF, NO_BOTH, SWITCHED_OFF],
  ['a model, not enabled', value(MODEL), OFF, undefined, SWITCHED_OFF],
  ['enabled with a model', value({ enabled: true, ...MODEL }), undefined, undefined, SWITCHED_OFF],
  ['enabled alone', value({ enabled: true }), NO_BOTH, NO_BOTH, SWITCHED_OFF],
  ['no provider', value({ enabled: true, model: 'm' }), NO_PROVIDER, NO_PROVIDER, SWITCHED_OFF],
  ['no model', value({ enabled: true, provider: 'p' }), NO_MODEL, NO_MODEL, SWITCHED_OFF],
  ['blank provider', value({ enabled: true, provider: ' \t', model: 'm' }), NO_PROVIDER, NO_PROVIDER, SWITCHED_OFF],
  ['blank model', value({ enabled: true, provider: 'p', model: '\n ' }), NO_MODEL, NO_MODEL, SWITCHED_OFF],
  ['both blank', value({ enabled: true, provider: ' ', model: ' ' }), NO_BOTH, NO_BOTH, SWITCHED_OFF],
  ['an invalid user layer over a row that is off', invalid({}), WRONG, WRONG, SWITCHED_OFF],
  ['an invalid user layer over a row that is on', invalid({ enabled: true, ...MODEL }), WRONG, WRONG, SWITCHED_OFF],
]

describe.each(TABLE)('%s', (_, source, plain, on, off) => {
  test.each<[string, Override | undefined, string | undefined]>([
    ['without an override', undefined, plain], ['switched on', 'on', on], ['switched off', 'off', off],
  ])('%s', (_name, override, reason) => {
    const resolved = resolveAdvisorConfig(source, override)
    if (reason === undefined) expect(resolved.kind).toBe('ready')
    else expect(resolved).toMatchObject({ kind: reason === OFF || reason === SWITCHED_OFF ? 'off' : 'disabled', reason })
  })
})

const own = { provider: 'q', model: 'n' }

test.each<[string, Partial<Config>, KnownAdvisors, string | undefined]>([
  ['an advisor with a model of its own needs none of the settings', {}, [{ enabled: true, overlay: own }], undefined],
  ['one advisor with a model is enough', {}, [{ enabled: true, overlay: {} }, { enabled: true, overlay: own }], undefined],
  ['advisors without a model have that of the settings', MODEL, [{ enabled: true, overlay: {} }], undefined],
  ['no model anywhere', {}, [{ enabled: true, overlay: {} }, { enabled: true, overlay: { effort: 'high' } }], NO_BOTH],
  ['a model of an advisor that is off does not count', {}, [{ enabled: false, overlay: own }, { enabled: true, overlay: {} }], NO_BOTH],
  ['all advisors off: a file may switch one on again', {}, [{ enabled: false, overlay: {} }], undefined],
  ['files that have not been looked at may name a model', {}, 'unread', undefined],
])('%s', (_name, config, advisors, reason) => {
  const resolved = resolveAdvisorConfig(value({ enabled: true, ...config }), undefined, advisors)
  if (reason === undefined) expect(resolved.kind).toBe('ready')
  else expect(resolved).toMatchObject({ kind: 'disabled', reason })
  expect(resolveAdvisorConfig(value(config), undefined, advisors)).toMatchObject({ kind: 'off', reason: OFF })
  expect(resolveAdvisorConfig(invalid(config), undefined, advisors)).toMatchObject({ kind: 'disabled', reason: WRONG })
})

test('an advisor\'s configuration is the session\'s with what its entry sets', () => {
  const config = { ...defaults, ...MODEL, notesPerUpdate: 2 }
  expect(configOf(config, { overlay: { model: 'n', tools: [] } })).toEqual({ ...config, model: 'n', tools: [] })
})

test('what is resolved is the whole configuration, with the names of the model trimmed', () => {
  const source = value({ enabled: true, provider: ' p ', model: '\tm\n', systemPrompt: ' kept ', notesPerUpdate: 4 })
  const { config } = resolveAdvisorConfig(source)
  expect(config).toEqual({ ...defaults, enabled: true, provider: 'p', model: 'm', systemPrompt: ' kept ', notesPerUpdate: 4 })
})

test('the configuration is given in every state, so that a status can show it', () => {
  for (const override of [undefined, 'on', 'off'] as const) {
    for (const source of [value(MODEL), invalid(MODEL)]) {
      expect(resolveAdvisorConfig(source, override).config).toEqual({ ...defaults, ...MODEL })
    }
  }
})

test('the layers themselves are not touched', () => {
  const source = value({ provider: ' p ' })
  resolveAdvisorConfig(source, 'on')
  expect(source.value.provider).toBe(' p ')
})
