// Blocks of private keys, whole or without their beginning or end; certificates and public keys are not secret.
// It walks forward over each text once: every search stops at the next mark, so that no input makes it slow.

import type { Found } from './found.ts'

const KIND = 'private-key'
/** Longer blocks than this are none. */
const LONGEST = 64_000
/** Where no beginning was seen, so far back a body is looked for. */
const LONGEST_WITHOUT_BEGIN = 16_000

/** Stands for a beginning that was seen earlier. */
export const BEGIN_MARK = '-----BEGIN PRIVATE KEY-----\n'

const BEGIN = /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/y
const END = /-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/g
const PUTTY = /Private-Lines: ?\d{1,4}/y
const RUN = /[A-Za-z0-9+/]{16,}={0,2}/
/** Between the lines of a key: breaks, also escaped ones, quotes, marks of diffs and listings, headers. */
const GAP = /(?:\\[nrt]|[\s"'`,>|\\-]|\+(?=\s*["'`]|[A-Za-z0-9+/]{16})|(?<=[\n\r][ \t]{0,8})\d{1,6}(?:→|[:|\t ])|(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash): [^\n\\]{0,120})*/y
const CHUNK = /[A-Za-z0-9+/]{16,}={0,2}/y
const LEAD = /(?:[-+\s"'`]|\d{1,6}(?:→|[:|\t ]))*/y
const TRAIL = '"\'`,\\+ \t\r'
const LAST_CHUNK = /(?=[a-z]*[A-Z0-9+/=])[A-Za-z0-9+/]{1,15}={0,2}(?=\s|\\|["'`]|-{5}|$)|=[A-Za-z0-9+/]{4}(?=\s|\\|$)/y

/** Whether a text ends in the middle of a key. */
export function isOpenKey(found: Found, text: string): boolean {
  return found.kind === KIND && found.part === true && after(GAP, text, found.end) >= text.length
}

/** Finds the keys of one text; its marks have to be reported in their order. */
export class PrivateKeys {
  private readonly text: string
  private readonly push: (found: Found) => void
  /** Where the last thing found, or refused, ended. */
  private done = 0
  private nextEnd = { start: -1, end: -1 }

  constructor(text: string, push: (found: Found) => void) {
    this.text = text
    this.push = push
  }

  /** `-----BEGIN ` stands here. */
  begin(start: number): void {
    BEGIN.lastIndex = start
    if (start < this.done || !BEGIN.test(this.text)) return
    const from = BEGIN.lastIndex
    this.done = from
    const end = this.endAfter(from)
    const next = this.text.indexOf('-----BEGIN ', from)
    const isWhole = end !== undefined && end.start - from <= LONGEST && (next < 0 || next > end.start)
    if (isWhole && this.hasRun(from, end.start)) this.report(start, end.end)
    else if (!isWhole) this.open(start, from, next)
  }

  /** `-----END ` stands here. */
  end(start: number): void {
    const end = start < this.done ? undefined : this.endAfter(start)
    if (end?.start !== start) return
    const floor = Math.max(this.done, start - LONGEST_WITHOUT_BEGIN)
    const from = this.bodyBefore(start, floor)
    this.done = end.end
    if (from < start) this.report(from, end.end)
  }

  /** The private part of a PuTTY key, which has no end mark. */
  putty(start: number): void {
    PUTTY.lastIndex = start
    if (PUTTY.test(this.text)) this.open(start, PUTTY.lastIndex, this.text.indexOf('Private-Lines:', start + 1))
  }

  private report(start: number, end: number, isPart = false): void {
    const runs = this.text.slice(start, end).match(new RegExp(RUN, 'g')) ?? []
    const lines = runs.map(run => run.replace(/^\+/, ''))
    this.push({
      start, end, kind: KIND, value: lines.join('\n'), aliases: lines.filter(line => line.length >= 40).slice(0, 100), ...isPart ? { part: true } : {},
    })
    this.done = end
  }

  /** A body that no end mark closes: as far as its lines look like one, and before the next key. */
  private open(start: number, from: number, next: number): void {
    const to = Math.min(next < 0 ? this.text.length : next, from + LONGEST)
    const body = this.text.slice(from, to)
    let at = 0
    for (;;) {
      const gap = after(GAP, body, at)
      const line = after(CHUNK, body, gap)
      if (line === gap) break
      at = line
    }
    if (at === 0) return
    const rest = after(GAP, body, at)
    const short = after(LAST_CHUNK, body, rest)
    if (short > rest) at = short
    this.report(start, from + at, from + after(GAP, body, at) >= this.text.length)
  }

  private hasRun(from: number, to: number): boolean {
    return RUN.test(this.text.slice(from, to))
  }

  /** Where a body begins whose end mark stands at `end`: the topmost of the lines above that look like one. */
  private bodyBefore(end: number, floor: number): number {
    let from = end
    let seen = false
    const lines = [...this.text.slice(floor, end).matchAll(/((?:[^\n\\]|\\(?!n))*)(?:\n|\\n|$)/g)]
    for (const line of lines.reverse()) {
      const content = bare(line[1]!)
      if (content === '') continue
      if (!/^[A-Za-z0-9+/]+={0,2}$/.test(content)) break
      if (content.length < 16 && seen) break
      seen = true
      from = floor + line.index
    }
    return RUN.test(this.text.slice(from, end)) ? from : end
  }

  private endAfter(from: number): { start: number, end: number } | undefined {
    if (this.nextEnd.start < from) {
      END.lastIndex = from
      const match = END.exec(this.text)
      this.nextEnd = match === null ? { start: Infinity, end: Infinity } : { start: match.index, end: END.lastIndex }
    }
    return this.nextEnd.start === Infinity ? undefined : this.nextEnd
  }
}

/** A line without what listings, diffs and code put around it. */
function bare(line: string): string {
  const from = after(LEAD, line, 0)
  let to = line.length
  while (to > from && TRAIL.includes(line[to - 1]!)) to -= 1
  return line.slice(from, to)
}

function after(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at
  return expression.test(text) ? expression.lastIndex : at
}
