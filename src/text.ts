// Cutting text without breaking it: never inside a surrogate pair, and never without saying so.

/** Cut `text` to at most `limit` UTF-16 units, the last being `…` when anything was left out. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, wholeAt(text, limit - 1))}…`
}

/**
 * Keep the head (two thirds) and the tail (one third) of a long text around a label.
 * @param limit - UTF-16 units that may remain, the label not counted.
 * @param label - what stands in the gap, given the number of units left out.
 * @param treat - applied to the whole text, or to each part that remains.
 */
export function elide(text: string, limit: number, label: (left: number) => string, treat = (part: string) => part): string {
  if (text.length <= limit) return treat(text)
  const head = wholeAt(text, Math.ceil(limit * 2 / 3))
  const from = text.length - Math.floor(limit / 3)
  const tail = wholeAt(text, from) < from ? from + 1 : from
  return `${treat(text.slice(0, head))}\n${label(tail - head)}\n${treat(text.slice(tail))}`
}

/** Move an index that falls inside a surrogate pair one unit back. */
function wholeAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  return unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index
}

/** Escape text for an XML body or attribute. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, char => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }[char]};`)
}

/** Undo {@link escapeXml}. */
export function unescapeXml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? '')
}

/** A number with its noun, as in `1 note` and `2 replies`. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n} ${n === 1 ? noun : plural}`
}

/** The message of whatever was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Text that is safe to show and to send: well-formed, without control characters and without marks that reorder what is read. */
export function printable(text: string): string {
  return text.toWellFormed().replace(UNPRINTABLE, '')
}

/** C0 and C1 but for tab and line feed, and the marks of bidirectional text. */
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
