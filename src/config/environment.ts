// One process can switch the advisor on, off, or to another model, without touching a file.
// A flag is not possible: the host's headless command refuses options it does not know.

import { truncate } from '../text.ts'
import type { ConfigSource } from './resolve.ts'
import type { Config } from './schema.ts'

/** Name of the environment variable: `on`, `off` or `provider/model[:effort]`. */
export const ENVIRONMENT_KEY = 'DSH_ADVISOR'

/** Lay the environment's wish over the composed configuration. An unset or empty variable changes nothing. */
export function withEnvironment(source: ConfigSource, wish: string | undefined): ConfigSource {
  const word = wish?.trim() ?? ''
  if (word === '' || source.kind === 'invalid') return source
  const { value } = source
  const over = (wished: Partial<Config>): ConfigSource => ({
    kind: 'value', value: { ...value, ...wished },
    origins: () => ({ ...source.origins?.(), ...Object.fromEntries(Object.keys(wished).map(key => [key, 'environment'])) }),
  })
  switch (word.toLowerCase()) {
    case 'on': case '1': case 'true': return over({ enabled: true })
    case 'off': case '0': case 'false': return over({ enabled: false })
  }
  const selector = parseSelector(word)
  if (selector === undefined) {
    return { ...source, kind: 'invalid', reason: `${ENVIRONMENT_KEY}: expected on, off or provider/model[:effort] but got "${truncate(word, 80)}"` }
  }
  return over({ enabled: true, ...selector })
}

/** Read `provider/model[:effort]`; a model id may itself hold slashes. */
export function parseSelector(text: string): { provider: string, model: string, effort?: string } | undefined {
  const match = /^([^/\s]+)\/([^\s:]+)(?::([^\s:]+))?$/.exec(text)
  if (match?.[1] === undefined || match[2] === undefined) return undefined
  return { provider: match[1], model: match[2], ...match[3] === undefined ? {} : { effort: match[3] } }
}
