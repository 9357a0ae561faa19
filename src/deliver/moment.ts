// Where the primary stands, read from plain facts. Pure: what follows from it is for `route` to say.

import type { Phase } from '../observe/fold.ts'
import type { Activity } from './route.ts'

export interface Facts {
  readonly phase: Phase
  /** The run was cancelled, and the user has not spoken since. */
  readonly stopped: boolean
  readonly status: 'idle' | 'running'
  /** Messages that wait for the next step. */
  readonly queued: number
  /** Why the open turn was cancelled, while it still runs down. */
  readonly cancelled: unknown
}

/** What the primary is doing. */
export function activityOf({ phase, queued }: Pick<Facts, 'phase' | 'queued'>): Activity {
  if (phase.kind === 'turn') {
    if (phase.standing === 'working' || queued > 0) return 'running'
    return phase.standing === 'answered' ? 'finished' : 'unfinished'
  }
  const end = phase.end?.kind
  return end === undefined || end === 'completed' ? 'finished' : 'unfinished'
}

/** Between `turn/end` and idle a message would neither join the turn nor wake the agent. */
export function isSettling({ phase, status }: Pick<Facts, 'phase' | 'status'>): boolean {
  return phase.kind === 'idle' && status === 'running'
}

/** The run was cancelled by whoever the agent works for, or it broke on an error: nothing of ours may start it again. */
export function isStopped({ phase, stopped, cancelled }: Pick<Facts, 'phase' | 'stopped' | 'cancelled'>): boolean {
  if (stopped) return true
  if (phase.kind === 'idle') return phase.end?.kind === 'error'
  // A cancel by another plugin's rule is nobody's will.
  return cancelled !== undefined && (cancelled as { kind?: unknown } | null)?.kind !== 'hook'
}
