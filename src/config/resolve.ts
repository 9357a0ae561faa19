// The single source of truth for what the advisor may do: every reader, from the runtime to a status line, asks here.

import type { Config } from './schema.ts'

/** What the layers of configuration said: a value, or why there is none. */
export type ConfigSource =
  | { readonly kind: 'value', readonly value: Config }
  | { readonly kind: 'invalid', readonly reason: string, readonly value: Config }

/** A session's own wish, set by `/advisor`; never written to the configuration. */
export type Override = 'on' | 'off'

/** Whether model calls may be made at all, and if not, why. */
export type AdvisorConfig =
  | { readonly kind: 'ready', readonly config: Config }
  | { readonly kind: 'off', readonly config: Config, readonly reason: string }
  | { readonly kind: 'disabled', readonly config: Config, readonly reason: string }

/**
 * Decide from the composed configuration whether the advisor runs.
 * @param override - the session's wish; leave it out to read the stored configuration.
 * @returns `ready`; `off` when nobody wants it; `disabled` when it is wanted but cannot run.
 */
export function resolveAdvisorConfig(source: ConfigSource, override?: Override): AdvisorConfig {
  const config: Config = { ...source.value, provider: source.value.provider.trim(), model: source.value.model.trim() }
  if (override === 'off') return { kind: 'off', config, reason: 'switched off in this session' }
  if (source.kind === 'invalid') return { kind: 'disabled', config, reason: source.reason }
  if (!config.enabled && override !== 'on') return { kind: 'off', config, reason: '`enabled` is false' }
  const missing = (['provider', 'model'] as const).filter(key => config[key] === '')
  if (missing.length > 0) {
    return { kind: 'disabled', config, reason: `no model: set ${missing.map(key => `\`${key}\``).join(' and ')}` }
  }
  return { kind: 'ready', config }
}
