// How often the primary acted on what an advisor said, and what the user thought of it.

import type { Severity } from '../severity.ts'
import { count } from '../text.ts'
import { VERDICTS, type Totals } from './totals.ts'

/** One row of the outcome table. */
export interface Rate {
  readonly advisor: string
  readonly severity: Severity
  readonly notes: number
  readonly good: number
  readonly bad: number
  readonly touched: number
  readonly ignored: number
  /** Of the notes whose fate is known, the share that the primary acted on; none while there is none. */
  readonly share: number | undefined
}

/** How often the primary acted on what was said, by advisor and severity, the gravest first; what was never said has no row. */
export function ratesOf(totals: ReadonlyMap<string, Totals>): Rate[] {
  return [...totals].flatMap(([advisor, { outcomes }]) => (Object.entries(outcomes) as [Severity, Totals['outcomes'][Severity]][])
    .filter(([, counts]) => counts.notes > 0 || VERDICTS.some(verdict => counts[verdict] > 0))
    .map(([severity, { notes, good, bad, touched, ignored }]) => {
      const judged = touched + ignored
      return { advisor, severity, notes, good, bad, touched, ignored, share: judged === 0 ? undefined : touched / judged }
    })
    .toReversed())
}

/** One row in words, as in `concern: 9 notes, 4 of 6 acted on; the user found 2 good and 1 bad`. */
export function rateText({ severity, notes, good, bad, touched, ignored, share }: Rate): string {
  const fate = share === undefined ? 'none followed to its end yet' : `${touched} of ${touched + ignored} acted on`
  return `${severity}: ${count(notes, 'note')}, ${fate}${good + bad === 0 ? '' : `; the user found ${good} good and ${bad} bad`}`
}
