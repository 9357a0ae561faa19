// What one advisor did in one session, a line for each finished review and for what became of its notes. It only ever adds to
// its file, and whoever appends waits for nothing.

import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Evidence } from '../finding.ts'
import { WORKING } from '../observe/markdown.ts'
import type { Severity } from '../severity.ts'
import { elide } from '../text.ts'
import type { OpenToAppend } from './append-file.ts'
import { Lines } from './lines.ts'
import type { Money } from './prices.ts'
import { emptyTotals, type NoteVerdict, type Totals, type Usage } from './totals.ts'

/** One reply of the reviewer, and how its calls were answered. */
export interface JournalReply {
  readonly text: string
  readonly reasoning?: string
  readonly calls: readonly { readonly name: string, readonly arguments: string, readonly answer?: string, readonly failed?: boolean }[]
}

export interface JournalNote {
  readonly id: number
  readonly severity: Severity
  readonly text: string
  readonly evidence?: Evidence
}

/** One review that came to an end, well or not. */
export interface ReviewRecord {
  readonly kind: 'review'
  /** Numbers of the first and the last update it was about. */
  readonly updates: readonly [first: number, last: number]
  /**
   * Texts of the new messages of this review, as they were sent, secrets replaced. In the file, those with which the review
   * before it began as well are left out, and `again` says how many these are; the mark of unfinished work makes no difference.
   */
  readonly shown: readonly string[]
  readonly replies: readonly JournalReply[]
  /** Notes that the guard let through. */
  readonly notes: readonly JournalNote[]
  readonly end: 'advice' | 'silent' | 'no-verdict' | 'failed' | 'aborted'
  /** Why it ended so, when it failed. */
  readonly failure?: { readonly code: string, readonly message: string }
  /** `provider/model` of the last call. */
  readonly model: string
  /** Of all its calls; none when the provider told none. */
  readonly usage: Usage | undefined
  /** None when the price is not known, which is written as `unknown`. */
  readonly cost: Money | undefined
  /** Milliseconds from its first request to its end. */
  readonly ms: number
}

/** Where a note went, in words. */
export interface FateRecord {
  readonly kind: 'fate'
  readonly note: number
  readonly fate: string
}

export interface VerdictRecord {
  readonly kind: 'verdict'
  readonly note: number
  readonly verdict: NoteVerdict
}

/** A subagent's reviewer did something: the totals have what. */
export interface SubagentRecord {
  readonly kind: 'subagent'
}

export type JournalRecord = ReviewRecord | FateRecord | VerdictRecord | SubagentRecord

/** In the place of an advisor's slug, which it cannot be: what all subagents of the session did. */
export const SUBAGENTS = '*'

export interface JournalPort {
  /** `<session dir>/advisor`, made if it is missing. */
  readonly folder: string
  /** The advisor's, `''` for the only one, or {@link SUBAGENTS}. */
  readonly slug: string
  readonly clock: Clock
  /** All that this process did for this advisor so far: `Account.totals`. */
  totals(): Totals
  /** One line for the user, given once at most. */
  onTrouble(line: string, cause: string): void
  readonly open?: OpenToAppend
}

/** Version of the format, in every line. */
const FORMAT = 1
/** Characters of a line from which on its texts are cut; a reader skips lines over 8 MB. */
const LINE_LIMIT = 2_000_000
/** Characters that then remain of each text. */
const TEXT_LIMIT = 4_000

/** What no review ever did. */
const NOTHING = JSON.stringify(emptyTotals())

export class Journal {
  /** Names this process's lines among those of others on the same session. */
  readonly run = randomBytes(6).toString('hex')
  readonly path: string
  private readonly port: JournalPort
  private readonly lines: Lines
  /** What the last review that was written showed, text by text: one that is tried again does not write it twice. */
  private shown: readonly string[] = []
  private totals = NOTHING

  constructor(port: JournalPort) {
    this.port = port
    const name = journalName(port.slug)
    this.path = join(port.folder, name)
    const { folder, clock, open } = port
    this.lines = new Lines({
      folder, name, clock, onTrouble: (line, cause) => port.onTrouble(line, cause),
      lost: lines => this.render({ kind: 'lost', lines }, clock.now()),
      ...open === undefined ? {} : { open },
    })
  }

  /** Take a record. Returns at once, never throws; the record may not change afterwards. */
  append(record: JournalRecord): void {
    const at = this.port.clock.now()
    // Decided with the first try to write it: a second one must not take the first for an earlier review.
    let again: number | undefined
    this.lines.append(() => {
      if (record.kind !== 'review') return this.render({ ...record }, at)
      if (again === undefined) {
        const shown = record.shown.map(fingerprint)
        const first = shown.findIndex((text, index) => text !== this.shown[index])
        again = first < 0 ? shown.length : first
        this.shown = shown
      }
      return this.renderReview(record, again, at)
    })
  }

  /** Resolves when all that was taken is written or cannot be, 2 s at most. */
  flush(): Promise<void> {
    return this.lines.flush()
  }

  /** Write what waits, and what was spent since the last line; 2 s at most. A second call does nothing. */
  dispose(): Promise<void> {
    // A line that still waits may say it as well; and where nothing is to be said, no file is made.
    const isSaid = () => JSON.stringify(this.port.totals()) === this.totals
    if (!isSaid()) this.lines.append(() => isSaid() ? undefined : this.render({ kind: 'end' }, this.port.clock.now()))
    return this.lines.dispose()
  }

  private renderReview({ updates, shown, usage, cost, ...rest }: ReviewRecord, again: number, at: number): string {
    const record = {
      updates, ...again === 0 ? {} : { again }, shown: shown.slice(again), ...rest, usage: usage ?? 'unknown', cost: cost ?? 'unknown',
    }
    const line = this.render(record, at)
    if (line.length <= LINE_LIMIT) return line
    const cut = this.render(cutTexts(record), at)
    return cut.length <= LINE_LIMIT ? cut : this.render(cutTexts({ ...record, shown: 'left out: too long', replies: [] }), at)
  }

  /** The run and its totals come first: whoever resumes reads no further. */
  private render({ kind, ...rest }: { readonly kind: string, readonly [key: string]: unknown }, at: number): string {
    this.totals = JSON.stringify(this.port.totals())
    const body = JSON.stringify({ kind, ...rest }).slice(1)
    return `{"v":${FORMAT},"run":"${this.run}","at":${at},"totals":${this.totals},${body}`
  }
}

/** Name of an advisor's journal in the session's folder. */
export function journalName(slug: string): string {
  if (slug === SUBAGENTS) return '__subagents.jsonl'
  // A slug is of letters, digits and dashes already; whatever it is, it must not lead out of the folder.
  return slug === '' ? '__advisor.jsonl' : `__advisor.${slug.replace(/[^\p{L}\p{N}_-]+/gu, '-')}.jsonl`
}

/** The same for a step that was the last one shown and, when it is shown again, no longer is. */
function fingerprint(text: string): string {
  const own = text.endsWith(`\n${WORKING}`) ? text.slice(0, -WORKING.length - 1) : text
  return createHash('sha1').update(own).digest('base64')
}

function cutTexts<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) => (
    typeof part === 'string' ? elide(part, TEXT_LIMIT, left => `[… ${left} characters left out …]`) : part
  )) as T
}
