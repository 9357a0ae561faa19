// A reviewer's tools over a handful of files that are nowhere on disk: they are told of as the session's own tools are, and what
// they answer looks alike. Nothing is run and nothing is read.

import { answered, failed, showFiles, showMatches, showRead, type SearchReport, type ToolAnswer } from './answer.ts'
import { parseArguments } from './schemas.ts'
import type { ToolCall, Toolbox } from './toolbox.ts'

/** Lines of a `read` without a limit. */
const READ_LINES = 2_000

/** @param real - tells what tools there are; it runs none. @param files - by path, relative to `cwd`. */
export function toolsOver(files: Readonly<Record<string, string>>, cwd: string, real: Pick<Toolbox, 'offer'>): Toolbox {
  return {
    offer: names => real.offer(names),
    async run(call, granted) {
      if (!granted.includes(call.name)) return failed('not run', `there is no tool "${call.name}" here`)
      return look(call, files, cwd)
    },
  }
}

function look({ name, arguments: json }: ToolCall, files: Readonly<Record<string, string>>, cwd: string): ToolAnswer {
  const parsed = parseArguments(json)
  if (parsed.kind === 'bad') return failed('not run', parsed.reason)
  const args = parsed.value
  const place = within(String(args.file_path ?? args.path ?? ''), cwd)
  const pattern = String(args.pattern ?? '')
  const paths = Object.keys(files).filter(path => place === '' || path === place || path.startsWith(`${place}/`))
  switch (name) {
    case 'read': return read(place, files[place], args)
    case 'grep': return showMatches(paths.flatMap(path => linesOf(files[path]!).flatMap((line, index) => (
      holds(line, pattern) ? [{ path, lineNumber: index + 1, line }] : []
    ))), { ...REPORT, files: paths.length })
    case 'glob': return showFiles(paths.filter(path => holds(path, pattern)), REPORT, all => all)
    default: return answered('[nothing is run in a check]')
  }
}

function read(path: string, text: string | undefined, { offset, limit }: Readonly<Record<string, unknown>>): ToolAnswer {
  if (text === undefined) return failed('failed', `there is no file "${path}"`)
  const lines = linesOf(text).map((line, index) => ({ number: index + 1, text: line }))
  const first = Math.max(1, Number(offset) || 1)
  return showRead({ path, offset: first, lines: lines.slice(first - 1, first - 1 + (Number(limit) || READ_LINES)), totalLines: lines.length })
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}

/** A path as the files have it. */
function within(path: string, cwd: string): string {
  return (path.startsWith(cwd) ? path.slice(cwd.length) : path).replace(/^(?:\.?\/)+/, '').replace(/^\.$|\/+$/, '')
}

/** The words of one alternative of a pattern, whatever stands between them: an expression of a model's is not run. */
function holds(text: string, pattern: string): boolean {
  return pattern.split('|').some(part => (part.replace(/\\[a-z]/gi, ' ').match(/\w+/g) ?? []).every(word => text.includes(word)))
}

/** Everything was searched. */
const REPORT: SearchReport = { ended: undefined, seconds: 0, files: undefined, unread: [], long: [] }
