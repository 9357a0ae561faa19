// One process can switch the advisor on, off, or to another model, without touching a file.
// A flag is not possible: the host's headless command refuses options it does not know.

import { truncate } from '../text.ts'
import type { ConfigSource } from './resolve.ts'

/** Name of the environment variable: `on`, `off` or `provider/model[:effort]`. */
export const ENVIRONMENT_KEY = 'DSH_ADVISOR'

/** Lay the environment's wish over the composed configuration. An unset or empty variable changes nothing. */
export function withEnvironment(source: ConfigSource, wish: string | undefined): ConfigSource {
  const word = wish?.trim() ?? ''
  if (word === '' || source.kind === 'invalid') return source
  const { value } = source
  switch (word.toLowerCase()) {
    case 'on': case '1': case 'true': return { kind: 'value', value: { ...value, enabled: true } }
    case 'off': case '0': case 'false': return { kind: 'value', value: { ...value, enabled: false } }
  }
  const selector = parseSelector(word)
  if (selector === undefined) {
    return { kind: 'invalid', value, reason: `${ENVIRONMENT_KEY}: expected on, off or provider/model[:effort] but got "${truncate(word, 80)}"` }
  }
  return { kind: 'value', value: { ...value, enabled: true, ...selector } }
}

/** Read `provider/model[:effort]`; a model id may itself hold slashes. */
export function parseSelector(text: string): { provider: string, model: string, effort?: string } | undefined {
  const match = /^([^/\s]+)\/([^\s:]+)(?::([^\s:]+))?$/.exec(text)
  if (match?.[1] === undefined || match[2] === undefined) return undefined
  return { provider: match[1], model: match[2], ...match[3] === undefined ? {} : { effort: match[3] } }
}
