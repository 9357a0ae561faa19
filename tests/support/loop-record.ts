/** What the advisor wrote down about the sessions of a loop, read from its files as anybody could. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { ReviewRecord } from '../../src/record/journal.ts'
import type { Totals } from '../../src/record/totals.ts'
import type { Loop } from './loop.ts'

/** One line of a journal. */
export interface Line extends Partial<Omit<ReviewRecord, 'kind' | 'usage' | 'cost'>> {
  readonly kind: string
  readonly run: string
  readonly at: number
  readonly totals: Totals
  readonly again?: number
  readonly note?: number
  readonly fate?: string
  readonly verdict?: string
  readonly usage?: ReviewRecord['usage'] | 'unknown'
  readonly cost?: ReviewRecord['cost'] | 'unknown'
}

/** Files of the advisor about one session, by path. */
export function journalsOf(loop: Loop, agent: Agent | string): readonly string[] {
  const id = typeof agent === 'string' ? agent : agent.id
  return readdirSync(loop.home, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.jsonl') && name.split(sep).includes(id) && name.split(sep).includes('advisor'))
    .map(name => join(loop.home, name)).toSorted()
}

/** The folder with these files. */
export function recordOf(loop: Loop, agent: Agent | string): string {
  const [path] = journalsOf(loop, agent)
  if (path === undefined) throw new Error(`nothing is written down about this session\n${loop.describe()}`)
  return dirname(path)
}

/** The lines of one advisor's journal, the oldest first. What cannot be read fails the test. */
export function journal(loop: Loop, agent: Agent | string, slug = ''): readonly Line[] {
  const name = slug === '' ? '__advisor.jsonl' : `__advisor.${slug}.jsonl`
  const path = journalsOf(loop, agent).find(file => file.endsWith(sep + name))
  return path === undefined ? [] : readLines(path)
}

export function readLines(path: string): readonly Line[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  // Behind the last newline stands nothing, or a line that is being written.
  return lines.slice(0, -1).filter(line => line !== '').map(line => JSON.parse(line) as Line)
}

/** The reviews among them. */
export function reviewsIn(lines: readonly Line[]): readonly Line[] {
  return lines.filter(({ kind }) => kind === 'review')
}

/** The reviews of one advisor's journal, once so many stand in it: whoever appends does not wait for the disk. */
export async function reviews(loop: Loop, agent: Agent | string, count: number, slug = ''): Promise<readonly Line[]> {
  await loop.until(() => reviewsIn(journal(loop, agent, slug)).length >= count, `${count} reviews stand in the journal`)
  return reviewsIn(journal(loop, agent, slug))
}
