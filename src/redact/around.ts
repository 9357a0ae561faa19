// Secrets beside placeholders. Anybody can write `[secret 9: a]` into a text: it must not break up what is searched for.

import { PLACEHOLDER, type Found } from './found.ts'
import { search } from './search.ts'

/** A placeholder that touches a word: ours stand where a whole secret stood. */
const GLUED = new RegExp(`(?<=\\w)${PLACEHOLDER.source}|${PLACEHOLDER.source}(?=\\w)`, 'g')

/** What a search finds when placeholders in the middle of words are left out; positions are those of `text`. */
export function searchAround(text: string): Found[] {
  if (!text.includes('[secret ')) return []
  const gaps = [...text.matchAll(GLUED)].map(match => ({ start: match.index, length: match[0].length }))
  if (gaps.length === 0) return []
  /** A position of the text without them; at a gap itself, behind it when a place starts there. */
  const place = (at: number, isStart: boolean) => {
    let position = at
    for (const { start, length } of gaps) if (isStart ? position >= start : position > start) position += length
    return position
  }
  return search(text.replace(GLUED, '')).map(({ value: _, aliases: _aliases, from, ...found }) => ({
    ...found, start: place(found.start, true), end: place(found.end, false), ...from === undefined ? {} : { from: place(from, true) },
  }))
}
