// One entry of WATCHDOG.yml: its keys, their limits, and what it comes to. Strict: what is not understood is not guessed,
// for a typo in `tools` must not grant the default ones. Knows no file and no position.

import { parseSelector } from '../config/environment.ts'
import { fields } from '../config/schema.ts'
import { isMapping } from '../mapping.ts'
import { printable, truncate } from '../text.ts'
import type { Advisor } from './advisor.ts'

/** Keys of an entry that are a setting of the session's, with that setting's limits. */
export const SETTING_KEYS = ['reviewAt', 'reviewEvery', 'notesPerUpdate', 'maxSeverity', 'immuneTurns'] as const

/** Every key of an entry, in the order of the documentation. */
export const ENTRY_KEYS = ['name', 'enabled', 'agents', 'model', 'tools', 'instructions', ...SETTING_KEYS] as const

/** Every key of a file. One that begins with `x-` may hold anything, anchors for example. */
export const FILE_KEYS = ['instructions', 'advisors'] as const

export type SettingKey = (typeof SETTING_KEYS)[number]
export type EntryKey = (typeof ENTRY_KEYS)[number]

/** Characters of a text, members of a list. */
export const ENTRY_LIMITS = { name: 60, model: 200, agents: 64, tools: 64, word: 100, instructions: 8_000 } as const

/** Advisors in one file, and in the roster of all files. */
export const ADVISOR_LIMIT = 32

/** The tools that every file may grant, and that an entry without `tools` has. */
export const READ_ONLY_TOOLS: readonly string[] = ['read', 'grep', 'glob']

/** Names that another advisor's files use for the same things. */
const TOOL_ALIASES: Readonly<Record<string, string>> = { search: 'grep', find: 'glob' }
const KEY_ALIASES: Readonly<Record<string, EntryKey>> = { maxNotesPerUpdate: 'notesPerUpdate', reviewMode: 'reviewAt', reviewInterval: 'reviewEvery' }

/** An entry that was understood; its instructions are as written, imports not expanded. */
export type RosterEntry = Omit<Advisor, 'slug' | 'name' | 'file'> & { readonly name: string }

/** What an entry comes to. `key` is where the trouble lies, if it lies at one key. */
export type EntryResult =
  | { readonly kind: 'entry', readonly entry: RosterEntry }
  | { readonly kind: 'bad', readonly name: string | undefined, readonly key: string | undefined, readonly reason: string }

/** Read an entry as YAML gave it. */
export function readEntry(value: unknown): EntryResult {
  if (!isMapping(value)) return { kind: 'bad', name: undefined, key: undefined, reason: `an advisor is a mapping with the key \`name\`, not ${show(value)}` }
  const name = readName(value.name)
  for (const key of Object.keys(value)) {
    const reason = judge(key, value[key])
    if (reason !== undefined) return { kind: 'bad', name, key, reason }
  }
  if (name === undefined) return { kind: 'bad', name, key: undefined, reason: 'it has no `name`' }
  return { kind: 'entry', entry: compose(name, value) }
}

/** What a key of an entry may hold, in words. */
export function allowed(key: EntryKey): string {
  switch (key) {
    case 'name': return `a text of 1 to ${ENTRY_LIMITS.name} characters`
    case 'enabled': return 'true or false'
    case 'model': return 'provider/model or provider/model:effort'
    case 'agents': return `a list of agent names, ${ENTRY_LIMITS.agents} at most`
    case 'tools': return `a list of tool names, ${ENTRY_LIMITS.tools} at most, [] for none`
    case 'instructions': return 'a text'
    case 'reviewAt': case 'maxSeverity': return listWords(fields[key].list?.map(option => String(option.value)) ?? [])
    default: return `a whole number from ${fields[key].meta.min} to ${fields[key].meta.max}`
  }
}

/** A name as commands and file names use it: lower case, letters and digits of every script, `-` for the rest. */
export function slugOf(name: string): string {
  const words = name.normalize('NFKC').toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
  return [...words].slice(0, ENTRY_LIMITS.name).join('').replace(/^-|-$/g, '') || 'advisor'
}

/** A value in few words, safe to show. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null || value === undefined) return 'nothing'
  if (typeof value === 'object') return 'a mapping'
  return printable(truncate(typeof value === 'string' ? JSON.stringify(value) : String(value), 80))
}

/** What stands against a key, or nothing. */
function judge(key: string, value: unknown): string | undefined {
  if (!isEntryKey(key)) {
    const meant = Object.hasOwn(KEY_ALIASES, key) ? `; it is \`${KEY_ALIASES[key]}\` here` : `; allowed: ${ENTRY_KEYS.join(', ')}`
    return `unknown key \`${printable(truncate(key, 40))}\`${meant}`
  }
  return fits(key, value) ? undefined : `\`${key}\` is ${show(value)}; allowed: ${allowed(key)}`
}

function fits(key: EntryKey, value: unknown): boolean {
  switch (key) {
    case 'name': return readName(value) !== undefined
    case 'enabled': return typeof value === 'boolean'
    case 'model': return typeof value === 'string' && value.length <= ENTRY_LIMITS.model && parseSelector(value.trim()) !== undefined
    case 'agents': return isNames(value, ENTRY_LIMITS.agents)
    // `- read, bash` and `- read bash` were meant as two.
    case 'tools': return isNames(value, ENTRY_LIMITS.tools) && value.every(tool => !/[\s,]/.test(tool.trim()))
    // A key with nothing behind it is a text not yet written.
    case 'instructions': return typeof value === 'string' || value === null
    default: return value !== null && fitsSetting(key, value)
  }
}

function fitsSetting(key: SettingKey, value: unknown): boolean {
  try {
    fields[key](value as never)
    return true
  } catch {
    return false
  }
}

function compose(name: string, value: Record<string, unknown>): RosterEntry {
  const model = typeof value.model === 'string' ? parseSelector(value.model.trim()) : undefined
  const settings = Object.fromEntries(SETTING_KEYS.filter(key => value[key] !== undefined).map(key => [key, value[key]]))
  return {
    name,
    enabled: value.enabled !== false,
    agents: (value.agents as string[] | undefined)?.map(agent => agent.trim().toLowerCase()),
    overlay: { ...model, tools: readTools(value.tools as string[] | undefined), ...settings },
    instructions: typeof value.instructions === 'string' ? value.instructions.trim() : '',
  }
}

function readTools(tools: readonly string[] | undefined): string[] {
  if (tools === undefined) return [...READ_ONLY_TOOLS]
  return [...new Set(tools.map(tool => tool.trim()).map(tool => Object.hasOwn(TOOL_ALIASES, tool) ? TOOL_ALIASES[tool]! : tool))]
}

/** A name as it is shown, on one line; none when it is too long or no text. */
export function readName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const name = printable(value.replace(/\s+/g, ' ')).trim()
  return name !== '' && name.length <= ENTRY_LIMITS.name ? name : undefined
}

function isNames(value: unknown, most: number): value is string[] {
  return Array.isArray(value) && value.length <= most && value.every((name: unknown) =>
    typeof name === 'string' && name.trim() !== '' && name.length <= ENTRY_LIMITS.word && printable(name) === name)
}

function isEntryKey(key: string): key is EntryKey {
  return (ENTRY_KEYS as readonly string[]).includes(key)
}

function listWords(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
