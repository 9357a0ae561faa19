// The text of a WATCHDOG.yml as entries, each judged by itself: one bad entry costs nothing but itself. Pure, opens no file.

import { isAlias, isMap, isSeq, LineCounter, parseAllDocuments, type Document, type Node, type YAMLMap } from 'yaml'
import { count, errorMessage, printable, truncate } from '../text.ts'
import { ADVISOR_LIMIT, FILE_KEYS, readEntry, readName, show, slugOf, type EntryResult, type RosterEntry } from './entry.ts'

/** How often the aliases of one entry may be followed: more is an attack, or a mistake. */
export const ALIAS_LIMIT = 100

/** An entry with the name that files and commands use, unique in its file. */
export interface PlacedEntry {
  readonly entry: RosterEntry
  readonly slug: string
  readonly line: number
}

/** Something that the user should know; `line` and `column` from 1. */
export interface Remark {
  readonly line: number | undefined
  readonly column: number | undefined
  readonly text: string
}

export type ParsedRoster =
  | { readonly kind: 'roster', readonly instructions: string, readonly entries: readonly PlacedEntry[], readonly bad: number, readonly remarks: readonly Remark[] }
  /** Nothing of the file can be used. */
  | { readonly kind: 'broken', readonly remarks: readonly Remark[] }

/** Read the text of a roster file. Never throws. */
export function parseRoster(text: string): ParsedRoster {
  const lines = new LineCounter()
  let file: RosterText
  try {
    // Keys are compared below, entry by entry: two of one name spoil their entry and not the file.
    const documents = parseAllDocuments(text, {
      lineCounter: lines, merge: true, uniqueKeys: false, stringKeys: true, prettyErrors: false, logLevel: 'error',
    })
    const error = (documents[0]?.errors ?? ('errors' in documents ? documents.errors : []))[0]
    file = new RosterText(lines)
    if (error !== undefined) return { kind: 'broken', remarks: [file.remark(error.pos[0], `skipped: ${describe(error)}`)] }
    const [first, second] = documents
    if (second !== undefined) file.say(second.range[0], 'only the first document of a file counts')
    return first === undefined ? file.result() : file.read(first)
  } catch (error) {
    return { kind: 'broken', remarks: [{ line: undefined, column: undefined, text: `skipped: ${describe(error)}` }] }
  }
}

/** One parse: collects what it finds. */
class RosterText {
  private readonly lines: LineCounter
  private readonly remarks: Remark[] = []
  private readonly entries: PlacedEntry[] = []
  private readonly slugs = new Set<string>()
  private instructions = ''
  private bad = 0

  constructor(lines: LineCounter) {
    this.lines = lines
  }

  read(document: Document.Parsed): ParsedRoster {
    const top: unknown = document.contents
    if (top === null) return this.result()
    if (!isMap(top)) {
      // An empty file with a comment holds a null of its own.
      const value: unknown = document.toJS({ maxAliasCount: ALIAS_LIMIT })
      if (value === null) return this.result()
      return { kind: 'broken', remarks: [this.remark(start(top as Node), `skipped: a mapping with ${FILE_KEYS.join(' and ')} is expected, not ${show(value)}`)] }
    }
    const twice = repeatedKey(top)
    if (twice !== undefined) return { kind: 'broken', remarks: [this.remark(start(twice.node), `skipped: \`${twice.key}\` stands twice`)] }
    for (const { key, node, value } of pairs(top)) {
      if (isFileKey(key)) this.readKey(key, node, value, document)
      else if (!key.startsWith('x-')) this.say(start(node), `unknown key \`${printable(truncate(key, 40))}\` ignored; allowed: ${FILE_KEYS.join(', ')}`)
    }
    return this.result()
  }

  say(position: number | undefined, text: string): void {
    this.remarks.push(this.remark(position, text))
  }

  remark(position: number | undefined, text: string): Remark {
    if (position === undefined) return { line: undefined, column: undefined, text }
    const { line, col } = this.lines.linePos(position)
    return { line, column: col, text }
  }

  result(): ParsedRoster {
    return { kind: 'roster', instructions: this.instructions, entries: this.entries, bad: this.bad, remarks: this.remarks }
  }

  private readKey(key: (typeof FILE_KEYS)[number], node: Node, value: Node | null, document: Document.Parsed): void {
    try {
      if (key === 'instructions') this.readInstructions(value, document)
      else this.readAdvisors(value, document)
    } catch (error) {
      this.bad += 1
      this.say(start(node), `\`${key}\` ignored: ${describe(error)}`)
    }
  }

  private readInstructions(node: Node | null, document: Document.Parsed): void {
    const value = toValue(node, document)
    if (typeof value === 'string') this.instructions = value.trim()
    else if (value !== null) this.say(start(node), `\`instructions\` ignored: a text is expected, not ${show(value)}`)
  }

  private readAdvisors(node: Node | null, document: Document.Parsed): void {
    const list = follow(node, document)
    if (!isSeq(list)) {
      const value = toValue(node, document)
      if (value === null) return
      this.bad += 1
      return this.say(start(node), `\`advisors\` ignored: a list is expected, not ${show(value)}`)
    }
    const ignored: string[] = []
    for (const [index, item] of list.items.entries()) {
      const result = this.readItem(item as Node | null, document)
      const position = start(item as Node | null) ?? start(list)
      if (result.kind === 'bad') {
        this.bad += 1
        const name = result.name === undefined ? `advisor ${index + 1}` : `advisor "${result.name}"`
        this.say(result.position ?? position, `${name} skipped: ${result.reason}`)
      } else if (this.entries.length >= ADVISOR_LIMIT) ignored.push(result.entry.name)
      else this.place(result.entry, position)
    }
    if (ignored.length > 0) this.say(start(list), tooMany(ignored))
  }

  private readItem(item: Node | null, document: Document.Parsed) {
    const map = follow(item, document)
    let result: EntryResult
    try {
      result = readEntry(toValue(item, document))
    } catch (error) {
      const name = isMap(map) ? readName(map.get('name')) : undefined
      return { kind: 'bad', name, reason: describe(error), position: start(item) } as const
    }
    if (!isMap(map)) return { ...result, position: start(item) }
    const twice = repeatedKey(map)
    if (twice !== undefined) {
      const name = result.kind === 'entry' ? result.entry.name : result.name
      return { kind: 'bad', name, reason: `\`${twice.key}\` stands twice`, position: start(twice.node) } as const
    }
    const at = result.kind === 'bad' ? pairs(map).find(({ key }) => key === result.key)?.node : undefined
    return { ...result, position: start(at ?? item) }
  }

  private place(entry: RosterEntry, position: number | undefined): void {
    const base = slugOf(entry.name)
    let slug = base
    for (let number = 2; this.slugs.has(slug); number += 1) slug = `${base}-${number}`
    this.slugs.add(slug)
    if (slug !== base) this.say(position, `advisor "${entry.name}" is called ${slug}: another one of this file has its name`)
    this.entries.push({ entry, slug, line: this.remark(position, '').line ?? 1 })
  }
}

/** The line that says who is beyond the limit. */
export function tooMany(names: readonly string[]): string {
  return `${count(names.length, 'advisor')} beyond ${ADVISOR_LIMIT} ignored: ${truncate(names.join(', '), 160)}`
}

/** @throws when aliases lead nowhere, in a circle, or too far. */
function toValue(node: Node | null, document: Document.Parsed): unknown {
  return node === null ? null : node.toJS(document, { maxAliasCount: ALIAS_LIMIT }) as unknown
}

function follow(node: Node | null, document: Document.Parsed): unknown {
  return isAlias(node) ? node.resolve(document) : node
}

function describe(error: unknown): string {
  return printable(truncate(errorMessage(error), 200)).replace(/\s+/g, ' ')
}

function isFileKey(key: string): key is (typeof FILE_KEYS)[number] {
  return (FILE_KEYS as readonly string[]).includes(key)
}

function start(node: Node | null | undefined): number | undefined {
  return node?.range?.[0]
}

function pairs(map: YAMLMap): { key: string, node: Node, value: Node | null }[] {
  return map.items.map(({ key, value }) => ({ key: String(key), node: key as Node, value: value as Node | null }))
}

/** The first key that stands twice; merging another mapping more than once is fine. */
function repeatedKey(map: YAMLMap): { key: string, node: Node } | undefined {
  const seen = new Set<string>()
  return pairs(map).find(({ key }) => key !== '<<' && seen.size === seen.add(key).size)
}
