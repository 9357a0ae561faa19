// What a reviewer was shown and has read, kept so that a quote can be looked up. White space and line numbers do not count;
// what stood on both sides of a cut is never joined, and what the reviewer wrote itself is not kept.

import { omission } from '../observe/markdown.ts'
import { printable } from '../text.ts'

/** One text in the two forms that are searched; the same string twice when no line of it has a prefix. */
interface Text {
  readonly packed: string
  /** Without line numbers, diff signs and the like at the start of its lines. */
  readonly bare: string
}

/** Characters kept, of both forms together. */
const LIMIT = 512_000
/** Letters and digits from which on a quote may begin and end inside a word. */
export const ENOUGH = 8

/** What a reviewer was shown and read, for checking quotes. Bounded: the oldest goes. */
export class Seen {
  private readonly limit: number
  private readonly texts: Text[] = []
  /** Characters that no eye sees: they are left out of the texts, but may be what is looked for. */
  private readonly unseen = new Set<string>()
  private held = 0

  /** @param limit - characters kept, at least 2. */
  constructor(limit = LIMIT) {
    this.limit = limit
  }

  /** Characters kept. */
  get size(): number {
    return this.held
  }

  add(text: string): void {
    for (const [char] of text.matchAll(UNSEEN)) this.unseen.add(char)
    for (const part of text.split(OWN_WORDS)) for (const shown of part.split(CUT)) this.keep(shown)
  }

  /**
   * Whether a text stands there. One of fewer than {@link ENOUGH} letters and digits must stand there as whole words;
   * one of nothing but invisible characters, with each of them.
   */
  has(quote: string): boolean {
    const wanted = new Set([pack(quote), pack(withoutPrefixes(quote))])
    wanted.delete('')
    if (wanted.size === 0) return quote.trim() !== '' && [...quote].every(char => this.unseen.has(char))
    return [...wanted].some((part) => {
      const whole = substance(part) < ENOUGH
      return this.texts.some(({ packed, bare }) => contains(packed, part, whole) || (bare !== packed && contains(bare, part, whole)))
    })
  }

  private keep(part: string): void {
    // Half the limit, so that both forms fit.
    const newest = part.slice(-Math.floor(this.limit / 2)).replace(TERMINAL_CODES, '')
    const packed = pack(newest)
    if (packed === '') return
    const stripped = withoutPrefixes(newest)
    this.texts.push({ packed, bare: stripped === newest ? packed : pack(stripped) })
    this.held += sizeOf(this.texts.at(-1))
    while (this.held > this.limit) this.held -= sizeOf(this.texts.shift())
  }
}

function sizeOf(text: Text | undefined): number {
  if (text === undefined) return 0
  return text.packed.length + (text.bare === text.packed ? 0 : text.bare.length)
}

/** Letters and digits in a text; a sign of a script without an alphabet says as much as two. */
export function substance(text: string): number {
  return (text.match(LETTERS)?.length ?? 0) + (text.match(WIDE)?.length ?? 0)
}

const LETTERS = /[\p{L}\p{N}]/gu
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu

/** A text as it is compared: one form of each letter, quotation mark and entity, and white space only where it parts two words. */
export function pack(text: string): string {
  return printable(text.normalize('NFC').replace(TERMINAL_CODES, '').replace(/[\r\v\f\u0085]/g, '\n'))
    .replace(INVISIBLE, '')
    .replace(/[‘’‛]/g, '\'').replace(/[“”‟]/g, '"')
    .replace(/&(?:amp;)*(amp|lt|gt|quot|apos|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
    // Arguments of a call are shown on one line, with this sign in the place of a line break.
    .replace(/[\s⏎]+/g, ' ')
    .replace(NOT_BETWEEN_WORDS, '')
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: '\'', '#39': '\'' }

/** A letter or digit of a script that parts words by spaces. */
const WORD = '(?:(?![\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}])[\\p{L}\\p{N}_])'
const NOT_BETWEEN_WORDS = new RegExp(`(?<!${WORD}) | (?!${WORD})`, 'gu')
const INSIDE_WORD = new RegExp(WORD, 'u')

/** What colours the output of a command. */
export const TERMINAL_CODES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]/g
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** Drop what tools write before the lines of a file, and a diff or a quotation before those it shows. */
export function withoutPrefixes(text: string): string {
  return text.replace(PREFIX, '')
}

/** `12: `, `Line 12: `, `00012| `, `12→`, `12<tab>`, `    12  `, `a.ts:12:5: `, then `+`, `-` and `>`. */
const PREFIX = new RegExp(`^[ \\t]*(?:${[
  '(?:Line )?\\d{1,7}(?: ?[:|│→]|\\t|-(?!\\d)| {2})', '(?:[A-Za-z]:)?[^\\s:]{1,300}:\\d{1,7}(?::\\d{1,5})?[:-](?!\\d)', '[+>-](?![+>-])',
].join('|')})[ \\t]?`, 'gm')

/** Where the renderer or a tool left something out. */
const CUT = new RegExp(`${omission(0).replace(/[[\]]/g, '\\$&').replace('0', '\\d+')}|…? ?\\[cut: [^\\]\\n]{0,900}\\]`)

/** The reviewer's notes, as they are shown to it again; see `head.ts` and the remarks of `session.ts` and `weigh.ts`. */
const OWN_WORDS = new RegExp(`^(?:${[
  'Notes you gave before:\\n(?:- .*\\n?)*', '\\[the agent has not read these notes of yours .*\\n(?:\\d+\\. .*\\n?)*',
  '\\[the user dismissed your note: [^]{0,2500}?\\]\\n\\[do not give it again.*', '\\[Recorded as .*',
].join('|')})`, 'gm')

function contains(text: string, part: string, whole: boolean): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (!whole || (isEdge(text, at) && isEdge(text, at + part.length))) return true
  }
  return false
}

/** Whether no word goes on across the index. */
function isEdge(text: string, at: number): boolean {
  return !(INSIDE_WORD.test(text[at - 1] ?? '') && INSIDE_WORD.test(text[at] ?? ''))
}
