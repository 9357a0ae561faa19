// Values as YAML text: on one line where that can be, as blocks where they need lines. Knows no file and no position.

import { Document } from 'yaml'

/** One advisor as its entry writes it, in that order. */
export interface Entry { readonly [key: string]: string | number | boolean | readonly string[] }

/** What a roster file holds: a setting, a list of names, a list of advisors, or one of them. */
export type Value = string | number | boolean | Entry | readonly (string | Entry)[]

/** How strings are written: as YAML needs it, or as the text around them does it. */
export type Quotes = 'needed' | 'double' | 'single'

/** Columns that a block stands behind what owns it. */
const STEP = 2

/** A value on one line, fit for every place. */
export function inline(value: Value, quotes: Quotes = 'needed'): string {
  if (typeof value === 'string') return inlineText(value, quotes)
  if (typeof value !== 'object') return String(value)
  if (isList(value)) return `[${value.map(item => inline(item, quotes)).join(', ')}]`
  return `{ ${Object.entries(value).map(pair => inlinePair(...pair, quotes)).join(', ')} }`
}

/** `key: value` on one line. */
export function inlinePair(key: string, value: Value, quotes: Quotes = 'needed'): string {
  return `${inline(key, quotes)}: ${inline(value, quotes)}`
}

/** `key: value` of a key at a column. The first line is not indented, the others are. */
export function pairLines(key: string, value: Value, column: number): string[] {
  const [first, ...rest] = valueLines(value, column)
  return [first === '' ? `${key}:` : `${key}: ${first}`, ...rest]
}

/** A value behind a key at a column: what stands on the key's line, then the lines below it, indented. */
export function valueLines(value: Value, column: number): string[] {
  if (typeof value === 'string' && isBlock(value)) return literalLines(value, column + STEP)
  if (!hasEntries(value)) return [inline(value)]
  return ['', ...value.flatMap(item => indented(itemLines(item, column + STEP), column + STEP))]
}

/** `- value` of a dash at a column, an advisor with one setting a line. The first line is not indented, the others are. */
export function itemLines(value: Value, column: number, gap = ' '): string[] {
  if (typeof value !== 'object' || isList(value)) return [`-${gap}${inline(value)}`]
  const inner = column + 1 + gap.length
  const [first = '', ...rest] = Object.entries(value).flatMap(([key, item]) => indented(pairLines(key, item, inner), inner))
  return [`-${gap}${first.slice(inner)}`, ...rest]
}

/** Whether a value is written over more than one line. */
export function isLong(value: Value): boolean {
  return typeof value === 'string' ? isBlock(value) : hasEntries(value)
}

/** Whether a literal block can hold a text as it is. */
export function canBeLiteral(text: string): boolean {
  return /^\S/.test(text) && !/\n\n$|[^\P{C}\t\n\p{Cf}]|[\u2028\u2029\ufeff]/u.test(text)
}

/** Header and lines of a literal block whose lines stand at a column. */
export function literalLines(text: string, column: number): string[] {
  const clipped = text.endsWith('\n')
  const lines = (clipped ? text.slice(0, -1) : text).split('\n')
  return [clipped ? '|' : '|-', ...lines.map(line => line === '' ? '' : ' '.repeat(column) + line)]
}

function isBlock(text: string): boolean {
  return text.trimEnd().includes('\n') && canBeLiteral(text)
}

function inlineText(text: string, quotes: Quotes): string {
  if (quotes === 'single' && !/[\n\r\t]/.test(text)) return `'${text.replaceAll('\'', '\'\'')}'`
  if (quotes !== 'needed' || /[\n\r,[\]{}]/.test(text)) return JSON.stringify(text)
  const shown = new Document(text).toString({ lineWidth: 0 }).trimEnd()
  return shown.includes('\n') ? JSON.stringify(text) : shown
}

function indented([first = '', ...rest]: readonly string[], column: number): string[] {
  return [' '.repeat(column) + first, ...rest]
}

function hasEntries(value: Value): value is readonly (string | Entry)[] {
  return isList(value) && value.some(item => typeof item === 'object')
}

function isList(value: Value): value is readonly (string | Entry)[] {
  return Array.isArray(value)
}
