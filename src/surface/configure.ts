// `/advisor configure`: the roster files in the host's question dialog. Nothing is written before the user says so, and a
// question that is left leaves everything as it was. Where nobody can be asked it says what to edit.

import type { Config } from '../config/schema.ts'
import type { Roster } from '../roster/advisor.ts'
import type { Places } from '../roster/discover.ts'
import { editDocument, readDocument } from '../roster/edit.ts'
import { Draft } from '../roster/edit-draft.ts'
import { openToEdit, type Saving } from '../roster/edit-file.ts'
import { findRosterFiles, type Candidate } from '../roster/edit-find.ts'
import { ADVISOR_LIMIT, READ_ONLY_TOOLS } from '../roster/entry.ts'
import { count } from '../text.ts'
import { NoAnswer, type Choice, type Dialog } from './ask.ts'
import { addAdvisor, changeAdvisor, nameOf, problemOf, type Editing } from './configure-advisor.ts'
import { askNewText, askText, type OfferedModel } from './configure-values.ts'

/** What configuring needs of a session and its host. */
export interface Configuring {
  readonly dialog: Dialog
  readonly places: Places
  /** The session's settings. */
  readonly config: Config
  models(): Promise<readonly OfferedModel[]>
  /** Names of the session's tools; none where they are not known. */
  tools(): readonly string[]
  /** The files as they are now. */
  roster(): Promise<Roster>
  /** Let what was written count. */
  refresh(): Promise<void>
}

/** How a command ended, for its row. */
export interface Outcome {
  readonly kind: 'success' | 'error'
  readonly text: string
}

/** An advisor's place, or something else to do with a file. */
type Step = number | 'add' | 'instructions' | 'save' | 'leave'

const UNCHANGED: Outcome = { kind: 'success', text: 'Nothing was changed.' }

/** Run the command. */
export async function configure(configuring: Configuring): Promise<Outcome> {
  const { dialog, places, config } = configuring
  const candidates = await findRosterFiles(places, config.trustedWorkspaces)
  let chosen: Candidate | undefined
  try {
    chosen = await chooseFile(dialog, candidates)
    return await editFile(configuring, chosen)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    if (error.kind === 'unavailable' && chosen === undefined) return { kind: 'success', text: byHand(error.message, candidates, config) }
    return error.kind === 'dismissed' ? UNCHANGED : { kind: 'success', text: `Nothing was changed: ${error.message}.` }
  }
}

/** What a user types into which file, where nobody asks. */
function byHand(reason: string, candidates: readonly Candidate[], { provider, model }: Config): string {
  const example = editDocument('', { kind: 'add', entry: {
    name: 'Architecture', model: model === '' ? 'provider/model' : `${provider}/${model}`, tools: READ_ONLY_TOOLS,
    instructions: 'Does the change keep to the layers?\nIs anything built twice?', reviewAt: 'step', maxSeverity: 'concern',
  } })
  return [
    `There is no dialog here (${reason}). Edit a file; it counts from the next review on.`,
    ...candidates.map(({ path, scope }) => `${scope === 'user' ? 'For all projects' : 'For this project'}: ${path}`),
    'For example, where `name` is all that is needed and the rest is left to the settings:',
    ...'text' in example ? [example.text] : [],
  ].join('\n')
}

async function chooseFile(dialog: Dialog, candidates: readonly Candidate[]): Promise<Candidate> {
  const choices = await Promise.all(candidates.map(async (value): Promise<Choice<Candidate>> => (
    { value, label: value.label, description: `${value.scope === 'user' ? 'yours, for all projects' : 'this project\'s'}; ${await contentOf(value)}` }
  )))
  return choose(dialog, 'Which file should change?', choices)
}

async function contentOf({ path, fence }: Candidate): Promise<string> {
  const opening = await openToEdit(path, fence)
  if (opening.kind === 'refused') return opening.reason
  if (opening.file.bytes === undefined) return 'not there yet'
  const reading = readDocument(opening.file.text)
  if (reading.kind === 'broken') return `has an error in line ${reading.line}`
  return count(reading.entries.length, 'advisor')
}

async function editFile(configuring: Configuring, { path, label, fence, isTrusted }: Candidate): Promise<Outcome> {
  const opening = await openToEdit(path, fence)
  if (opening.kind === 'refused') return { kind: 'error', text: `${label} ${opening.reason}; nothing was changed.` }
  const reading = readDocument(opening.file.text)
  if (reading.kind === 'broken') {
    return { kind: 'error', text: `${label}:${reading.line}:${reading.column}: ${reading.reason}. Nothing was changed; repair the file by hand first.` }
  }
  const draft = new Draft(opening.file, label)
  const untrusted = isTrusted ? undefined
    : `${label} belongs to the project: its models, and tools beyond ${READ_ONLY_TOOLS.join(', ')}, count only after \`/advisor trust\`.`
  const { dialog, config } = configuring
  const editing: Editing = { dialog, draft, config, untrusted, models: () => configuring.models(), tools: () => configuring.tools() }
  await walk(editing)
  return draft.state === 'same' ? UNCHANGED : save(configuring, draft, path)
}

/** Let the user change one thing after the other. Returns when it is to be saved. */
async function walk(editing: Editing): Promise<void> {
  const { dialog, draft } = editing
  let said: string | undefined
  for (;;) {
    const { entries, changes, instructions } = draft
    const isChanged = draft.state !== 'same'
    const step = await choose<Step>(dialog, `${draft.label}: what should change?`, [
      ...entries.map(({ value, line }, at) => entryChoice(value, line, at)),
      { value: 'add', label: 'Add an advisor' },
      { value: 'instructions', label: 'Shared instructions', description: instructions === '' ? 'none' : instructions },
      ...isChanged ? [{ value: 'save', label: 'Save' } as const] : [],
      { value: 'leave', label: isChanged ? 'Leave without saving' : 'Done' },
    ], [said, ...isChanged ? ['Not saved yet:', ...changes.map(change => `- ${change}`)] : []])
    said = undefined
    if (step === 'save') return
    if (step === 'leave') throw new NoAnswer('dismissed', 'left')
    if (step === 'instructions') said = await changeInstructions(dialog, draft)
    else if (step !== 'add') await changeAdvisor(editing, step)
    else if (entries.length >= ADVISOR_LIMIT) said = `A file may have ${ADVISOR_LIMIT} advisors.`
    else {
      said = await addAdvisor(editing)
      if (said === undefined) await changeAdvisor(editing, entries.length)
    }
  }
}

function entryChoice(entry: unknown, line: number, at: number): Choice<Step> {
  const problem = problemOf(entry)
  const { enabled, model } = entry as { enabled?: unknown, model?: unknown }
  const state = enabled === false ? 'paused' : typeof model === 'string' ? model : 'model as in the settings'
  return { value: at, label: nameOf(entry, at), description: problem === undefined ? state : `line ${line}. ${problem}` }
}

async function changeInstructions(dialog: Dialog, draft: Draft): Promise<string | undefined> {
  const question = 'What should all advisors of this file watch for?'
  const value = draft.instructions === '' ? await askText(dialog, question, []) : await askNewText(dialog, question, draft.instructions)
  return draft.edit({ kind: 'instructions', value }, `shared instructions ${value === undefined ? 'removed' : 'changed'}`)
}

async function save(configuring: Configuring, draft: Draft, path: string): Promise<Outcome> {
  const goes = draft.state === 'emptied' && await choose(configuring.dialog, `Nothing is left in ${draft.label}. Remove the file?`, [
    { value: true, label: 'Remove it' }, { value: false, label: 'Keep it, empty' },
  ])
  const saving: Saving = goes ? await draft.remove() : await draft.save()
  if (saving.kind === 'refused') return { kind: 'error', text: `${draft.label} ${saving.reason}; nothing was changed.` }
  await configuring.refresh()
  const { files } = await configuring.roster()
  const waits = files.find(file => file.path === path)?.trust === 'missing'
  const what = goes ? `Removed ${draft.label}` : waits ? `Saved ${draft.label}, which waits for \`/advisor trust\`` : `Saved ${draft.label}`
  return { kind: 'success', text: `${what}: ${draft.changes.join('; ')}.` }
}

/** Ask until one of the choices is taken. */
async function choose<T>(dialog: Dialog, question: string, choices: readonly Choice<T>[], detail: readonly (string | undefined)[] = []): Promise<T> {
  let refused: string | undefined
  for (;;) {
    const { chosen } = await dialog.ask({ question, detail: [refused, ...detail], choices })
    if (chosen.length > 0) return chosen[0]!
    refused = 'Please choose one of these.'
  }
}
