import { describe, expect, it } from 'vitest'
import { fitArguments, parseArguments, shapeOf, tellOf } from '../../src/review/tools/schemas.ts'

const SCHEMA = {
  name: 'read', description: 'long words of the host',
  parameters: {
    type: 'object',
    properties: { file_path: { type: 'string', description: 'more of them' }, offset: { type: 'number' }, extra: { type: 'boolean' } },
    required: ['file_path'],
  },
}

describe('what a model writes', () => {
  const cases: readonly [string, string][] = [
    ['{"file_path"', 'not valid JSON'],
    ['[]', 'a JSON object'],
    ['"a.ts"', 'a JSON object'],
    ['null', 'a JSON object'],
    ['7', 'a JSON object'],
  ]
  it.each(cases)('%s is refused: %s', (json, reason) => {
    expect(parseArguments(json)).toMatchObject({ kind: 'bad', reason: expect.stringContaining(reason) as string })
  })

  it('may be nothing at all', () => {
    expect(parseArguments('  ')).toEqual({ kind: 'arguments', value: {} })
  })
})

describe('arguments', () => {
  const cases: readonly [object, object][] = [
    [{ file_path: 'a', offset: 3 }, { kind: 'arguments', value: { file_path: 'a', offset: 3 } }],
    [{ file_path: 'a', offset: '3' }, { kind: 'arguments', value: { file_path: 'a', offset: 3 } }],
    [{ file_path: 'a', offset: null, other: 1 }, { kind: 'arguments', value: { file_path: 'a' } }],
    [{}, { kind: 'bad', reason: '`file_path` is missing' }],
    [{ file_path: 7 }, { kind: 'bad', reason: '`file_path` has to be a string' }],
    [{ file_path: ['a'] }, { kind: 'bad', reason: '`file_path` has to be a string' }],
    [{ file_path: 'a', offset: 'three' }, { kind: 'bad', reason: '`offset` has to be a number' }],
  ]
  it.each(cases)('%j become %j', (given, fitted) => {
    expect(fitArguments(given as Record<string, unknown>, shapeOf(SCHEMA))).toEqual(fitted)
  })
})

it('tells the model the parameters of the host in words of its own, also those it does not know', () => {
  expect(tellOf('read', SCHEMA)).toEqual({
    name: 'read', description: 'Read a text file.',
    parameters: {
      type: 'object',
      properties: { file_path: { type: 'string' }, offset: { type: 'number', description: 'first line, from 1' }, extra: { type: 'boolean' } },
      required: ['file_path'],
    },
  })
})
