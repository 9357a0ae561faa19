// Consecutive texts as one, without what the renderer wrote between them and with what placeholders stand for, so that a secret
// that a border cuts in two is whole again. It finds nothing itself.

import { PLACEHOLDER, type Found } from './found.ts'
import { isWordy } from './likeness.ts'

/** A stretch of the whole that stands in one of the texts word for word. */
interface Segment {
  /** Which text. */
  readonly index: number
  /** Where it stands in the whole. */
  readonly start: number
  readonly end: number
  /** Where it stands in its text. */
  readonly at: number
}

/** Where one text ends in the whole and the next begins. */
interface Border {
  readonly at: number
  /** The text before it; -1 is what came before all. */
  readonly index: number
  /** Somebody speaks anew after it. */
  readonly isTurn: boolean
}

export interface Joined {
  readonly text: string
  readonly segments: readonly Segment[]
  readonly borders: readonly Border[]
}

/** What opens a rendered text: headings, roles, calls, labels. The blanks of the text itself stay. */
const OPENING = /(?:… <[^>\n]{0,80}>\n?|#+ step [\d.]{1,20}\n?|\[tool result\]\n?|→ [^\n]*\n|\*\*(?:user|agent)[^*\n]{0,30}\*\*[ \n]?|\[context: [^\]\n]{0,80}\] ?|\[interrupted\]\n?)*/y
const CLOSING = /(?:\n\[(?:working|interrupted)\])+$/
const SPEAKS = /\*\*[^*\n]{1,40}\*\*[ \n]?$/
/** How far back an ending is looked for. */
const CLOSING_REACH = 80

/** What a border may have been: a cut, or a blank that the renderer trimmed. */
export const GLUES = ['', ' ']

/**
 * @param before - what earlier texts ended with.
 * @param glue - what stands at each border.
 * @param meaning - what a placeholder stands for, where that is known.
 */
export function join(before: string, texts: readonly string[], glue: string, meaning: (placeholder: string) => string | undefined): Joined {
  const parts = [before]
  const segments: Segment[] = []
  const borders: Border[] = []
  let start = before.length
  for (const [index, text] of texts.entries()) {
    OPENING.lastIndex = 0
    const from = OPENING.test(text) ? OPENING.lastIndex : 0
    const reach = Math.max(from, text.length - CLOSING_REACH)
    const closing = text.slice(reach).search(CLOSING)
    borders.push({ at: start, index: index - 1, isTurn: SPEAKS.test(text.slice(0, from)) })
    const add = (part: string, at: number | undefined) => {
      if (at !== undefined) segments.push({ index, start, end: start + part.length, at })
      parts.push(part)
      start += part.length
    }
    add(glue, undefined)
    let at = from
    const to = closing < 0 ? text.length : reach + closing
    for (const match of text.slice(from, to).matchAll(PLACEHOLDER)) {
      const known = meaning(match[0])
      if (known === undefined) continue
      add(text.slice(at, from + match.index), at)
      add(known, undefined)
      at = from + match.index + match[0].length
    }
    add(text.slice(at, to), at)
  }
  return { text: parts.join(''), segments, borders }
}

/**
 * What a secret over a border leaves in each text that it touches; nothing of one that stands in one text alone.
 * @param own - what was found in each text alone.
 */
export function split(found: Found, joined: Joined, own: readonly (readonly Found[])[]): { index: number, found: Found }[] {
  const { text, segments, borders } = joined
  const from = found.from ?? found.start
  const border = borders.find(({ at }) => at > from && at < found.end)
  if (border === undefined) return []
  // A secret that ends where its text does, and then a word of somebody else's.
  if (border.at > found.start && border.isTurn && isWordy(text.slice(border.at, found.end)) && isWhole(found.start, border, joined, own)) return []
  const value = found.value ?? text.slice(found.start, found.end)
  return segments.flatMap((segment) => {
    const start = Math.max(found.start, segment.start)
    const end = Math.min(found.end, segment.end)
    if (start >= end) return []
    return [{ index: segment.index, found: { ...found, start: start - segment.start + segment.at, end: end - segment.start + segment.at, value } }]
  })
}

/** Whether the text before the border has a complete secret that begins at this place of the whole. */
function isWhole(start: number, { index }: Border, { segments }: Joined, own: readonly (readonly Found[])[]): boolean {
  const segment = segments.find(one => one.index === index && one.start <= start && one.end > start)
  return segment !== undefined && own[index]!.some(one => one.start === start - segment.start + segment.at && one.part !== true)
}
