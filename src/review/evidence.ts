// Whether a finding rests on what it quotes. Looks at most into the one file that the finding names.

import type { Config } from '../config/schema.ts'
import type { Evidence, Finding } from '../finding.ts'
import { rank, SEVERITIES, type Severity } from '../severity.ts'
import { truncate } from '../text.ts'
import type { Quotable } from './proof-files.ts'
import { ENOUGH, substance, withoutPrefixes } from './seen.ts'

export { Seen } from './seen.ts'

export type EvidenceVerdict =
  /** A quote that proves nothing is taken off: what is shown to the user stands somewhere. */
  | { readonly kind: 'fine', readonly finding: Finding }
  /** One step less, without its evidence. `reason` is told to the reviewer. */
  | { readonly kind: 'lowered', readonly finding: Finding, readonly reason: string }

type Look = (path: string) => Promise<Quotable | undefined>

/** A shorter quote has to name something, and stand as whole words. */
const LEAST = 3
const PATH_TOLD = 120

/**
 * Judge what a finding quotes.
 * @param policy - config `evidence`: from which severity on a quote is needed.
 * @param look - into the named file as it is now; undefined when it cannot be read inside the workspace.
 */
export async function checkEvidence(
  finding: Finding, policy: Config['evidence'], seen: Quotable, look: Look,
): Promise<EvidenceVerdict> {
  const { evidence, ...unproved } = finding
  const reason = evidence === undefined ? `a ${finding.severity} has to quote in \`evidence\` what proves it` : await examine(evidence, seen, look)
  if (reason === undefined) return { kind: 'fine', finding }
  if (policy === 'off' || rank(finding.severity) < rank(policy)) return { kind: 'fine', finding: unproved }
  return { kind: 'lowered', finding: { ...unproved, severity: oneLess(finding.severity) }, reason }
}

function oneLess(severity: Severity): Severity {
  return SEVERITIES[rank(severity) - 1] ?? 'nit'
}

/** Why the quote proves nothing, or undefined when it does. */
async function examine({ quote, path }: Evidence, seen: Quotable, look: Look): Promise<string | undefined> {
  const readings = readingsOf(quote).filter(parts => parts.every(part => proves(part, parts.length > 1)))
  if (readings.length === 0) return 'its quote is too short to prove anything'
  if (readings.some(parts => parts.every(part => seen.has(part)))) return undefined
  const nowhere = 'its quote does not stand in what you were shown or have read'
  if (path === undefined) return nowhere
  const file = await fileNamed(path, look)
  if (file === undefined) return `${nowhere}, and there is no file \`${truncate(path, PATH_TOLD)}\` to look in`
  const found = readings.some(parts => parts.every(part => file.has(part) || seen.has(part)))
  return found ? undefined : `${nowhere}, nor in \`${truncate(path, PATH_TOLD)}\` as it is now`
}

/** Reviewers like to add the line to the path. */
async function fileNamed(path: string, look: Look): Promise<Quotable | undefined> {
  const file = path.replace(LINE_REFERENCE, '')
  return await look(path).catch(() => undefined) ?? (file === path || file === '' ? undefined : await look(file).catch(() => undefined))
}

const LINE_REFERENCE = /(?::\d+(?:[:-]\d+)*|#L\d+(?:-L?\d+)?|,? \(?lines? \d+(?:-\d+)?\)?)$/

/** Whether words can be evidence: `}` and `the` stand everywhere. */
function proves(quote: string, isPart: boolean): boolean {
  const weight = substance(withoutPrefixes(quote).replace(FRAMING, ''))
  return weight >= ENOUGH || (!isPart && weight >= LEAST && NAMING.test(quote))
}

/** What makes a few letters the name of something: a digit, capitals, or the marks of code. `exit 1`, `EOF`, `a.ts`, `run()`. */
const NAMING = /\p{N}|\p{Lu}{2}|[^\p{L}\p{N}\s.,;:!?'"()]|\w[.:]\w|\w\(\)/u

/** Our own marks stand in every update. */
const FRAMING = /^(?:\[tool result\]|\[working\]|\[interrupted\]|## step [\d.]+|\*\*(?:user|agent)[^*\n]*\*\*)/gm

/** A quote as it may have been meant, each as the parts that have to be found: as it stands first, then without what was put around and into it. */
function readingsOf(quote: string): (readonly string[])[] {
  const bare = unwrap(quote)
  const plain = bare.replace(/\\([!-/:-@[-`{-~])/g, '$1').replace(/\\[nrt]/g, '\n')
  const texts = [...new Set([quote, bare, plain])]
  const elided = texts.map(text => text.split(ELISION).map(part => part.trim()).filter(part => part !== ''))
  return [...texts.map(text => [text]), ...elided.filter((parts, index) => parts.length > 0 && parts[0] !== texts[index])]
}

/** Where the reviewer itself left something out. */
const ELISION = /\[(?:…|\.{3})\]|\((?:…|\.{3})\)|…|\.{3}/

/** Drop quotation marks, backticks or a fence around the whole. */
function unwrap(quote: string): string {
  const text = quote.trim()
  const fenced = /^(`{3,}|~{3,})[^\n]*\n([^]*?)\n?\1$/.exec(text)?.[2]
  if (fenced !== undefined) return fenced
  const [open = '', close] = [text[0], text.at(-1)]
  return text.length > 2 && WRAPPERS[open]?.includes(close ?? '') === true ? unwrap(text.slice(1, -1)) : text
}

const WRAPPERS: Readonly<Record<string, string>> = {
  '"': '"', '\'': '\'', '`': '`', '“': '”“', '‘': '’', '„': '“”', '«': '»', '»': '«', '「': '」', '『': '』', '‹': '›',
}
