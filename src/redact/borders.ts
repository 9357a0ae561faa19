// Consecutive texts as one, without what the renderer wrote between them, so that a secret cut in two is whole again.

/** A text's part in the joined whole. */
export interface Piece {
  /** Which text; -1 is what came before the first. */
  readonly index: number
  /** Where it stands in the whole. */
  readonly start: number
  readonly end: number
  /** Where it stands in its text. */
  readonly offset: number
  /** How much of it stands there word for word; the rest is a placeholder's value. */
  readonly verbatim: number
}

export interface Joined {
  readonly text: string
  readonly pieces: readonly Piece[]
}

/** Headings, roles, calls and labels that open a rendered text. */
const OPENING = /(?:\s|… <[^>\n]{0,80}>|#+ step [\d.]{1,20}|\[tool result\]|→ [^\n]*\n|\*\*(?:user|agent)[^*\n]{0,30}\*\*|\[context: [^\]\n]{0,80}\]|\[interrupted\])*/y
const CLOSING = /(?:\s|\[working\]|\[interrupted\])*$/

/** How far back an ending is looked for. */
const CLOSING_REACH = 80
const LAST_PLACEHOLDER = /\[secret \d{1,9}: [a-z0-9-]{1,40}\]$/

/**
 * @param before - what earlier texts ended with.
 * @param cutValue - the value of a placeholder that stands where a text cut it.
 */
export function join(before: string, texts: readonly string[], cutValue: (placeholder: string) => string | undefined): Joined {
  const parts = [before]
  const pieces: Piece[] = [{ index: -1, start: 0, end: before.length, offset: 0, verbatim: 0 }]
  let at = before.length
  for (const [index, text] of texts.entries()) {
    OPENING.lastIndex = 0
    const offset = OPENING.test(text) ? OPENING.lastIndex : 0
    const reach = Math.max(offset, text.length - CLOSING_REACH)
    const body = text.slice(offset, reach + (text.slice(reach).search(CLOSING)))
    const placeholder = LAST_PLACEHOLDER.exec(body.slice(-60))?.[0]
    const cut = placeholder === undefined ? undefined : cutValue(placeholder)
    const verbatim = cut === undefined ? body.length : body.length - placeholder!.length
    const part = cut === undefined ? body : body.slice(0, verbatim) + cut
    parts.push(part)
    pieces.push({ index, start: at, end: at + part.length, offset, verbatim })
    at += part.length
  }
  return { text: parts.join(''), pieces }
}
