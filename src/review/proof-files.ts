// The files that the notes of one reply name as proof, as they are now. Bounded, whatever a reply names: the host waits while a
// file is looked through.

import { PLACEHOLDER } from '../redact/found.ts'
import { Seen } from './seen.ts'

export interface ProofPort {
  /** A file of the workspace as it is now, or undefined. */
  readFile(path: string): Promise<string | undefined>
  /** Secrets replaced. */
  hide(text: string): string
}

/** Where a quote may stand. */
export type Quotable = Pick<Seen, 'has'>

/** Files looked through for one reply. */
const FILES_LIMIT = 4
/** Characters of a file that are looked through for a quote which names a hidden secret. */
const HIDDEN_LIMIT = 200_000

export class ProofFiles {
  private readonly port: ProofPort
  private readonly files = new Map<string, Promise<Quotable | undefined>>()
  private count = 0

  constructor(port: ProofPort) {
    this.port = port
  }

  /** What stands in a file; undefined when it cannot be read, or too many were. Rejects when reading does. */
  look(path: string): Promise<Quotable | undefined> {
    const known = this.files.get(path) ?? this.open(path)
    this.files.set(path, known)
    return known
  }

  private async open(path: string): Promise<Quotable | undefined> {
    const text = this.count < FILES_LIMIT ? await this.port.readFile(path) : undefined
    if (text === undefined) return undefined
    this.count += 1
    return new ProofFile(text, value => this.port.hide(value))
  }
}

class ProofFile implements Quotable {
  private readonly text: string
  private readonly hide: (text: string) => string
  private whole: Seen | undefined
  private hidden: Seen | undefined

  constructor(text: string, hide: (text: string) => string) {
    this.text = text
    this.hide = hide
  }

  /** A secret proves nothing: the reviewer was never shown it. */
  has(quote: string): boolean {
    if (this.hide(quote) !== quote) return false
    this.whole ??= seenIn(this.text)
    if (this.whole.has(quote)) return true
    if (quote.search(PLACEHOLDER) < 0) return false
    this.hidden ??= seenIn(this.hide(this.text.slice(0, HIDDEN_LIMIT)))
    return this.hidden.has(quote)
  }
}

function seenIn(text: string): Seen {
  const seen = new Seen(Infinity)
  seen.add(text)
  return seen
}
