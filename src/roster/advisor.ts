// What a roster is once every file has been read: plain values that neither files nor reviewers own.

import type { Config } from '../config/schema.ts'

/** Settings of one advisor that its entry may change, in the order of the documentation; the rest is the session's. */
export const ADVISOR_KEYS = [
  'provider', 'model', 'effort', 'tools', 'reviewAt', 'reviewEvery', 'notesPerUpdate', 'maxSeverity', 'immuneTurns',
] as const satisfies readonly (keyof Config)[]

export type AdvisorKey = (typeof ADVISOR_KEYS)[number]

/** One entry of the roster, merged over all files. */
export interface Advisor {
  /** Names it in files and commands; `''` is the one advisor of a session without a roster. */
  readonly slug: string
  /** As the user wrote it; none for the one advisor without a roster. */
  readonly name: string | undefined
  readonly enabled: boolean
  /** Why it does not review though its entry wants it to. */
  readonly held?: string
  /**
   * Agent presets it reviews, trimmed and in lower case (`main` is the user's own agent). Left out: all that the session
   * covers; an empty list: none.
   */
  readonly agents: readonly string[] | undefined
  /** What its entry sets, over the session's configuration. */
  readonly overlay: Partial<Pick<Config, AdvisorKey>>
  /** Its own instructions, imports expanded. */
  readonly instructions: string
  /** The file its entry came from. */
  readonly file: string | undefined
}

/** All that WATCHDOG files say for one session. */
export interface Roster {
  /** At least one: without entries, the one advisor of the settings. */
  readonly advisors: readonly Advisor[]
  /** For every reviewer's prompt: an `<attention>` block for each WATCHDOG.md, user first, the nearest last; then shared instructions. */
  readonly guidance: string
  /** What was wrong, cut or ignored, one line each, with file, line and column where known. */
  readonly trouble: readonly string[]
  /** What project files ask for and do not get before they are trusted. */
  readonly requests: readonly TrustRequest[]
  /** Every WATCHDOG file that is there, the user's first, the nearest last. */
  readonly files: readonly RosterFile[]
}

/** One WATCHDOG file and what became of it. */
export interface RosterFile {
  /** Absolute. */
  readonly path: string
  /** As messages name it. */
  readonly label: string
  readonly kind: 'guidance' | 'roster'
  readonly scope: 'user' | 'project'
  /** `skipped` when nothing of it could be used; the trouble says why. */
  readonly state: 'read' | 'skipped'
  /** Slugs of the advisors that come from it; those that a nearer file replaced are not among them. */
  readonly advisors: readonly string[]
  /** What its models and further tools come to: nothing asked for, or granted, or ignored until the user trusts it. */
  readonly trust: 'not needed' | 'granted' | 'missing'
}

/** A model, or tools beyond the read-only ones, that a project's file asks for. */
export interface TrustRequest {
  readonly file: string
  readonly advisor: string
  /** `model openai/gpt-x` or `tools bash, write`. */
  readonly wish: string
}
