// Which of its models a reviewer uses: the configured one, or a fallback while that one fails. Pure but for what it remembers.

import { parseSelector } from '../config/environment.ts'
import type { Config } from '../config/schema.ts'
import { routeKey, routeOf, type Route } from './model.ts'

type RouteConfig = Pick<Config, 'provider' | 'model' | 'effort' | 'fallbacks'>

/** Why a fallback is in use. */
export interface Detour {
  readonly from: string
  readonly reason: string
  /** When the configured model is tried again, in milliseconds since the epoch. */
  readonly until: number
  readonly since: number
}

export type Switch =
  | { readonly kind: 'switched', readonly to: Route, readonly from: string }
  /** Every model was tried for this failure. */
  | { readonly kind: 'exhausted' }

/** How long a model is left alone when nobody says when it will be well again. */
const RETRY_AFTER_MS = 30 * 60_000

export class Routes {
  private position = 0
  private away: Detour | undefined
  private configured = ''

  /** The model of the next call. Returns to the configured one when its time has come, or when another one was configured. */
  current(config: RouteConfig, now: number): Route {
    const routes = chainOf(config)
    const key = routes.map(route => `${routeKey(route)}:${route.effort}`).join(' ')
    if (key !== this.configured) this.reset()
    this.configured = key
    // A clock set back must not keep us away for ever.
    if (this.away !== undefined && (now >= this.away.until || now < this.away.since)) this.reset()
    return routes[this.position] ?? routes[0]!
  }

  /** A fallback in use, and why. */
  get detour(): Detour | undefined {
    return this.away
  }

  /** The model in use fails for good, or for quota. @param retryMs - when the provider said it will be well again. */
  fail(config: RouteConfig, reason: string, retryMs: number | undefined, now: number): Switch {
    const routes = chainOf(config)
    const from = routes[this.position]
    const to = routes[this.position + 1]
    if (from === undefined || to === undefined) {
      this.reset()
      return { kind: 'exhausted' }
    }
    this.away ??= { from: routeKey(from), reason, since: now, until: now + (retryMs ?? RETRY_AFTER_MS) }
    this.position += 1
    return { kind: 'switched', to, from: routeKey(from) }
  }

  /** The user, or the configuration, gives the configured model another chance. */
  reset(): void {
    this.position = 0
    this.away = undefined
  }
}

/** The models in the order in which they are tried, none twice. */
function chainOf(config: RouteConfig): Route[] {
  const own = routeOf(config)
  const others = config.fallbacks.flatMap((text) => {
    const selector = parseSelector(text.trim())
    return selector === undefined ? [] : [{ effort: own.effort, ...selector }]
  })
  const seen = new Set<string>()
  return [own, ...others].filter((route) => {
    const known = seen.has(routeKey(route))
    seen.add(routeKey(route))
    return !known
  })
}
