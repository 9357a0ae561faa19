// Changes to the text of a WATCHDOG.yml. What a change does not touch keeps its bytes: comments, order, quotes, blank lines,
// line ends, byte order mark. Pure: text in, text out. A result that is not exactly what was meant is refused.

import { isDeepStrictEqual } from 'node:util'
import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Alias, type Document, type YAMLMap, type YAMLSeq } from 'yaml'
import { isMapping } from '../mapping.ts'
import type { Entry, Value } from './edit-render.ts'
import { appendItem, findPair, firstKey, removeItem, removeKey, setKey, splice, type Source, type Splice } from './edit-splice.ts'

/** One change. An advisor is named by its place in the file's list, from 0. */
export type Edit =
  | { readonly kind: 'add', readonly entry: Entry }
  | { readonly kind: 'remove', readonly index: number }
  /** Without a value the key goes. */
  | { readonly kind: 'change', readonly index: number, readonly key: string, readonly value: Value | undefined }
  | { readonly kind: 'instructions', readonly value: string | undefined }

/** A file's content as far as it can be edited; `line` and `column` from 1. */
export type Reading =
  | { readonly kind: 'document', readonly instructions: unknown, readonly entries: readonly ListedEntry[] }
  | { readonly kind: 'broken', readonly line: number, readonly column: number, readonly reason: string }

/** An entry of `advisors`, whether it is any good or not. */
export interface ListedEntry {
  readonly line: number
  /** As YAML gives it. */
  readonly value: unknown
}

/** What a change comes to. `empty`: nothing but comments would be left. */
export type Edited =
  | { readonly kind: 'edited', readonly text: string }
  | { readonly kind: 'same' }
  | { readonly kind: 'empty', readonly text: string }
  | { readonly kind: 'refused', readonly reason: string }

const BOM = '\ufeff'

const BY_HAND = 'the file is written in a way that this cannot be changed without changing something else; edit it by hand'

/** Read a file's text. A text without content is an empty document. */
export function readDocument(text: string): Reading {
  const parsed = parse(text)
  if (parsed.kind === 'broken') return parsed
  const { top, advisors, lines, value } = parsed
  const list = advisors === undefined ? [] : value.advisors as unknown[]
  return {
    kind: 'document',
    instructions: top === undefined ? undefined : value.instructions,
    entries: list.map((entry, at) => ({ line: lines.linePos((advisors?.items[at] as { range?: number[] })?.range?.[0] ?? 0).line, value: entry })),
  }
}

/** Make one change to a text. */
export function editDocument(text: string, edit: Edit): Edited {
  const parsed = parse(text)
  if (parsed.kind === 'broken') return { kind: 'refused', reason: `line ${parsed.line}, column ${parsed.column}: ${parsed.reason}` }
  const meant = meaning(parsed.value, edit)
  if (isDeepStrictEqual(meant, parsed.value)) return { kind: 'same' }
  const bom = text.startsWith(BOM) ? BOM : ''
  const done = place(parsed, edit)
  if (typeof done === 'string') return { kind: 'refused', reason: done }
  const result = splice(parsed.source.text, done)
  const after = parse(result)
  // A repeated value, a tag or a layout that none of the rules fits: better no change than another one.
  if (after.kind === 'broken' || !isDeepStrictEqual(after.value, meant)) {
    return { kind: 'refused', reason: BY_HAND }
  }
  return { kind: Object.keys(meant).length === 0 ? 'empty' : 'edited', text: bom + result }
}

interface Parsed {
  readonly kind: 'document'
  readonly source: Source
  readonly lines: LineCounter
  readonly top: YAMLMap | undefined
  readonly advisors: YAMLSeq | undefined
  readonly value: Record<string, unknown>
}

function parse(whole: string): Parsed | Extract<Reading, { kind: 'broken' }> {
  const text = whole.startsWith(BOM) ? whole.slice(1) : whole
  const lines = new LineCounter()
  const broken = (offset: number, reason: string) => {
    const { line, col } = lines.linePos(offset)
    return { kind: 'broken', line: Math.max(1, line), column: Math.max(1, col), reason } as const
  }
  const document = parseDocument(text, { keepSourceTokens: true, lineCounter: lines, merge: true, prettyErrors: false, logLevel: 'error' })
  const [error] = document.errors
  if (error !== undefined) return broken(error.pos[0], error.message)
  const loose = looseAlias(document)
  if (loose !== undefined) return broken(loose.range?.[0] ?? 0, `\`*${loose.source}\` repeats what is not there`)
  const { contents } = document
  const source = { text, eol: /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n' }
  if (contents === null || isScalar(contents) && contents.source === '') {
    return { kind: 'document', source, lines, top: undefined, advisors: undefined, value: {} }
  }
  if (!isMap(contents)) return broken(contents.range[0], 'expected keys, such as `advisors:`')
  const list = findPair(contents, 'advisors')?.value
  if (list !== undefined && !isSeq(list) && !(isScalar(list) && list.value === null)) {
    return broken((list as { range: number[] }).range[0]!, '`advisors` is not a list')
  }
  try {
    const value: unknown = document.toJS()
    if (!isMapping(value)) return broken(contents.range[0], 'expected keys, such as `advisors:`')
    return { kind: 'document', source, lines, top: contents, advisors: isSeq(list) ? list : undefined, value }
  } catch (error) {
    return broken(contents.range[0], error instanceof Error ? error.message : String(error))
  }
}

/** An alias without its anchor, which the parser alone would pass. */
function looseAlias(document: Document): Alias | undefined {
  let loose: Alias | undefined
  visit(document, { Alias: (_, alias) => alias.resolve(document) === undefined ? (loose = alias, visit.BREAK) : undefined })
  return loose
}

/** What the document holds after a change. */
function meaning(value: Record<string, unknown>, edit: Edit): Record<string, unknown> {
  const list = Array.isArray(value.advisors) ? value.advisors as unknown[] : []
  switch (edit.kind) {
    case 'instructions': return withKey(value, 'instructions', edit.value)
    case 'add': return { ...value, advisors: [...list, edit.entry] }
    case 'remove': {
      const left = list.filter((_, at) => at !== edit.index)
      return withKey(value, 'advisors', left.length > 0 ? left : undefined)
    }
    case 'change': {
      return { ...value, advisors: list.map((entry, at) => at === edit.index && isMapping(entry) ? withKey(entry, edit.key, edit.value) : entry) }
    }
  }
}

function withKey(mapping: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  const { [key]: _, ...rest } = mapping
  return value === undefined ? rest : { ...rest, [key]: value }
}

/** Where a change goes, or why it cannot be made. */
function place({ source, top, advisors }: Parsed, edit: Edit): Splice | string {
  switch (edit.kind) {
    case 'instructions': return placeKey(source, top, 'instructions', edit.value)
    case 'add': return advisors !== undefined && advisors.items.length > 0
      ? appendItem(source, advisors, edit.entry)
      : placeKey(source, top, 'advisors', [edit.entry])
    case 'remove': return advisors === undefined || advisors.items.length < 2
      ? placeKey(source, top, 'advisors', undefined)
      : removeItem(source, advisors, edit.index)
    case 'change': {
      const entry = advisors?.items[edit.index]
      return isMap(entry) && entry.items.length > 0 ? placeKey(source, entry, edit.key, edit.value) : BY_HAND
    }
  }
}

function placeKey(source: Source, map: YAMLMap | undefined, key: string, value: Value | undefined): Splice | string {
  if (map === undefined) return value === undefined ? BY_HAND : firstKey(source, key, value)
  if (value !== undefined) return setKey(source, map, key, value)
  // A key that comes out of a merged mapping stands nowhere here.
  return findPair(map, key) === undefined ? BY_HAND : removeKey(source, map, key)
}
