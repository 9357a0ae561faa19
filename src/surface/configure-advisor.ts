// One advisor's entry in the question dialog: what it says now, and which key to change.

import type { Config } from '../config/schema.ts'
import { isMapping } from '../mapping.ts'
import type { Draft } from '../roster/edit-draft.ts'
import type { Value } from '../roster/edit-render.ts'
import { allowed, ENTRY_KEYS, readEntry, READ_ONLY_TOOLS, slugOf, type EntryKey, type SettingKey } from '../roster/entry.ts'
import { truncate } from '../text.ts'
import type { Choice, Dialog } from './ask.ts'
import { askModel, askNewText, askText, askTools, askValue, judgeValue, words, type OfferedModel } from './configure-values.ts'

/** What an advisor is changed with. */
export interface Editing {
  readonly dialog: Dialog
  readonly draft: Draft
  /** The settings, which count where an entry says nothing. */
  readonly config: Config
  /** Said where a model or a tool is chosen in a file that the user has not trusted. */
  readonly untrusted: string | undefined
  models(): Promise<readonly OfferedModel[]>
  /** Names of the session's tools; none where they are not known. */
  tools(): readonly string[]
}

type Action = EntryKey | 'remove' | 'back'

const REMOVE: Choice<Action> = { value: 'remove', label: 'Remove it' }
const BACK: Choice<Action> = { value: 'back', label: 'Back' }

/**
 * Ask for name and instructions of a new advisor.
 * @returns why it was not added, or nothing.
 */
export async function addAdvisor({ dialog, draft }: Editing): Promise<string | undefined> {
  const name = await askName(dialog, draft, undefined)
  const instructions = await askText(dialog, `What should "${name}" watch for?`, ['It has this beside the built-in instructions.'])
  return draft.edit({ kind: 'add', entry: { name, instructions } }, `added "${name}"`)
}

/** Show an entry, and change it until the user is done with it. */
export async function changeAdvisor(editing: Editing, index: number): Promise<void> {
  const { dialog, draft, config } = editing
  let said: string | undefined
  for (;;) {
    const { value: entry } = draft.entries[index]!
    const name = nameOf(entry, index)
    const { chosen: [action] } = await dialog.ask<Action>({
      question: `"${name}": what should change?`,
      detail: [said, problemOf(entry)],
      choices: [...isMapping(entry) ? ENTRY_KEYS.map(key => keyChoice(key, entry, config)) : [], REMOVE, BACK],
    })
    if (action === 'back') return
    if (action === 'remove') {
      said = draft.edit({ kind: 'remove', index }, `removed "${name}"`)
      if (said === undefined) return
    } else {
      said = action === undefined || !isMapping(entry) ? 'Please choose one of these.' : await changeKey(editing, index, entry, action)
    }
  }
}

/** What an entry is called, whether it is any good or not. */
export function nameOf(entry: unknown, index: number): string {
  const result = readEntry(entry)
  return (result.kind === 'entry' ? result.entry.name : result.name) ?? `advisor ${index + 1}`
}

/** Why an entry is skipped, or nothing. */
export function problemOf(entry: unknown): string | undefined {
  const result = readEntry(entry)
  return result.kind === 'bad' ? `Skipped as it is: ${result.reason}` : undefined
}

/** Returns what the user should know of the change, or why it was not made. */
async function changeKey(editing: Editing, index: number, entry: Record<string, unknown>, key: EntryKey): Promise<string | undefined> {
  const value = await askKey(editing, index, entry, key)
  const refused = editing.draft.edit({ kind: 'change', index, key, value }, wordsFor(nameOf(entry, index), key, value))
  if (refused !== undefined) return refused
  if (key === 'model' && value !== undefined) return editing.untrusted
  const further = key === 'tools' ? (value as string[]).filter(tool => !READ_ONLY_TOOLS.includes(tool)) : []
  if (further.length === 0) return undefined
  const known = editing.tools()
  const unknown = known.length === 0 ? [] : further.filter(tool => !known.includes(tool))
  const missing = unknown.length === 0 ? undefined : `This session has no tool ${unknown.join(', ')}.`
  return [editing.untrusted, missing].filter(line => line !== undefined).join(' ')
}

async function askKey(editing: Editing, index: number, entry: Record<string, unknown>, key: EntryKey): Promise<Value | undefined> {
  const { dialog, draft, config, untrusted } = editing
  switch (key) {
    case 'name': return askName(dialog, draft, index)
    // What is left out is on.
    case 'enabled': return entry.enabled === false ? undefined : false
    case 'model': return askModel(dialog, modelOf(config), await editing.models(), untrusted)
    case 'tools': return askTools(dialog, shown(key, entry.tools), editing.tools(), untrusted)
    case 'instructions': {
      const question = 'instructions: what should it watch for?'
      const now = typeof entry.instructions === 'string' ? entry.instructions : ''
      return now.trim() === '' ? askText(dialog, question, []) : askNewText(dialog, question, now)
    }
    case 'agents': return askValue(dialog, key, 'which agents does it review?', [
      { value: undefined, label: 'All that are reviewed' }, { value: ['main'], label: 'main', description: 'your own agent, none of its subagents' },
    ], ['Or type names of agents, as in: main, explorer'], words)
    case 'reviewAt': return askValue(dialog, key, 'when does it review?', [
      asInSettings(config, key),
      { value: 'step', label: 'step', description: 'after every step' },
      { value: 'mutation', label: 'mutation', description: 'after steps that changed something, and at the end' },
      { value: 'turn', label: 'turn', description: 'once the agent is done' },
    ])
    case 'maxSeverity': return askValue(dialog, key, 'how severe may its notes be?', [
      asInSettings(config, key), ...['nit', 'concern', 'blocker'].map(value => ({ value, label: value })),
    ])
    case 'reviewEvery': return askNumber(editing, key, 'every how many updates does it review?')
    case 'notesPerUpdate': return askNumber(editing, key, 'how many notes may it give on one update?')
    case 'immuneTurns': return askNumber(editing, key, 'for how many updates may it not interrupt again?')
  }
}

function askNumber({ dialog, config }: Editing, key: SettingKey, question: string): Promise<Value | undefined> {
  return askValue(dialog, key, question, [asInSettings(config, key)], [`Or type ${allowed(key)}.`], Number)
}

function askName(dialog: Dialog, draft: Draft, index: number | undefined): Promise<string> {
  const taken = new Set(draft.entries.filter((_, at) => at !== index).map(({ value }, at) => slugOf(nameOf(value, at))))
  return askText(dialog, 'What is the advisor called?', [], name => (
    judgeValue('name', name) ?? (taken.has(slugOf(name)) ? 'another one of this file has this name' : undefined)
  ))
}

function keyChoice(key: EntryKey, entry: Record<string, unknown>, config: Config): Choice<Action> {
  switch (key) {
    case 'enabled': return { value: key, label: entry.enabled === false ? 'Resume it' : 'Pause it' }
    case 'name': case 'agents': case 'tools': case 'instructions': return { value: key, label: key, description: shown(key, entry[key]) }
    default: {
      const settings = key === 'model' ? modelOf(config) : String(config[key])
      return { value: key, label: key, description: entry[key] === undefined ? `as in the settings: ${settings}` : shown(key, entry[key]) }
    }
  }
}

function asInSettings(config: Config, key: SettingKey): Choice<undefined> {
  return { value: undefined, label: 'As in the settings', description: String(config[key]) }
}

function modelOf({ provider, model }: Config): string {
  return model === '' ? 'none' : `${provider}/${model}`
}

function shown(key: EntryKey, value: unknown): string {
  if (value === undefined || value === null) return key === 'tools' ? READ_ONLY_TOOLS.join(', ') : key === 'agents' ? 'all' : 'none'
  return Array.isArray(value) ? value.join(', ') || 'none' : truncate(String(value).replace(/\s+/g, ' '), 120)
}

function wordsFor(name: string, key: EntryKey, value: Value | undefined): string {
  if (key === 'enabled') return `${value === false ? 'paused' : 'resumed'} "${name}"`
  if (key === 'name') return `renamed "${name}" to "${shown(key, value)}"`
  if (key === 'instructions') return `"${name}": instructions ${value === undefined ? 'removed' : 'changed'}`
  return `"${name}": ${key} ${value === undefined ? 'left to the settings' : shown(key, value)}`
}
