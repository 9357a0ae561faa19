// The single source of truth for what the advisor may do: every reader, from the runtime to a status line, asks here.

import type { Advisor } from '../roster/advisor.ts'
import type { Config } from './schema.ts'

/** The layer that a value comes from; what no layer says is the default. */
export type Origins = Readonly<Partial<Record<keyof Config, 'row' | 'settings' | 'environment'>>>

/** What the layers of configuration said: a value, or why there is none. `origins` looks at them as they are now. */
export type ConfigSource =
  | { readonly kind: 'value', readonly value: Config, readonly origins?: () => Origins }
  | { readonly kind: 'invalid', readonly reason: string, readonly value: Config, readonly origins?: () => Origins }

/** A session's own wish, set by `/advisor`; never written to the configuration. */
export type Override = 'on' | 'off'

/** Whether model calls may be made at all, and if not, why. */
export type AdvisorConfig =
  | { readonly kind: 'ready', readonly config: Config }
  | { readonly kind: 'off', readonly config: Config, readonly reason: string }
  | { readonly kind: 'disabled', readonly config: Config, readonly reason: string }

/** What counts of an advisor here. */
export type Candidate = Pick<Advisor, 'enabled' | 'overlay'>

/** The advisors of a session; `unread` while its files have not been looked at, for they may name a model. */
export type KnownAdvisors = 'unread' | readonly Candidate[]

/** The one advisor that there is without a roster. */
const ALONE: readonly Candidate[] = [{ enabled: true, overlay: {} }]

/**
 * Decide from the composed configuration whether the advisor runs.
 * @param override - the session's wish; leave it out to read the stored configuration.
 * @param advisors - leave it out for the one of the settings.
 * @returns `ready`, also when every advisor is switched off by itself, for a file may switch one on again;
 *   `off` when nobody wants it; `disabled` when it is wanted but cannot run.
 */
export function resolveAdvisorConfig(source: ConfigSource, override?: Override, advisors: KnownAdvisors = ALONE): AdvisorConfig {
  const config: Config = { ...source.value, provider: source.value.provider.trim(), model: source.value.model.trim() }
  if (override === 'off') return { kind: 'off', config, reason: 'switched off in this session' }
  if (source.kind === 'invalid') return { kind: 'disabled', config, reason: source.reason }
  if (!config.enabled && override !== 'on') return { kind: 'off', config, reason: '`enabled` is false' }
  const wanted = advisors === 'unread' ? [] : advisors.filter(({ enabled }) => enabled)
  const reasons = wanted.map(advisor => missingModel(configOf(config, advisor)))
  const reason = reasons.includes(undefined) ? undefined : reasons[0]
  return reason === undefined ? { kind: 'ready', config } : { kind: 'disabled', config, reason }
}

/** The configuration of one advisor: the session's, and over it what its entry sets. */
export function configOf(config: Config, { overlay }: Pick<Advisor, 'overlay'>): Config {
  return { ...config, ...overlay }
}

/** Why there is no model to ask, or undefined when one is named. */
export function missingModel(config: Pick<Config, 'provider' | 'model'>): string | undefined {
  const missing = (['provider', 'model'] as const).filter(key => config[key] === '')
  return missing.length === 0 ? undefined : `no model: set ${missing.map(key => `\`${key}\``).join(' and ')}`
}
