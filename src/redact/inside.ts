// Goes through a JSON-like value. A key, a command's option or a pair's name may tell that the text beside it is a secret.

import { announces, type NameKind } from './names.ts'
import { isSecretValue } from './values.ts'

/** What a text becomes; `kind` is what it is as a whole, when its name says so. */
export type Replace = (text: string, kind: string | undefined) => string

const DEEPEST = 200

/** The same value comes back when nothing in it was replaced. */
export function replaceInside(value: unknown, replace: Replace, name?: string, depth = 0): unknown {
  if (typeof value === 'string') return replace(value, kindOf(value, name))
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) return '[too deep to be read]'
  if (Array.isArray(value)) {
    const inner = value.map((item, index) => replaceInside(item, replace, optionName(value[index - 1]) ?? name, depth + 1))
    return inner.every((item, index) => item === value[index]) ? value : inner
  }
  const entries = Object.entries(value)
  const pair = pairName(value)
  const inner = entries.map(([key, item]): [string, unknown] => (
    [replace(key, undefined), replaceInside(item, replace, key === 'value' ? pair ?? key : key, depth + 1)]
  ))
  return inner.every(([key, item], index) => key === entries[index]![0] && item === entries[index]![1]) ? value : Object.fromEntries(inner)
}

function kindOf(text: string, name: string | undefined): string | undefined {
  const kind: NameKind | undefined = name === undefined ? undefined : announces(name)
  if (kind === undefined || !isSecretValue(text, kind, 'quoted', { isClear: true, isLine: false })) return undefined
  return kind === 'weak' ? 'key' : kind
}

/** `--token`, and then the token. */
function optionName(before: unknown): string | undefined {
  return typeof before === 'string' && /^--?[a-z][\w-]*$/i.test(before) ? before : undefined
}

/** `{ name: 'API_TOKEN', value: … }`. */
function pairName(value: object): string | undefined {
  const { name, key } = value as { name?: unknown, key?: unknown }
  return typeof name === 'string' ? name : typeof key === 'string' ? key : undefined
}
