// What a search reports, how reports that overlap become one, and what stands in their place. Positions are UTF-16 units of the
// searched text.

export interface Found {
  readonly start: number
  readonly end: number
  readonly kind: string
  /** Where that begins which tells the secret: a name, a header. Without one, `start`. */
  readonly from?: number
  /** For certain only a part: the text ended in it. */
  readonly part?: true
  /** What makes two sights the same secret where that is not the text itself: the body of a key, a secret cut in two. */
  readonly value?: string
  /** Other texts that give the same secret away. */
  readonly aliases?: readonly string[]
}

export const PLACEHOLDER = /\[secret \d{1,9}: [a-z0-9-]{1,40}\]/g

/** Places in order, none overlapping: the outer of two, and of equal ones that which was known by its own form. */
export function merged(places: readonly Found[]): Found[] {
  const result: Found[] = []
  for (const place of places.toSorted((a, b) => a.start - b.start || b.end - a.end || rank(a) - rank(b))) {
    const last = result.at(-1)
    if (last === undefined || place.start >= last.end) result.push(place)
    else if (place.end > last.end) result[result.length - 1] = union(last, place)
  }
  return result
}

/** What is part of a larger secret says so by its value. */
function rank(place: Found): number {
  return place.value !== undefined ? 0 : place.from === undefined ? 1 : 2
}

function union(a: Found, b: Found): Found {
  return { start: a.start, end: b.end, kind: a.kind, from: Math.min(a.from ?? a.start, b.from ?? b.start), ...b.part ? { part: true } : {} }
}

/** Placeholders are never touched: of a place that holds one, what stands around it. */
export function outsidePlaceholders(text: string, found: readonly Found[]): readonly Found[] {
  if (!text.includes('[secret ')) return found
  const placeholders = [...text.matchAll(PLACEHOLDER)].map(match => ({ start: match.index, end: match.index + match[0].length }))
  return found.flatMap((place) => {
    const within = placeholders.filter(({ start, end }) => start < place.end && end > place.start)
    if (within.length === 0) return [place]
    const { value: _, ...rest } = place
    return [...within, { start: place.end, end: place.end }]
      .map(({ start }, index) => ({ ...rest, start: index === 0 ? place.start : within[index - 1]!.end, end: start }))
      .filter(({ start, end }) => end - start >= (place.kind === 'private-key' ? LEAST_KEY_PART : LEAST_PART))
  })
}

const LEAST_KEY_PART = 16
/** Beside a placeholder nothing shorter is a secret: the rest of one that was replaced, or punctuation. */
export const LEAST_PART = 6
