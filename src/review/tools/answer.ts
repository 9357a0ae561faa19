// What a reviewer reads of a tool's result: bounded, in plain words, and never silent about what was left out.

import { elide, errorMessage, printable, truncate } from '../../text.ts'

export interface ToolAnswer {
  readonly text: string
  readonly isError: boolean
}

/** Characters of one answer, what it says of cuts not counted. */
export const ANSWER_CHARS = 24_000
/** Matches of one `grep` that are shown. */
export const MATCHES_SHOWN = 100
/** Files of one `glob` that are shown. */
export const FILES_SHOWN = 200
/** Characters of one line of a file, as `grep` shows it. */
export const LINE_CHARS = 400

/** Why a search ended before it had seen everything. */
export type SearchEnd = 'time' | 'size'

/** How a search went, as far as its result does not say. */
export interface SearchReport {
  /** It was ended early. */
  readonly ended: SearchEnd | undefined
  /** Seconds it was given. */
  readonly seconds: number
  /** Files that were searched, where that is known. */
  readonly files: number | undefined
  /** Files and folders that could not be read, with the reason. */
  readonly unread: readonly string[]
  /** Files with a match on a line that is too long to show. */
  readonly long: readonly string[]
}

export interface Match {
  /** Relative to the root. */
  readonly path: string
  /** From 1. */
  readonly lineNumber: number
  readonly line: string
}

export interface ReadWindow {
  /** Relative to the root. */
  readonly path: string
  /** First line asked for, from 1. */
  readonly offset: number
  readonly lines: readonly { readonly number: number, readonly text: string }[]
  readonly totalLines: number
}

/** Something that went well. */
export function answered(text: string): ToolAnswer {
  return { text, isError: false }
}

/** Nothing was run, or nothing came of it; `reason` goes to the model. */
export function failed(kind: 'not run' | 'refused' | 'failed' | 'cut', reason: string): ToolAnswer {
  return { text: `[${kind}: ${truncate(printable(reason).trim(), 1000)}]`, isError: true }
}

/** A fault of ours, or of a host that broke its word. */
export function broken(error: unknown): ToolAnswer {
  return failed('failed', errorMessage(error))
}

/** Lines of a file, numbered as the primary sees them. */
export function showRead({ path, offset, lines, totalLines }: ReadWindow): ToolAnswer {
  if (totalLines === 0) return answered(`${path} is empty`)
  const body = lines.map(line => `${line.number}: ${line.text}`)
  const shown = fitting(body)
  const last = lines[shown - 1]?.number ?? offset - 1
  const parts = [`${path}, lines ${offset}-${last} of ${totalLines}`, ...body.slice(0, shown)]
  if (last < totalLines) parts.push(`[cut: lines ${last + 1}-${totalLines} are not shown; read on with offset ${last + 1}]`)
  return answered(parts.join('\n'))
}

/** Matches by file. */
export function showMatches(matches: readonly Match[], report: SearchReport): ToolAnswer {
  if (matches.length === 0) return nothingFound('match', report)
  const sorted = matches.toSorted((a, b) => a.path === b.path ? a.lineNumber - b.lineNumber : a.path < b.path ? -1 : 1)
  const rows = sorted.slice(0, MATCHES_SHOWN).map((match, index) => {
    const heading = sorted[index - 1]?.path === match.path ? '' : `${match.path}\n`
    return `${heading}${match.lineNumber}: ${cutLine(match.line)}`
  })
  return listed('match', rows, sorted.length, report)
}

/** Paths, one a line. @param paths - relative to the root. @param sample - picks a fair part of too many. */
export function showFiles(
  paths: readonly string[], report: SearchReport, sample: (paths: readonly string[], count: number) => readonly string[],
): ToolAnswer {
  if (paths.length === 0) return nothingFound('file', report)
  const rows = (paths.length > FILES_SHOWN ? sample(paths, FILES_SHOWN) : paths).toSorted()
  return listed('file', rows, paths.length, report)
}

/** What a tool of the session said; of a long text the beginning and the end. */
export function showText(text: string, isError: boolean): ToolAnswer {
  if (text.trim() === '') return { text: '(no output)', isError }
  return { text: elide(text, ANSWER_CHARS, left => `[cut: ${count(left)} characters here]`), isError }
}

type Noun = 'match' | 'file'
const PLURAL = { match: 'matches', file: 'files' } as const

/** A search without a result. Says "no" only of what was really searched. */
function nothingFound(noun: Noun, report: SearchReport): ToolAnswer {
  const cuts = cutsOf(report)
  if (cuts.length > 0) return answered([`nothing to show, but not everything was seen`, ...cuts.map(cut => `[${cut}]`)].join('\n'))
  if (noun === 'file') return answered('no files match')
  if (report.files === 0) return answered('no file was searched: all are hidden, git-ignored or binary, or `include` fits none')
  const where = report.files === undefined ? '' : ` in ${count(report.files)} ${report.files === 1 ? 'file' : 'files'}`
  return answered(`no matches${where} (hidden, git-ignored and binary files are not searched)`)
}

function listed(noun: Noun, rows: readonly string[], found: number, report: SearchReport): ToolAnswer {
  const shown = fitting(rows)
  const all = `${report.ended === undefined ? '' : 'more than '}${count(found)} ${found === 1 ? noun : PLURAL[noun]}`
  const parts = [all, ...rows.slice(0, shown)]
  if (shown < found) parts.push(`[cut: ${count(shown)} of ${all} shown; narrow the pattern or the path]`)
  const told = shown < found && report.ended === 'size' ? { ...report, ended: undefined } : report
  parts.push(...cutsOf(told).map(cut => `[${cut}]`))
  return answered(parts.join('\n'))
}

function cutsOf(report: SearchReport): string[] {
  const cuts: string[] = []
  if (report.ended === 'time') cuts.push(`cut: the search was stopped after ${report.seconds} s, before it had seen everything; narrow the pattern or the path`)
  if (report.ended === 'size') cuts.push('cut: there are more results than one search returns; narrow the pattern or the path')
  if (report.long.length > 0) cuts.push(`cut: matches on lines too long to show, in ${someOf(report.long)}`)
  if (report.unread.length > 0) cuts.push(`cut: not everything could be read: ${someOf(report.unread)}`)
  return cuts
}

function someOf(lines: readonly string[]): string {
  const more = lines.length > 3 ? ` and ${lines.length - 3} more` : ''
  return `${truncate(lines.slice(0, 3).join('; '), 600)}${more}`
}

/** How many rows fit into one answer; the first always does. */
function fitting(rows: readonly string[]): number {
  let size = 0
  const over = rows.findIndex(row => (size += row.length + 1) > ANSWER_CHARS)
  return over === -1 ? rows.length : Math.max(over, 1)
}

function cutLine(line: string): string {
  return line.length <= LINE_CHARS ? line : `${truncate(line, LINE_CHARS)} [cut: ${count(line.length)} characters in this line]`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
