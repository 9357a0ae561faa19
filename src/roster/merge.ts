// The entries of all roster files as one roster: who wins a name, and what a file that nobody trusts does not get. Pure.

import type { Advisor, Roster, TrustRequest } from './advisor.ts'
import { ADVISOR_LIMIT, READ_ONLY_TOOLS, type RosterEntry } from './entry.ts'
import { tooMany, type PlacedEntry } from './parse.ts'

/** One roster file that could be read, instructions of its entries expanded. */
export interface RosterSource {
  readonly path: string
  readonly label: string
  readonly scope: 'user' | 'project'
  /** Whether its models and all of its tools count. */
  readonly trusted: boolean
  readonly entries: readonly PlacedEntry[]
}

export interface Merged {
  readonly advisors: readonly Advisor[]
  readonly requests: readonly TrustRequest[]
  /** Lines that the user must not miss. */
  readonly trouble: readonly string[]
}

/** Advisors that files nobody trusts may let review: each one costs the user's money. */
export const UNTRUSTED_ADVISORS = 3

/** The rarest review, in updates, that a file nobody trusts may ask for: beyond it nothing is reviewed. */
export const UNTRUSTED_EVERY = 10

/** What reviews when no file names an advisor: the settings alone. */
export const UNNAMED: Advisor = { slug: '', name: undefined, enabled: true, agents: undefined, overlay: {}, instructions: '', file: undefined }

/** What counts where there are no files, or none could be looked at in time. */
export const NO_FILES: Roster = { advisors: [UNNAMED], guidance: '', trouble: [], requests: [], files: [] }

/**
 * Merge by slug.
 * @param sources - the user's first, then from far to near. A later entry replaces an earlier one as a whole and takes its
 *   place, so that nothing which was granted to the one is left to the other.
 * @param bad - entries and files that could not be used, over all files.
 */
export function mergeRosters(sources: readonly RosterSource[], bad: number): Merged {
  const winners = new Map<string, { advisor: Advisor, line: number, source: RosterSource }>()
  const own = new Map<string, RosterSource>()
  const trouble: string[] = []
  const requests: TrustRequest[] = []
  for (const source of sources) {
    const asked = source.trusted ? [] : requestsOf(source)
    requests.push(...asked)
    if (asked.length > 0) trouble.push(untrusted(source, asked))
    for (const { entry, slug, line } of source.entries) {
      if (source.scope === 'user') own.set(slug, source)
      winners.set(slug, { advisor: toAdvisor(entry, slug, source), line, source })
    }
  }
  for (const [slug, replaced] of own) {
    const { advisor, line, source } = winners.get(slug)!
    if (source.scope === 'user') continue
    trouble.push(`${source.label}:${line}: its advisor "${advisor.name}" ${advisor.enabled ? 'replaces' : 'pauses'} your own of ${replaced.label}`)
  }
  const all = pauseBeyond([...winners.values()], trouble)
  if (leavesNobody(sources, all)) {
    trouble.push('no advisor of this project\'s files reviews your agent, and they are not trusted to switch reviews off: the one of your settings reviews')
    all.unshift(UNNAMED)
  }
  const advisors = all.slice(0, ADVISOR_LIMIT)
  const beyond = all.slice(ADVISOR_LIMIT)
  if (beyond.length > 0) trouble.push(tooMany(beyond.map(advisor => advisor.name ?? advisor.slug)))
  if (advisors.length > 0) return { advisors, requests, trouble }
  if (bad > 0) trouble.push('no advisor of your WATCHDOG files can be used: the one of your settings reviews')
  return { advisors: [UNNAMED], requests, trouble }
}

/** Whether files that nobody trusts would leave the user's own agent without any review. */
function leavesNobody(sources: readonly RosterSource[], all: readonly Advisor[]): boolean {
  const untrusted = sources.some(({ scope, trusted, entries }) => scope === 'project' && !trusted && entries.length > 0)
  return untrusted && !all.some(advisor => advisor.enabled && reviewsMain(advisor))
}

/** Whether it is meant for the user's own agent. */
function reviewsMain({ agents }: Pick<Advisor, 'agents'>): boolean {
  return agents === undefined || agents.includes('main')
}

/** Let only so many advisors of untrusted files review; the others are paused, and the user is told. */
function pauseBeyond(winners: readonly { readonly advisor: Advisor, readonly source: RosterSource }[], trouble: string[]): Advisor[] {
  const paused: string[] = []
  let admitted = 0
  const all = winners.map(({ advisor, source }) => {
    if (source.scope === 'user' || source.trusted || !advisor.enabled) return advisor
    admitted += 1
    if (admitted <= UNTRUSTED_ADVISORS) return advisor
    paused.push(advisor.name ?? advisor.slug)
    return { ...advisor, enabled: false, held: `without trust only ${UNTRUSTED_ADVISORS} of its project review` }
  })
  if (paused.length > 0) trouble.push(`without trust only ${UNTRUSTED_ADVISORS} advisors of this project review (\`/advisor trust\`); paused: ${paused.join(', ')}`)
  return all
}

/** The way out comes first: a file that asks for much must not push it beyond the end of the line. */
function untrusted(source: RosterSource, asked: readonly TrustRequest[]): string {
  const wishes = asked.map(({ advisor, wish }) => `${advisor}: ${wish}`).join('; ')
  return `${source.label}: not trusted (\`/advisor trust\` shows what it asks for, and asks you), so ignored: ${wishes}`
}

/** What a file asks for beyond what every file may have; of every entry, so that it is the same whoever wins a name. */
export function requestsOf({ path, scope, entries }: Pick<RosterSource, 'path' | 'scope' | 'entries'>): TrustRequest[] {
  if (scope === 'user') return []
  const working = entries.filter(({ entry }) => entry.enabled)
  const [first] = entries
  const nobody: TrustRequest[] = first === undefined || working.some(({ entry }) => reviewsMain(entry))
    ? [] : [{ file: path, advisor: first.entry.name, wish: 'that nobody reviews your agent' }]
  return [...nobody, ...entries.flatMap((placed) => {
    const surplus = working.indexOf(placed) >= UNTRUSTED_ADVISORS ? [`review beside ${UNTRUSTED_ADVISORS} others`] : []
    return [...wishesOf(placed.entry), ...surplus].map(wish => ({ file: path, advisor: placed.entry.name, wish }))
  })]
}

function wishesOf({ overlay }: RosterEntry): string[] {
  const { provider, model, effort, reviewEvery = 1 } = overlay
  const tools = (overlay.tools ?? []).filter(isGuarded)
  return [
    ...model === undefined ? [] : [`model ${provider}/${model}${effort === undefined ? '' : `:${effort}`}`],
    ...tools.length === 0 ? [] : [`tools ${tools.join(', ')}`],
    ...reviewEvery > UNTRUSTED_EVERY ? [`review only every ${reviewEvery} updates`] : [],
  ]
}

function toAdvisor(entry: RosterEntry, slug: string, source: RosterSource): Advisor {
  if (source.scope === 'user' || source.trusted) return { ...entry, slug, file: source.path }
  const { provider: _, model: _model, effort: _effort, reviewEvery, ...overlay } = entry.overlay
  const rare = reviewEvery === undefined ? {} : { reviewEvery: Math.min(reviewEvery, UNTRUSTED_EVERY) }
  return { ...entry, slug, overlay: { ...overlay, ...rare, tools: (overlay.tools ?? []).filter(tool => !isGuarded(tool)) }, file: source.path }
}

/** Whether a tool has to be granted by the user. */
function isGuarded(tool: string): boolean {
  return !READ_ONLY_TOOLS.includes(tool)
}
