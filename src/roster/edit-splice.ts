// Where in a YAML text a change goes, and what stands there afterwards. The rest of the text keeps its bytes.

import { isCollection, isPair, isScalar, isSeq, type CST, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import {
  canBeLiteral, inline, inlinePair, isLong, itemLines, literalLines, pairLines, valueLines, type Quotes, type Value,
} from './edit-render.ts'

/** A text under change, and how its lines end. */
export interface Source {
  readonly text: string
  readonly eol: string
}

/** Put `text` in place of what stands between two offsets. */
export interface Splice {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Carry out one change. */
export function splice(text: string, { from, to, text: inserted }: Splice): string {
  return text.slice(0, from) + inserted + text.slice(to)
}

/** The pair of a key, if the mapping has it. */
export function findPair(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find(pair => isScalar(pair.key) && pair.key.value === key)
}

/** Give a key of a mapping a value; a key that is not there yet comes last. */
export function setKey(source: Source, map: YAMLMap, key: string, value: Value): Splice {
  const pair = findPair(map, key)
  if (pair !== undefined) return replaceValue(source, map, pair, value)
  if (map.flow === true) return appendInFlow(source, map, inlinePair(key, value, quotesOf(map.items[0]?.key)))
  const last = map.items.at(-1)!
  const column = columnOf(source.text, startOf(last))
  return afterLine(source, contentEnd(source.text, last), pairLines(key, value, column), column)
}

/** Take a key that is there out of a mapping, with its lines. */
export function removeKey(source: Source, map: YAMLMap, key: string): Splice {
  const pair = findPair(map, key)!
  if (map.flow === true) return removeInFlow(source.text, map, map.items.indexOf(pair))
  const from = startOf(pair)
  const end = lineEnd(source.text, contentEnd(source.text, pair))
  if (isLineStart(source.text, from)) return wholeLines(source.text, from, end)
  // The first key of an entry stands behind its dash: the next one moves there.
  return { from, to: end + spaceAt(source.text, end), text: '' }
}

/** Give a text without content its first key. */
export function firstKey({ text, eol }: Source, key: string, value: Value): Splice {
  const lines = pairLines(key, value, 0).join(eol)
  const at = text.length
  return { from: at, to: at, text: text === '' || text.endsWith('\n') ? lines + eol : eol + lines }
}

/** Add an item at the end of a sequence. */
export function appendItem(source: Source, seq: YAMLSeq, value: Value): Splice {
  const { text } = source
  const last = seq.items.at(-1) as Node | undefined
  if (seq.flow === true) return appendInFlow(source, seq, inline(value, quotesOf(last)))
  const dash = dashOf(seq, seq.items.length - 1)
  const column = columnOf(text, dash)
  const gap = /^-( +)\S/.exec(text.slice(dash))?.[1] ?? ' '
  const apart = seq.items.length > 1 && blankAbove(text, dash) > 0 ? [''] : []
  return afterLine(source, itemEnd(text, last!, column), [...apart, ...itemLines(value, column, gap)], column)
}

/** Take an item out of a sequence that has others, with its lines and the blank ones that set it apart. */
export function removeItem({ text }: Source, seq: YAMLSeq, index: number): Splice {
  if (seq.flow === true) return removeInFlow(text, seq, index)
  const dash = dashOf(seq, index)
  const lines = wholeLines(text, dash, itemEnd(text, seq.items[index] as Node, columnOf(text, dash)))
  if (index < seq.items.length - 1) return { ...lines, to: lines.to + blankBelow(text, lines.to) }
  // Blank lines that are part of the text before them stay.
  const floor = index === 0 ? lines.from : lineEnd(text, contentEnd(text, seq.items[index - 1])) + lines.from - lineEnd(text, lines.from - 1)
  return { ...lines, from: Math.max(floor, lines.from - blankAbove(text, dash)) }
}

function replaceValue({ text, eol }: Source, map: YAMLMap, pair: Pair, value: Value): Splice {
  const old = pair.value as Node
  const [from, to] = old.range!
  const column = columnOf(text, startOf(pair))
  if (isBlockScalar(old) && typeof value === 'string' && canBeLiteral(value)) {
    const lines = literalLines(value, blockColumn(text, from) ?? column + 2)
    return { from, to: contentEnd(text, pair), text: lines.join(eol) }
  }
  if (isSeq(old) && old.flow !== true && isNames(value)) return replaceItems({ text, eol }, old, value)
  const [first = '', ...below] = map.flow !== true && isLong(value) ? valueLines(value, column) : [inline(value, quotesOf(old))]
  const colon = colonOf(map, pair)
  const isBlock = isBlockScalar(old) || isCollection(old) && old.flow !== true
  const isEmpty = from === to
  const start = isBlock || isEmpty || first === '' ? colon : from
  const lead = first !== '' && text[start - 1] === ':' ? ' ' : ''
  // A comment beside the key or its value stays there.
  if (isBlock) {
    const beside = /\s+#.*$/.exec(text.slice(colon, lineEnd(text, colon)))?.[0] ?? ''
    return { from: start, to: contentEnd(text, pair), text: [lead + first + beside, ...below].join(eol) }
  }
  const own = isEmpty ? colon : to
  const end = below.length > 0 ? lineEnd(text, own) : own
  return { from: start, to: end, text: [lead + first + text.slice(own, end), ...below].join(eol) }
}

/** Items that stay keep their lines and the comments above them. */
function replaceItems({ text, eol }: Source, seq: YAMLSeq, names: readonly string[]): Splice {
  const column = columnOf(text, dashOf(seq, 0))
  const start = lineStart(text, dashOf(seq, 0))
  const known = new Map<unknown, string>()
  let from = start
  let end = start
  for (const item of seq.items) {
    end = itemEnd(text, item as Node, column)
    if (isScalar(item)) known.set(item.value, text.slice(from, end))
    from = end + eolAt(text, end)
  }
  const lines = names.map(name => known.get(name) ?? ' '.repeat(column) + itemLines(name, column).join(eol))
  return { from: start, to: end, text: lines.join(eol) }
}

function appendInFlow({ text, eol }: Source, node: YAMLMap | YAMLSeq, item: string): Splice {
  const last = node.items.at(-1)
  if (last === undefined) {
    const at = node.range![0] + 1
    return { from: at, to: at, text: /^\s/.test(text.slice(at)) || text[at - 1] === '[' ? item : ` ${item} ` }
  }
  const start = startOf(last)
  const at = contentEnd(text, last)
  const own = isLineStart(text, start) ? eol + text.slice(lineStart(text, start), start) : ' '
  return { from: at, to: at, text: `,${own}${item}` }
}

function removeInFlow(text: string, { items }: YAMLMap | YAMLSeq, index: number): Splice {
  const [item, before, after] = [items[index], items[index - 1], items[index + 1]]
  if (before !== undefined) return { from: contentEnd(text, before), to: contentEnd(text, item), text: '' }
  if (after !== undefined) return { from: startOf(item), to: startOf(after), text: '' }
  const end = contentEnd(text, item)
  return { from: startOf(item), to: end + (/^\s*,/.exec(text.slice(end))?.[0].length ?? 0), text: '' }
}

/** Lines below the one that holds an offset; the first of them gets the column, the others have theirs. */
function afterLine({ text, eol }: Source, offset: number, lines: readonly string[], column: number): Splice {
  const at = lineEnd(text, offset)
  const first = lines.findIndex(line => line !== '')
  return { from: at, to: at, text: lines.map((line, i) => eol + (i === first ? ' '.repeat(column) + line : line)).join('') }
}

/** The lines from the one that holds `from` to the one that holds `end`. At the end of a text without a line end, the one before goes. */
function wholeLines(text: string, from: number, end: number): Splice {
  const start = lineStart(text, from)
  const next = lineEnd(text, end)
  if (next < text.length) return { from: start, to: next + eolAt(text, next), text: '' }
  return { from: start - eolBefore(text, start), to: next, text: '' }
}

/** Where an item's own lines end: comments below it that are indented deeper than its dash are its own. */
function itemEnd(text: string, item: Node, column: number): number {
  let end = lineEnd(text, contentEnd(text, item))
  for (;;) {
    const own = /^\r?\n( *)#[^\n]*/.exec(text.slice(end))
    if (own?.[1] === undefined || own[1].length <= column) return end
    end = lineEnd(text, end + own[0].length)
  }
}

/** Where the text of a node, or of a pair's value, ends: for blocks at the end of the last line that has content. */
function contentEnd(text: string, of: unknown): number {
  const node = (isPair(of) ? of.value ?? of.key : of) as Node
  if (isCollection(node) && node.flow !== true && node.items.length > 0) return contentEnd(text, node.items.at(-1))
  const end = node.range![1]
  return isBlockScalar(node) ? end - eolBefore(text, end) : end
}

function startOf(item: unknown): number {
  return ((isPair(item) ? item.key : item) as Node).range![0]
}

/** Behind the colon of a pair. */
function colonOf(map: YAMLMap, pair: Pair): number {
  const token = tokensOf(map).find(item => item.key === (pair.key as Node).srcToken)
  const colon = token?.sep?.find(({ type }) => type === 'map-value-ind')
  return colon === undefined ? (pair.key as Node).range![1] : colon.offset + 1
}

function dashOf(seq: YAMLSeq, index: number): number {
  return tokensOf(seq)[index]!.start.find(({ type }) => type === 'seq-item-ind')!.offset
}

function tokensOf(node: YAMLMap | YAMLSeq): readonly CST.CollectionItem[] {
  const token = node.srcToken
  return token !== undefined && 'items' in token ? token.items : []
}

function isNames(value: Value): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every(item => typeof item === 'string')
}

function isBlockScalar(node: unknown): boolean {
  return isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED')
}

/** Column of a block scalar's lines, given its header's offset. */
function blockColumn(text: string, header: number): number | undefined {
  return /^[^\n]*\n(?:[ \t]*\r?\n)*( *)/.exec(text.slice(header))?.[1]?.length || undefined
}

/** Quoted where what stands there, or beside it, is. */
function quotesOf(node: unknown): Quotes {
  const inner = isCollection(node) ? node.items[0] : node
  const { type } = (isPair(inner) ? inner.key : inner) as { type?: string } ?? {}
  return type === 'QUOTE_DOUBLE' ? 'double' : type === 'QUOTE_SINGLE' ? 'single' : 'needed'
}

function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset)
}

function isLineStart(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === ''
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1
}

/** Before the line end, which is not part of the line. */
function lineEnd(text: string, offset: number): number {
  const at = text.indexOf('\n', offset)
  if (at < 0) return text.length
  return at > offset && text[at - 1] === '\r' ? at - 1 : at
}

function eolAt(text: string, offset: number): number {
  return text[offset] === '\r' ? 2 : 1
}

/** Length of the line end before an offset. */
function eolBefore(text: string, offset: number): number {
  return text[offset - 1] !== '\n' ? 0 : text[offset - 2] === '\r' ? 2 : 1
}

function spaceAt(text: string, offset: number): number {
  return /^\s*/.exec(text.slice(offset))![0].length
}

/** Length of the blank lines directly above the line that holds an offset. */
function blankAbove(text: string, offset: number): number {
  const end = lineStart(text, offset)
  let at = end
  while (at > 0 && isLineStart(text, at - eolBefore(text, at))) at = lineStart(text, at - eolBefore(text, at))
  return end - at
}

function blankBelow(text: string, offset: number): number {
  return /^(?:[ \t]*\r?\n)*/.exec(text.slice(offset))![0].length
}
