// Which way a note goes. The table of the design, read from the top: the first row that fits decides.

import type { Severity } from '../severity.ts'

/** What the primary is doing. */
export type Activity =
  /** A turn is open and the model still owes something. */
  | 'running'
  /** The model gave its answer and nothing is queued. */
  | 'finished'
  /** Idle, but the work was broken off. */
  | 'unfinished'

export interface RouteState {
  /** The user stopped the run, or it broke on an error, and the user has not spoken since. */
  readonly stopped: boolean
  readonly planMode: boolean
  /** A run that nobody will speak to again is over: headless, or a subagent's. */
  readonly headlessOver: boolean
  /** The primary is left in peace: after a steer, or while it pursues a goal. */
  readonly immune: boolean
  readonly activity: Activity
  /** Advice may still reopen what the primary ended, for this prompt of the user. */
  readonly mayReopen: boolean
}

export type Channel = 'aside' | 'steer' | 'card'

export interface Route {
  readonly kind: Channel
  readonly reason: string
}

/** Decide by severity and state. Pure; the effects are the caller's. */
export function route(severity: Severity, state: RouteState): Route {
  const nit = severity === 'nit'
  if (state.stopped) return { kind: 'card', reason: 'the run was stopped' }
  if (state.planMode) return nit ? { kind: 'aside', reason: 'plan mode' } : { kind: 'card', reason: 'plan mode' }
  if (state.headlessOver) return { kind: 'card', reason: 'the run is over' }
  if (state.immune) return { kind: 'aside', reason: 'immune' }
  if (state.activity === 'running') return { kind: nit ? 'aside' : 'steer', reason: 'running' }
  if (nit || (severity === 'concern' && state.activity === 'finished')) return { kind: 'card', reason: 'the answer stands' }
  if (!state.mayReopen) return { kind: 'card', reason: 'already reopened for this prompt' }
  return { kind: 'steer', reason: state.activity }
}
