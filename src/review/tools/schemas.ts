// What the reviewer's model is told of `read`, `grep` and `glob`: the host's parameters in few words of ours, for they are
// part of every request.

import type { ToolSchema } from '@deepseek-ai/dsh-llm'
import { isMapping } from '../../mapping.ts'
import type { Reading } from './registry.ts'

interface Told {
  readonly description: string
  /** By parameter; the rest explain themselves. */
  readonly parameters: Readonly<Record<string, string>>
}

const TOLD: Readonly<Record<Reading, Told>> = {
  read: {
    description: 'Read a text file.',
    parameters: { offset: 'first line, from 1', limit: 'lines' },
  },
  grep: {
    description: 'Search file contents, not of hidden, git-ignored or binary files unless `path` names them.',
    parameters: { pattern: 'regular expression (ripgrep)', path: 'file or folder', include: 'one glob, e.g. *.{ts,tsx}' },
  },
  glob: {
    description: 'Find files by path, hidden and ignored ones too.',
    parameters: { pattern: 'e.g. src/**/*.ts; without "/" it fits names at any depth', path: 'folder' },
  },
}

/** JSON types of a tool's parameters, by name. */
export interface Shape {
  readonly types: Readonly<Record<string, string>>
  readonly required: readonly string[]
}

/** The parameters of a host's tool. */
export function shapeOf(schema: ToolSchema): Shape {
  const { properties = {}, required = [] } = schema.parameters as { properties?: Record<string, { type?: unknown }>, required?: string[] }
  return { types: Object.fromEntries(Object.entries(properties).map(([name, { type }]) => [name, String(type)])), required }
}

/** The same bytes for the same tool, every time. */
export function tellOf(name: Reading, schema: ToolSchema): ToolSchema {
  const { types, required } = shapeOf(schema)
  const told = TOLD[name]
  const properties = Object.fromEntries(Object.entries(types).map(([parameter, type]) => {
    const description = told.parameters[parameter]
    return [parameter, description === undefined ? { type } : { type, description }]
  }))
  return { name, description: told.description, parameters: { type: 'object', properties, required: [...required] } }
}

export type Arguments =
  | { readonly kind: 'arguments', readonly value: Record<string, unknown> }
  | { readonly kind: 'bad', readonly reason: string }

/** What a model wrote as the arguments of a call. Nothing written is no arguments. */
export function parseArguments(json: string): Arguments {
  try {
    const value: unknown = json.trim() === '' ? {} : JSON.parse(json)
    if (isMapping(value)) return { kind: 'arguments', value }
  } catch {
    return { kind: 'bad', reason: 'the arguments are not valid JSON' }
  }
  return { kind: 'bad', reason: 'the arguments have to be a JSON object' }
}

/** Bring arguments into the shape of a tool: what it does not know is left out, `null` is absent, "10" is a number where one is due. */
export function fitArguments(value: Readonly<Record<string, unknown>>, { types, required }: Shape): Arguments {
  const fitted: Record<string, unknown> = {}
  for (const [name, type] of Object.entries(types)) {
    const given = value[name]
    if (given === undefined || given === null) {
      if (required.includes(name)) return { kind: 'bad', reason: `\`${name}\` is missing` }
      continue
    }
    const taken = type === 'number' && typeof given === 'string' && /^\d+$/.test(given.trim()) ? Number(given) : given
    if (typeof taken !== type) return { kind: 'bad', reason: `\`${name}\` has to be a ${type}` }
    fitted[name] = taken
  }
  return { kind: 'arguments', value: fitted }
}
