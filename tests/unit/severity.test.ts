import { expect, test } from 'vitest'
import { clampSeverity, parseSeverity, rank, SEVERITIES } from '../../src/severity.ts'

test('severities are a closed set in rising order', () => {
  expect(SEVERITIES).toEqual(['nit', 'concern', 'blocker'])
  expect(SEVERITIES.map(rank)).toEqual([0, 1, 2])
})

test.each([
  ['nit', 'nit'], ['concern', 'concern'], ['blocker', 'blocker'],
  ['BLOCKER', 'blocker'], ['  Concern\n', 'concern'], ['\u00a0nit', 'nit'],
  ['critical', 'nit'], ['', 'nit'], ['block', 'nit'], ['nit concern', 'nit'],
  [undefined, 'nit'], [null, 'nit'], [2, 'nit'], [['blocker'], 'nit'], [{ severity: 'blocker' }, 'nit'], [true, 'nit'],
])('a model that wrote the severity %j means %s', (written, meant) => {
  expect(parseSeverity(written)).toBe(meant)
})

test('a ceiling lowers what lies above it and nothing else', () => {
  const clamped = SEVERITIES.map(ceiling => SEVERITIES.map(severity => clampSeverity(severity, ceiling)))
  expect(clamped).toEqual([
    ['nit', 'nit', 'nit'],
    ['nit', 'concern', 'concern'],
    ['nit', 'concern', 'blocker'],
  ])
})
