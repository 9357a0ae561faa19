// Questions for one value each, asked again until what comes back fits the rules that readers of the file follow.

import type { Value } from '../roster/edit-render.ts'
import { ENTRY_LIMITS, readEntry, READ_ONLY_TOOLS, type EntryKey } from '../roster/entry.ts'
import { truncate } from '../text.ts'
import type { Choice, Dialog } from './ask.ts'

/** A model that may be chosen, as files name it. */
export interface OfferedModel {
  readonly selector: string
  /** For people, where it says more. */
  readonly name: string | undefined
}

/** Models that are offered; more are typed. */
const MODELS_SHOWN = 40

/** Stands for no tool at all; no tool has this name. */
const NO_TOOLS = ''

/** Lines beside a question. */
type Lines = readonly (string | undefined)[]

/** Ask for a text. */
export async function askText(dialog: Dialog, question: string, lines: Lines, judge = judgeLength): Promise<string> {
  let refused: string | undefined
  for (;;) {
    const { typed } = await dialog.ask({ question, detail: [refused, ...lines] })
    const reason = typed === '' ? 'a text is needed' : judge(typed)
    if (reason === undefined) return typed
    refused = refusal(typed, reason)
  }
}

/** Ask for a new text in the place of one that is there; none when it is to go. */
export async function askNewText(dialog: Dialog, question: string, now: string): Promise<string | undefined> {
  const { chosen: [action = 'replace'], typed } = await dialog.ask<'replace' | 'add' | 'remove'>({
    question, detail: ['Now:', now],
    choices: [{ value: 'replace', label: 'Another text' }, { value: 'add', label: 'Add to it' }, { value: 'remove', label: 'Remove it' }],
  })
  if (action === 'remove' && typed === '') return undefined
  const whole = (text: string) => action === 'add' ? `${now.trimEnd()}\n${text}${now.endsWith('\n') ? '\n' : ''}` : text
  const judge = (text: string) => judgeLength(whole(text))
  if (typed !== '' && judge(typed) === undefined) return whole(typed)
  return whole(await askText(dialog, action === 'add' ? 'What is to be added?' : question, [], judge))
}

/** Ask for the value of a key: one of the choices, or what is typed. */
export async function askValue(
  dialog: Dialog, key: EntryKey, question: string, choices: readonly Choice<Value | undefined>[],
  lines: Lines = [], read: (typed: string) => Value = typed => typed,
): Promise<Value | undefined> {
  let refused: string | undefined
  for (;;) {
    const { chosen, typed } = await dialog.ask({ question: `${key}: ${question}`, detail: [refused, ...lines], choices })
    // What is typed beside a choice was meant instead of it.
    if (chosen.length > 0 && typed === '') return chosen[0]
    const value = read(typed)
    const reason = typed === '' ? 'nothing was chosen' : judgeValue(key, value)
    if (reason === undefined) return value
    refused = refusal(typed, reason)
  }
}

/** Ask for a model; none is that of the settings. */
export function askModel(dialog: Dialog, settings: string, models: readonly OfferedModel[], note: string | undefined): Promise<Value | undefined> {
  return askValue(dialog, 'model', 'who reviews?', [
    { value: undefined, label: 'As in the settings', description: settings },
    ...models.slice(0, MODELS_SHOWN).map(({ selector, name }) => ({ value: selector, label: selector, ...name === undefined ? {} : { description: name } })),
  ], [
    note, 'Or type provider/model or provider/model:effort.',
    models.length > MODELS_SHOWN ? `${models.length - MODELS_SHOWN} more are not listed here.` : undefined,
  ])
}

/** Ask for tools, those of the session among them. */
export async function askTools(dialog: Dialog, now: string, session: readonly string[], note: string | undefined): Promise<string[]> {
  const others = session.filter(name => !READ_ONLY_TOOLS.includes(name))
  let refused: string | undefined
  for (;;) {
    const { chosen, typed } = await dialog.ask<string>({
      question: 'tools: what may it look things up with?', many: true,
      detail: [
        refused, `Now: ${now}.`, note,
        others.length === 0 ? undefined : `Others of this session, to be typed: ${truncate(others.join(', '), 400)}.`,
      ],
      choices: [
        ...READ_ONLY_TOOLS.map(name => ({ value: name, label: name })),
        { value: NO_TOOLS, label: 'none', description: 'it sees only what the agent did' },
      ],
    })
    const picked = [...new Set([...chosen, ...words(typed)])]
    const names = picked.filter(name => name !== NO_TOOLS)
    const reason = picked.length === 0 ? 'nothing was chosen'
      : names.length > 0 && names.length < picked.length ? '`none` goes with no other' : judgeValue('tools', names)
    if (reason === undefined) return names
    refused = refusal(picked.map(name => name === NO_TOOLS ? 'none' : name).join(', '), reason)
  }
}

/** Names in a line, whatever stands between them. */
export function words(typed: string): string[] {
  return typed.split(/[\s,]+/).filter(word => word !== '')
}

/** What stands against a value of a key, or nothing. */
export function judgeValue(key: EntryKey, value: Value): string | undefined {
  const result = readEntry({ name: 'x', [key]: value })
  return result.kind === 'bad' ? result.reason : undefined
}

function judgeLength(text: string): string | undefined {
  return text.length <= ENTRY_LIMITS.instructions ? undefined : `it has ${text.length} characters; allowed: ${ENTRY_LIMITS.instructions}`
}

function refusal(value: string, reason: string): string {
  return value === '' ? `Please choose or type something: ${reason}.` : `Refused "${truncate(value, 80)}": ${reason}.`
}
