// `/advisor trust` and `/advisor untrust`: what a project's files ask for beyond looking, and whether it counts. Grants only
// what was shown.

import type { Roster, RosterFile, TrustRequest } from '../roster/advisor.ts'
import type { TrustStore } from '../roster/trust.ts'
import { errorMessage, printable, truncate } from '../text.ts'
import { NoAnswer, type Dialog } from './ask.ts'
import type { Outcome } from './configure.ts'

/** Wishes that a person looks through; a project with more is not trusted unseen. */
const WISHES_SHOWN = 40

/** What trusting needs of a session and its host. */
export interface Trusting {
  readonly dialog: Dialog
  readonly trust: Pick<TrustStore, 'remember' | 'forget'>
  /** The files as they are now. */
  roster(): Promise<Roster>
  /** Let what was decided count. */
  refresh(): Promise<void>
}

/**
 * Run `/advisor trust`.
 * @param word - what follows: nothing asks the user, `yes` and `no` decide without a dialog.
 */
export async function trustProject(trusting: Trusting, word: string): Promise<Outcome> {
  switch (word.toLowerCase()) {
    case 'no': return untrustProject(trusting)
    case '': case 'yes': break
    default: return { kind: 'error', text: `/advisor trust takes yes or no; got "${truncate(word, 60)}".` }
  }
  const roster = await trusting.roster()
  const { requests } = roster
  if (requests.length === 0) return { kind: 'success', text: ['Nothing here asks for trust.', ...standing(roster)].join(' ') }
  if (requests.length > WISHES_SHOWN) {
    return { kind: 'error', text: `This project's WATCHDOG files have ${requests.length} wishes, too many to look through. Nothing was trusted; \`trustedWorkspaces\` in the settings can trust the folder.` }
  }
  if (word !== '') return grant(trusting, requests, roster)
  const lines = wishes(requests, roster)
  try {
    const { chosen: [answer] } = await trusting.dialog.ask<'yes' | 'no'>({
      question: 'Trust what this project\'s WATCHDOG files ask for?',
      detail: [...lines, WHAT_IT_MEANS],
      // What is in focus at first must not be what grants.
      choices: [
        { value: 'no', label: 'Do not trust it', description: 'its advisors go on without' },
        { value: 'yes', label: 'Trust it', description: 'until one of these wishes changes' },
      ],
    })
    if (answer !== 'yes') return { kind: 'success', text: 'Not trusted; nothing was changed.' }
    return await grant(trusting, requests, roster)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    if (error.kind === 'dismissed') return { kind: 'success', text: 'Not trusted; nothing was changed.' }
    const how = error.kind === 'late' ? `${error.message}; \`/advisor trust yes\` lets it count.` : '`/advisor trust yes` lets it count.'
    return { kind: 'success', text: ['This project\'s WATCHDOG files ask for:', ...lines, WHAT_IT_MEANS, how].join('\n') }
  }
}

/** Run `/advisor untrust`: what was trusted by command no longer is. */
export async function untrustProject({ trust, roster, refresh }: Trusting): Promise<Outcome> {
  const files = (await roster()).files.filter(isOfProject)
  const before = files.filter(file => file.trust === 'granted')
  try {
    await trust.forget(files.map(file => file.path))
  } catch (error) {
    return unwritten(error)
  }
  await refresh()
  const still = (await roster()).files.filter(file => isOfProject(file) && file.trust === 'granted')
  const gone = before.filter(({ path }) => still.every(file => file.path !== path))
  const said = gone.length === 0 ? 'Nothing here was trusted by command.' : `No longer trusted: ${labels(gone)}.`
  return { kind: 'success', text: still.length === 0 ? said : `${said} ${labels(still)}: trusted by \`trustedWorkspaces\` in the settings.` }
}

const WHAT_IT_MEANS = 'Models cost money, and tools beyond read, grep and glob can change things.'

async function grant({ trust, refresh, roster }: Trusting, requests: readonly TrustRequest[], { files }: Roster): Promise<Outcome> {
  try {
    await trust.remember(requests)
  } catch (error) {
    return unwritten(error)
  }
  await refresh()
  const paths = new Set(requests.map(({ file }) => file))
  const trusted = labels(files.filter(({ path }) => paths.has(path)))
  const changed = (await roster()).requests.length > 0
  return changed
    ? { kind: 'error', text: `Trusted ${trusted} as shown, but a file has changed since and asks again: \`/advisor trust\`.` }
    : { kind: 'success', text: `Trusted: ${trusted}. \`/advisor untrust\` takes it back.` }
}

/** One line a wish, as its file names it. */
function wishes(requests: readonly TrustRequest[], { files }: Roster): string[] {
  return requests.map(({ file, advisor, wish }) => (
    `${files.find(({ path }) => path === file)?.label ?? printable(file)}: "${printable(advisor)}" asks for ${printable(wish)}`
  ))
}

function standing({ files }: Roster): string[] {
  const granted = files.filter(file => file.trust === 'granted')
  return granted.length === 0 ? [] : [`Trusted: ${labels(granted)}; \`/advisor untrust\` takes it back.`]
}

function isOfProject({ scope, kind }: RosterFile): boolean {
  return scope === 'project' && kind === 'roster'
}

function labels(files: readonly RosterFile[]): string {
  return files.map(({ label }) => label).join(', ')
}

function unwritten(error: unknown): Outcome {
  return { kind: 'error', text: `Trust cannot be remembered: ${errorMessage(error)}.` }
}
