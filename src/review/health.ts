// How well a reviewer is, and when it may try again. It decides nothing about a failure; `failure.ts` does.

import type { Clock } from '../clock.ts'
import { BACKLOG_LIMIT } from './backlog.ts'

/** The words of the design's failure table. */
export type ReviewerState =
  | { readonly kind: 'running' }
  | { readonly kind: 'failing', readonly reason: string }
  /** `retryAt`: the first update after it tries once. */
  | { readonly kind: 'quota_exhausted', readonly reason: string, readonly since: number, readonly retryAt: number | undefined }
  | { readonly kind: 'halted', readonly reason: string }
  | { readonly kind: 'budget_exhausted', readonly reason: string }
  | { readonly kind: 'no_model', readonly reason: string }

/** States that only a user, a new model or time ends. */
export type StoppedState = Exclude<ReviewerState, { kind: 'running' | 'failing' }>

export interface HealthPort {
  readonly clock: Pick<Clock, 'now'>
  /** One line to the user about trouble that lasts, and what they can do about it. */
  tell(line: string, remedy?: string): void
}

/** Drops in a row from which on only every 2nd, 4th, … 32nd update is tried. */
const COOLING_DROPS = 3
/** A reviewer that fails, recovers and fails again is told of no more often than this. */
const TELL_AGAIN_MS = 10 * 60_000
/** Replies thrown away after which the user hears of it. */
const QUARANTINES_TOLD = 2

export class Health {
  state: ReviewerState = { kind: 'running' }
  /** A call failed and none has succeeded since: nobody should wait for this reviewer. */
  lagging = false
  /** Batches lost in a row. */
  lost = 0
  private readonly port: HealthPort
  /** Updates to let pass before the next try. */
  private cooling = 0
  private quarantines = 0
  private toldNoModel = false
  /** When the user was last told that batches are lost. */
  private toldFailing = -Infinity
  /** The model that was configured when the reviewer stopped or lost a batch: only another one is a new chance. */
  private stoppedAt = ''

  constructor(port: HealthPort) {
    this.port = port
  }

  get isAtWork(): boolean {
    return this.state.kind === 'running' || this.state.kind === 'failing'
  }

  get mayReview(): boolean {
    return this.isAtWork && this.cooling === 0
  }

  /** One more update came in. @param route - the model that is configured. */
  onUpdate(route: string): void {
    if (this.cooling > 0) this.cooling -= 1
    const { state } = this
    if (state.kind !== 'no_model') this.toldNoModel = false
    else if (!this.toldNoModel) this.stop(state, route)
    if (state.kind === 'quota_exhausted' && this.mayRetry(state)) this.state = { kind: 'running' }
  }

  /** The user, a new model or the host's adapters give it another chance. */
  resume(): void {
    this.state = { kind: 'running' }
    this.lost = 0
    this.cooling = 0
    this.stoppedAt = ''
    this.toldFailing = -Infinity
  }

  /** Whether `route`, the model now configured, is a chance it has not had. */
  isNewChance(route: string): boolean {
    return !this.mayReview && route !== this.stoppedAt
  }

  succeeded(): void {
    this.state = { kind: 'running' }
    this.lost = 0
    this.lagging = false
  }

  failing(reason: string): void {
    this.state = { kind: 'failing', reason }
  }

  /** A batch was given up. @param route - the model that is configured. */
  lose(reason: string, route: string): void {
    this.lost += 1
    this.stoppedAt = route
    this.failing(reason)
    if (this.lost === 1) this.tellFailing(reason)
    if (this.lost >= COOLING_DROPS) this.cooling = Math.min(BACKLOG_LIMIT, 2 ** (this.lost - COOLING_DROPS + 1))
  }

  private tellFailing(reason: string): void {
    const now = this.port.clock.now()
    if (Math.abs(now - this.toldFailing) < TELL_AGAIN_MS) return
    this.toldFailing = now
    this.port.tell(`failing: ${reason}; updates go unreviewed until it recovers`)
  }

  /** A whole reply was thrown away. */
  quarantine(reason: string): void {
    this.quarantines += 1
    if (this.quarantines === QUARANTINES_TOLD) this.port.tell(`unsafe replies of the reviewer are thrown away: ${reason}`)
  }

  /** @param route - the model that is configured. */
  stop(state: StoppedState, route: string): void {
    this.state = state
    this.toldNoModel = state.kind === 'no_model'
    this.stoppedAt = route
    const line = `${state.kind}: ${state.reason}`
    // A budget is the session's, which says so once for all of its reviewers.
    if (state.kind === 'budget_exhausted') return
    if (state.kind === 'no_model') this.port.tell(`${line}; it starts by itself when the model appears`)
    else this.port.tell(line, '`/advisor on` tries again')
  }

  /** A model is missing that nobody has asked for yet: said only when there is something to review. */
  miss(reason: string): void {
    this.state = { kind: 'no_model', reason }
  }

  /** The time the provider named has come, or the clock was set back so that it may never come. */
  private mayRetry({ since, retryAt }: Extract<ReviewerState, { kind: 'quota_exhausted' }>): boolean {
    const now = this.port.clock.now()
    return retryAt !== undefined && (now >= retryAt || now < since)
  }
}
