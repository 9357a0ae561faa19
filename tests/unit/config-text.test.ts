/** `/advisor config`: every value that counts, and where it comes from. */
import { expect, test } from 'vitest'
import type { ConfigSource } from '../../src/config/resolve.ts'
import { defaults } from '../../src/config/schema.ts'
import type { Advisor, Roster } from '../../src/roster/advisor.ts'
import { UNNAMED } from '../../src/roster/merge.ts'
import { configText, type Composed } from '../../src/surface/config-text.ts'

const SOURCE: ConfigSource = {
  kind: 'value',
  value: { ...defaults, enabled: true, provider: 'openai', model: 'x', reviewEvery: 2, redactPatterns: ['hunter\\d', 'swordfish'] },
  origins: () => ({ enabled: 'environment', provider: 'row', model: 'settings', reviewEvery: 'settings', redactPatterns: 'settings' }),
}
const NO_FILES: Roster = { advisors: [UNNAMED], guidance: '', trouble: [], requests: [], files: [] }

function text(over: Partial<Composed> = {}): string {
  return configText({ source: SOURCE, override: undefined, roster: NO_FILES, sizes: new Map(), whyOff: () => undefined, ...over })
}

/** The line of a key below a heading. */
function line(shown: string, key: string, heading = 'Settings:'): string | undefined {
  return shown.slice(shown.indexOf(heading)).split('\n').find(one => one.startsWith(`  ${key}: `))?.trim()
}

test('every key stands there once, with its value and the layer that it comes from', () => {
  const shown = text()
  const settings = shown.split('\n').filter(one => one.startsWith('  '))
  expect(settings.map(one => one.trim().split(':')[0])).toEqual(Object.keys(defaults))
  expect(settings.every(one => /\((?:default|row|settings|environment)\)$/.test(one))).toBe(true)
  expect(line(shown, 'enabled')).toBe('enabled: true (environment)')
  expect(line(shown, 'provider')).toBe('provider: openai (row)')
  expect(line(shown, 'reviewEvery')).toBe('reviewEvery: 2 (settings)')
  expect(line(shown, 'tools')).toBe('tools: read, grep, glob (default)')
  expect(line(shown, 'systemPrompt')).toBe('systemPrompt: none (default)')
  expect(shown).toMatch(/\nAdvisors: one, as in the settings\nWATCHDOG files: none$/)
})

test('the session\'s own wish stands above all layers', () => {
  expect(line(text({ override: 'off' }), 'enabled')).toBe('enabled: false (this session)')
  expect(line(text({ override: 'on' }), 'enabled')).toBe('enabled: true (this session)')
})

test('patterns of secrets are counted and not shown', () => {
  expect(line(text(), 'redactPatterns')).toBe('redactPatterns: 2 of them (settings)')
  expect(text()).not.toContain('hunter')
})

test('a long text is one short line', () => {
  const source: ConfigSource = { ...SOURCE, value: { ...SOURCE.value, systemPrompt: `one\ntwo ${'x'.repeat(5000)}\u001b[31m` } }
  expect(line(text({ source }), 'systemPrompt')).toMatch(/^systemPrompt: one two x{100,}… \(default\)$/)
})

test('settings that are not valid say so first', () => {
  expect(text({ source: { ...SOURCE, kind: 'invalid', reason: 'settings.yaml, section `advisor`: no' } }))
    .toMatch(/^Not valid, so nothing runs: settings\.yaml, section `advisor`: no\nSettings:\n/)
})

const LAYERS: Advisor = {
  slug: 'layers', name: 'Layers', enabled: true, agents: ['main'], instructions: 'No\ncycles.', file: '/r/WATCHDOG.yml',
  overlay: { provider: 'openai', model: 'y', effort: 'high', tools: ['read', 'grep', 'glob'], notesPerUpdate: 3 },
}
const TESTS: Advisor = { slug: 'tests', name: 'Tests', enabled: false, agents: undefined, instructions: '', file: '/h/WATCHDOG.yml', overlay: { tools: [] } }

const ROSTER: Roster = {
  advisors: [LAYERS, TESTS], guidance: '', trouble: ['WATCHDOG.yml:7:5: advisor 3 skipped: no'], requests: [],
  files: [
    { path: '/h/WATCHDOG.yml', label: '~/.dsh/WATCHDOG.yml', kind: 'roster', scope: 'user', state: 'read', advisors: ['tests'], trust: 'not needed' },
    { path: '/r/WATCHDOG.md', label: 'WATCHDOG.md', kind: 'guidance', scope: 'project', state: 'read', advisors: [], trust: 'not needed' },
    { path: '/r/WATCHDOG.yml', label: 'WATCHDOG.yml', kind: 'roster', scope: 'project', state: 'read', advisors: ['layers'], trust: 'missing' },
    { path: '/r/a/WATCHDOG.yml', label: 'a/WATCHDOG.yml', kind: 'roster', scope: 'project', state: 'skipped', advisors: [], trust: 'not needed' },
  ],
}

test('each advisor of a roster has its effective values, each with its file or the layer below', () => {
  const shown = text({ roster: ROSTER, whyOff: advisor => advisor.enabled ? undefined : '`enabled` is false' })
  const layers = 'Advisor "Layers" (layers), of WATCHDOG.yml:'
  expect(shown).toContain(`\n${layers}\n`)
  expect(line(shown, 'agents', layers)).toBe('agents: main (WATCHDOG.yml)')
  expect(line(shown, 'model', layers)).toBe('model: y (WATCHDOG.yml)')
  expect(line(shown, 'tools', layers)).toBe('tools: read, grep, glob (default)')
  expect(line(shown, 'reviewEvery', layers)).toBe('reviewEvery: 2 (settings)')
  expect(line(shown, 'reviewAt', layers)).toBe('reviewAt: step (default)')
  expect(line(shown, 'notesPerUpdate', layers)).toBe('notesPerUpdate: 3 (WATCHDOG.yml)')
  expect(line(shown, 'instructions', layers)).toBe('instructions: No cycles. (WATCHDOG.yml)')
  const tests = 'Advisor "Tests" (tests), of ~/.dsh/WATCHDOG.yml, off: `enabled` is false:'
  expect(line(shown, 'model', tests)).toBe('model: x (settings)')
  expect(line(shown, 'tools', tests)).toBe('tools: none (~/.dsh/WATCHDOG.yml)')
})

test('every file is named with its size, what it gives and whether it is trusted, and trouble stands at the end', () => {
  const sizes = new Map([['/r/WATCHDOG.md', 1234], ['/r/WATCHDOG.yml', 999]])
  expect(text({ roster: ROSTER, sizes }).split('WATCHDOG files:\n')[1]).toBe([
    '  ~/.dsh/WATCHDOG.yml: advisors: tests',
    '  WATCHDOG.md: 1.2 kB, guidance',
    '  WATCHDOG.yml: 999 B, advisors: layers, not trusted: `/advisor trust`',
    '  a/WATCHDOG.yml: skipped',
    'Trouble:',
    '  WATCHDOG.yml:7:5: advisor 3 skipped: no',
  ].join('\n'))
})
