// What a search reports, and how reports that overlap become one. Positions are UTF-16 units of the searched text.

export interface Found {
  readonly start: number
  readonly end: number
  readonly kind: string
  /** Where that begins which tells the secret: a name, a header. Without one, `start`. */
  readonly from?: number
  /** The text ended before the secret did. */
  readonly cut?: true
  /** What makes two sights the same secret where that is not the text itself: the body of a key, a secret cut in two. */
  readonly value?: string
  /** Other texts that give the same secret away. */
  readonly aliases?: readonly string[]
}

/** Places in order, none overlapping: the outer of two, and of equal ones that which was known by its own form. */
export function merged(places: readonly Found[]): Found[] {
  const result: Found[] = []
  for (const place of places.toSorted((a, b) => a.start - b.start || b.end - a.end || Number(a.from !== undefined) - Number(b.from !== undefined))) {
    const last = result.at(-1)
    if (last === undefined || place.start >= last.end) result.push(place)
    else if (place.end > last.end) result[result.length - 1] = union(last, place)
  }
  return result
}

function union(a: Found, b: Found): Found {
  return { start: a.start, end: b.end, kind: a.kind, from: Math.min(a.from ?? a.start, b.from ?? b.start), ...b.cut ? { cut: true } : {} }
}
