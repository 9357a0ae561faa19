// Whether the primary's next steps touched what a note named. It goes by names alone: a coincidence counts, and so does looking.

import type { Entry } from '../observe/entry.ts'

/** What a note names, and how long its fate has been followed. */
export interface Pursuit {
  readonly paths: readonly string[]
  /** Identifiers and quoted code. */
  readonly words: readonly string[]
  /** Steps seen since the note was delivered. */
  readonly steps: number
}

export type Outcome =
  | { readonly kind: 'open', readonly pursuit: Pursuit }
  | { readonly kind: 'touched', readonly reason: string, readonly steps: number }
  | { readonly kind: 'ignored', readonly reason: string, readonly steps: number }
  | { readonly kind: 'unknown', readonly reason: string }

/** Steps after which a note that was not acted on counts as ignored. */
export const GIVE_UP_AFTER = 6
/** Names followed for one note; more are a list and no subject. */
const NAMES_LIMIT = 24
/** Characters of a note that are searched for names. */
const NOTE_LIMIT = 4_000
/** Shorter names stand in every text. */
const LEAST_NAME = 3
/** Characters of one argument or change that are searched. */
const SEARCH_LIMIT = 200_000

const QUOTED = /`([^`\n]+)`|"([^"\s]+)"/g
const BARE = /(?:\.{0,2}\/)?[\w@$-]{0,80}(?:\w[./\\][A-Za-z_]|[a-z][A-Z]|[A-Za-z]_[A-Za-z]|\w\(\))[\w$./\\()-]{0,200}/g
/** Folders and a name, or a name with an ending. */
const PATH = /^(?:[A-Za-z]:)?(?:[\w@.~$-]*[/\\])+[\w@.$-]+$|^[\w@$-]+\.[A-Za-z]\w{0,4}$/
/** `and/or`, as opposed to `src/a.ts` and `src/a/b`. */
const ALTERNATIVES = /^[A-Za-z]+\/[A-Za-z]+$/
/** Words of prose that look like code. */
const PROSE: ReadonlySet<string> = new Set(['e.g', 'i.e', 'TypeScript', 'JavaScript', 'GitHub', 'GitLab', 'macOS', 'DeepSeek'])

/**
 * Begin to follow a note.
 * @param paths - where else it points, such as the file of its evidence.
 * @returns `unknown` when it names nothing that could be found in a step.
 */
export function pursue(text: string, paths: readonly string[] = []): Outcome {
  const note = text.slice(0, NOTE_LIMIT)
  const quoted = [...note.matchAll(QUOTED)].map(([, code, plain]) => tidyName(code ?? plain ?? ''))
  const bare = (note.replace(QUOTED, ' ').match(BARE) ?? []).map(tidyName).filter(name => !ALTERNATIVES.test(name) && !PROSE.has(name))
  const [files, words] = [new Set(paths.map(tidyPath)), new Set<string>()]
  for (const name of [...quoted, ...bare]) {
    if (PATH.test(name)) files.add(tidyPath(name))
    // A name with a dot may be a file's or a member's.
    if (!/[/\\]/.test(name) || /\s/.test(name)) words.add(name.replace(/\(\)$/, ''))
  }
  const pursuit: Pursuit = {
    paths: [...files].filter(isName).slice(0, NAMES_LIMIT), words: [...words].filter(isName).slice(0, NAMES_LIMIT), steps: 0,
  }
  if (pursuit.paths.length + pursuit.words.length === 0) return { kind: 'unknown', reason: 'the note names nothing' }
  return { kind: 'open', pursuit }
}

/**
 * Look at what the primary did next, after the note was delivered: a step, or what stood at the end of its turn.
 * @param isOver - its turn ended with it.
 */
export function judgeStep({ paths, words, steps: before }: Pursuit, entries: readonly Entry[], isOver: boolean): Outcome {
  const steps = before + (entries.some(({ kind }) => kind !== 'end') ? 1 : 0)
  for (const entry of entries) {
    if (entry.kind !== 'tool') continue
    const texts = textsOf(entry)
    const plain = texts.map(text => text.replaceAll('\\', '/'))
    const name = paths.find(path => plain.some(text => namesPath(text, path))) ?? words.find(word => texts.some(text => namesWord(text, word)))
    if (name !== undefined) return { kind: 'touched', reason: `${entry.name} names ${name}`, steps }
  }
  const end = entries.find(entry => entry.kind === 'end')
  if (end !== undefined && end.reason.kind !== 'completed') return { kind: 'unknown', reason: `the turn ended: ${end.reason.kind}` }
  if (isOver) return { kind: 'ignored', reason: 'the agent answered without touching it', steps }
  if (steps >= GIVE_UP_AFTER) return { kind: 'ignored', reason: `${steps} steps did not touch it`, steps }
  return { kind: 'open', pursuit: { paths, words, steps } }
}

/** What a call was about: its arguments and the changed files, never its output. */
function textsOf({ args, diffs }: Extract<Entry, { kind: 'tool' }>): string[] {
  const texts = diffs.flatMap(({ path, oldText, newText }) => [path, oldText ?? '', newText])
  try {
    collect(JSON.parse(args), texts)
  } catch {
    texts.push(args)
  }
  return texts.map(text => text.slice(0, SEARCH_LIMIT))
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value)
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) collect(part, texts)
}

/** Whether a text holds a path, or as much of its end as names a folder and a file. */
function namesPath(text: string, path: string): boolean {
  const parts = path.split('/').filter(part => part !== '')
  return parts.some((_, index) => (index === 0 || index < parts.length - 1) && stands(text, parts.slice(index).join('/'), /[\w@$.-]/, /[\w$-]/))
}

function namesWord(text: string, word: string): boolean {
  return stands(text, word, /[\w$]/, /[\w$]/) || /\s/.test(word) && text.replace(/\s+/g, ' ').includes(word.replace(/\s+/g, ' '))
}

/** Whether `name` stands in a text by itself and not as a part of a longer one. */
function stands(text: string, name: string, before: RegExp, after: RegExp): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!before.test(text[at - 1] ?? '') && !after.test(text[at + name.length] ?? '')) return true
  }
  return false
}

/** Without what ends the sentence or a parenthesis, and without a line number. */
function tidyName(name: string): string {
  return name.trim().replace(/[.,;:!?]+$/, '').replace(/(?<!\()\)+$/, '').replace(/(?::\d+(?:[-:]\d+)?)+$/, '')
}

function tidyPath(path: string): string {
  return path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '')
}

function isName(name: string): boolean {
  return name.length >= LEAST_NAME
}
