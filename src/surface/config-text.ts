// What `/advisor config` says: every value that counts and where it comes from. Only words for what others composed.

import { configOf, type ConfigSource, type Origins, type Override } from '../config/resolve.ts'
import { defaults, type Config } from '../config/schema.ts'
import { ADVISOR_KEYS, type Advisor, type AdvisorKey, type Roster, type RosterFile } from '../roster/advisor.ts'
import { READ_ONLY_TOOLS } from '../roster/entry.ts'
import { printable, truncate } from '../text.ts'

/** Characters of one value. */
const VALUE_LENGTH = 160

/** What is composed for one session. */
export interface Composed {
  readonly source: ConfigSource
  /** The session's own wish. */
  readonly override: Override | undefined
  readonly roster: Roster
  /** Bytes of a file by its path, where known. */
  readonly sizes: ReadonlyMap<string, number>
  /** Why an advisor does not review here, or undefined when it does. */
  whyOff(advisor: Advisor): string | undefined
}

/** The whole configuration, one value a line. */
export function configText({ source, override, roster, sizes, whyOff }: Composed): string {
  return [
    ...source.kind === 'invalid' ? [`Not valid, so nothing runs: ${printable(source.reason)}`] : [],
    'Settings:',
    ...settingsLines(source, override),
    ...roster.advisors.flatMap(advisor => advisorLines(advisor, whyOff(advisor), source, roster.files)),
    ...roster.files.length === 0 ? ['WATCHDOG files: none'] : ['WATCHDOG files:', ...roster.files.map(file => fileLine(file, sizes))],
    ...roster.trouble.length === 0 ? [] : ['Trouble:', ...roster.trouble.map(line => `  ${line}`)],
  ].join('\n')
}

function settingsLines({ value, origins }: ConfigSource, override: Override | undefined): string[] {
  const layers = origins?.() ?? {}
  return (Object.keys(defaults) as (keyof Config)[]).map((key) => {
    if (key === 'enabled' && override !== undefined) return `  enabled: ${override === 'on'} (this session)`
    return `  ${key}: ${shown(key, value[key])} (${layers[key] ?? 'default'})`
  })
}

/** Without a roster the one advisor is what the settings say. */
function advisorLines(advisor: Advisor, off: string | undefined, { value, origins }: ConfigSource, files: readonly RosterFile[]): string[] {
  if (advisor.name === undefined) return ['Advisors: one, as in the settings']
  const label = files.find(({ path }) => path === advisor.file)?.label ?? 'a file'
  const effective = configOf(value, advisor)
  const layers = origins?.() ?? {}
  return [
    `Advisor "${printable(advisor.name)}" (${advisor.slug}), of ${label}${off === undefined ? '' : `, off: ${off}`}:`,
    ...advisor.agents === undefined ? [] : [`  agents: ${printable(advisor.agents.join(', ')) || 'none'} (${label})`],
    ...ADVISOR_KEYS.map(key => `  ${key}: ${shown(key, effective[key])} (${originOf(advisor, key, label, layers)})`),
    ...advisor.instructions === '' ? [] : [`  instructions: ${shown('instructions', advisor.instructions)} (${label})`],
  ]
}

function originOf({ overlay }: Advisor, key: AdvisorKey, label: string, layers: Origins): string {
  if (overlay[key] === undefined) return layers[key] ?? 'default'
  // An entry that names no tools has these.
  return key === 'tools' && overlay.tools?.join() === READ_ONLY_TOOLS.join() ? 'default' : label
}

function fileLine({ path, label, kind, state, advisors, trust }: RosterFile, sizes: ReadonlyMap<string, number>): string {
  const size = sizes.get(path)
  return `  ${label}: ${[
    size === undefined ? undefined : bytes(size),
    state === 'skipped' ? 'skipped' : kind === 'guidance' ? 'guidance' : `advisors: ${advisors.join(', ') || 'none'}`,
    trust === 'granted' ? 'trusted' : trust === 'missing' ? 'not trusted: `/advisor trust`' : undefined,
  ].filter(part => part !== undefined).join(', ')}`
}

function shown(key: string, value: unknown): string {
  // Patterns tell what is secret.
  if (key === 'redactPatterns') return `${(value as string[]).length} of them`
  if (typeof value === 'string') return value === '' ? 'none' : truncate(printable(value.replace(/\s+/g, ' ')), VALUE_LENGTH)
  if (Array.isArray(value)) return truncate(printable(value.join(', ')), VALUE_LENGTH) || 'none'
  return truncate(printable(JSON.stringify(value) ?? 'none'), VALUE_LENGTH)
}

function bytes(size: number): string {
  return size < 1000 ? `${size} B` : `${(size / 1000).toFixed(1)} kB`
}
