// Whether an advisor has been of any use of late. It looks at counts alone, decides nothing about reviews, and says so once.

import { notesIn, type Totals } from './totals.ts'

/** What an advisor did since it last was of use. */
export interface Stretch {
  /** Reviews in a row without a look-up, a note or a reply that could be read as a verdict. */
  readonly fruitless: number
  /** Failed calls since the last review. */
  readonly failures: number
  /** Replies thrown away as unsafe, in all. */
  readonly quarantined: number
}

export type UsefulnessVerdict =
  | { readonly kind: 'fine' }
  /** `remedy`: what the user can do, in a host that has commands. */
  | { readonly kind: 'useless', readonly reason: string, readonly remedy: string }

export type Useless = Extract<UsefulnessVerdict, { kind: 'useless' }>

/** From so many on it is no accident. */
const FRUITLESS_REVIEWS = 30
const FAILURES = 10
const QUARANTINES = 3

/** The first that fits decides. */
export function judgeUsefulness({ fruitless, failures, quarantined }: Stretch): UsefulnessVerdict {
  if (failures >= FAILURES) return useless(`nothing but failures: ${failures} calls failed and no review came of them`, '`/advisor check` says what is wrong')
  if (quarantined >= QUARANTINES) return useless(`${quarantined} of its replies were unsafe and thrown away`, 'another `model` may do better; `/advisor check` tries it')
  if (fruitless >= FRUITLESS_REVIEWS) {
    return useless(`${fruitless} reviews in a row without a look-up, a note or a verdict that can be read`, '`/advisor check` says why; another `model` may follow the protocol')
  }
  return { kind: 'fine' }
}

function useless(reason: string, remedy: string): Useless {
  return { kind: 'useless', reason, remedy }
}

/** One advisor's usefulness in one session. */
export class Usefulness {
  /** As things stand. */
  verdict: UsefulnessVerdict = { kind: 'fine' }
  private told = false
  private signs = 0
  private reviews = 0
  /** Reviews at the last sign of use, and failed calls at the last review. */
  private reviewsThen = 0
  private failedThen = 0

  /** Look at what it did so far. Returns what the user has to be told, once. */
  observe(totals: Totals): Useless | undefined {
    const { reviews, noVerdict, failed, quarantined, lookups } = totals.counts
    const signs = reviews - noVerdict + lookups + notesIn(totals)
    if (signs > this.signs) this.reviewsThen = reviews
    if (reviews > this.reviews) this.failedThen = failed
    this.signs = signs
    this.reviews = reviews
    this.verdict = judgeUsefulness({ fruitless: reviews - this.reviewsThen, failures: failed - this.failedThen, quarantined })
    if (this.told || this.verdict.kind === 'fine') return undefined
    this.told = true
    return this.verdict
  }
}
