// Redaction: how many secrets of a corpus get through to what a reviewer is shown, how many lines of ordinary code it touches,
// and how fast it is.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Entry } from '../src/observe/entry.ts'
import { renderDelta } from '../src/observe/delta.ts'
import { hideEntry } from '../src/observe/hide.ts'
import { Redactor } from '../src/redact/redactor.ts'
import { samples } from '../tests/support/secrets.ts'
import { touchedLines } from '../tests/support/touched-lines.ts'
import type { BudgetRow } from './budget.ts'
import { bytesOf, cpuNow } from './measure.ts'
import { number, percent, printNote, printTable } from './table.ts'

const SEEDS = 20
const LIMITS = { maxDeltaMessages: 0, maxDeltaChars: 10_000_000 }
const OPTIONS = { cwd: '/work', includeReasoning: true }
/** So much of a secret is a leak. */
const SHARE = 12

type Tool = Partial<Extract<Entry, { kind: 'tool' }>>
const tool = (more: Tool): Entry => ({ kind: 'tool', seq: 1, name: 'write', args: '{}', outcome: 'ok', output: '', diffs: [], ...more })

/** Where a session holds a secret: the entries that the observer would make of it. */
const PLACES: Readonly<Record<string, (text: string) => readonly Entry[]>> = {
  'a prompt': text => [{ kind: 'user', seq: 1, text: `Please use this:\n${text}\n` }],
  'reasoning': text => [{ kind: 'agent', seq: 1, text: '', reasoning: `The user gave me this.\n${text}`, interrupted: false }],
  'tool arguments': text => [tool({ args: JSON.stringify({ path: 'a.env', content: `first\n${text}\nlast` }) })],
  'a tool result': text => [tool({ name: 'bash', args: '{"command":"cat a.env"}', output: `first\n${text}\nlast` })],
  'a diff': text => [tool({ diffs: [{ path: 'a.env', oldText: 'first\n', newText: `first\n${text}\nlast` }] })],
  'a file name': text => [tool({ args: JSON.stringify({ path: `backup/${text}.txt` }) })],
  'two messages, cut': text => [tool({ output: text.slice(0, text.length / 2) }), tool({ output: text.slice(text.length / 2) })],
}

/** What a user has on disk that is no secret: every package of this repository, and our own code. */
const ORDINARY = ['../node_modules/', '../src/', '../tests/', '../scripts/'].map(path => fileURLToPath(new URL(path, import.meta.url)))
const LARGEST_FILE = 1_000_000

export async function redaction(): Promise<readonly BudgetRow[]> {
  const corpus = Array.from({ length: SEEDS }, (_, seed) => samples(seed + 1)).flat()
  const leaks = Object.entries(PLACES).map(([place, make]): [string, number, number] => {
    const fitting = place === 'a file name' ? corpus.filter(({ text }) => /^[^/\s"'`]{1,200}$/.test(text)) : corpus
    return [place, fitting.length, fitting.filter(({ text, secret }) => shows(shown(make(text)), secret)).length]
  })
  printTable(`${number(samples().length)} kinds of secrets, ${SEEDS} of each, in what a reviewer is shown`, ['in', 'secrets', 'leaked'], leaks)

  const files = ORDINARY.flatMap(codeFiles)
  let [lines, touched, bytes, spent] = [0, 0, 0, 0]
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    const start = cpuNow()
    const count = touchedLines(text).length
    spent += cpuNow() - start
    touched += count
    lines += text.split('\n').length
    bytes += bytesOf(text)
  }
  const rate = touched / lines * 1_000
  const speed = bytes / 1_000 / spent
  printTable('ordinary code', ['files', 'lines', 'touched', 'of 1,000', 'MB/s'], [[files.length, lines, touched, number(rate, 3), number(speed, 1)]])
  printNote('processor time, reading not counted, comparing the lines counted')

  const all = leaks.reduce((sum, [, count]) => sum + count, 0)
  const leaked = leaks.reduce((sum, [,, count]) => sum + count, 0)
  return [
    { what: 'secrets of a corpus that leak', bound: 'none', measured: `${number(leaked)} of ${number(all)} (${percent(leaked / all)})`, met: leaked === 0 },
    { what: 'lines of ordinary code touched', bound: 'under 1 of 1,000', measured: `${number(rate, 3)} of 1,000`, met: rate < 1 },
    { what: 'redaction', bound: 'over 20 MB/s', measured: `${number(speed, 1)} MB/s`, met: speed > 20 },
  ]
}

/** The texts as they would be sent. */
function shown(entries: readonly Entry[]): string {
  const redactor = new Redactor({ patterns: [], known: [] })
  const hidden = entries.map(entry => hideEntry(entry, redactor))
  const texts = renderDelta([{ turn: 1, step: 1, final: true, entries: hidden }], LIMITS, OPTIONS).map(({ text }) => text)
  return redactor.texts(texts).join('\n\n')
}

/** A secret over a border counts by its beginning and its end. */
function shows(text: string, secret: string): boolean {
  const parts = secret.length > SHARE + 4 ? [secret.slice(0, SHARE), secret.slice(-SHARE)] : [secret]
  return parts.some(part => text.includes(part))
}

function codeFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name.startsWith('.') ? [] : codeFiles(path)
    const isCode = entry.isFile() && /\.(?:[cm]?[jt]sx?|md|json|ya?ml|css|html|sh)$/.test(entry.name)
    return isCode && statSync(path).size <= LARGEST_FILE ? [path] : []
  })
}
