// Which of its models a reviewer uses: the configured one, or a fallback while that one fails. It calls nobody and tells nobody.

import { parseSelector } from '../config/environment.ts'
import type { Config } from '../config/schema.ts'
import { routeKey, routeOf, type Route } from './model.ts'

export type RouteConfig = Pick<Config, 'provider' | 'model' | 'effort' | 'fallbacks'>

/** Why a model is no longer in use. */
export interface Trouble {
  /** What it comes to when nothing else helps: `halt` until somebody does something, `pause` until its time has come. */
  readonly kind: 'halt' | 'pause'
  readonly reason: string
  /** Milliseconds after which the provider said that it will be well again. */
  readonly retryMs: number | undefined
}

/** A fallback in use. */
export interface Detour {
  readonly from: string
  readonly reason: string
  /** When the configured model is tried again, in milliseconds since the epoch. */
  readonly until: number
  readonly since: number
}

export type Switch =
  /** `passed`: fallbacks before it whose provider this host does not have. */
  | { readonly kind: 'switched', readonly to: Route, readonly from: string, readonly passed: readonly string[] }
  /** Every model was tried for this failure. The trouble is that of all, told from now: the first to be well again says when. */
  | { readonly kind: 'exhausted', readonly trouble: Trouble }

/** How long a model is left alone when nobody says when it will be well again. */
const RETRY_AFTER_MS = 30 * 60_000

export class Routes {
  private position = 0
  private away: Detour | undefined
  /** Those that failed since the configured one did. */
  private failed: readonly { readonly model: string, readonly trouble: Trouble, readonly at: number }[] = []
  private configured = ''

  /** The model of the next call. Returns to the configured one when its time has come, or when another one was configured. */
  current(config: RouteConfig, now: number): Route {
    const routes = chainOf(config)
    const key = keyOf(routes)
    if (key !== this.configured || this.isOver(now)) this.reset()
    this.configured = key
    return routes[this.position] ?? routes[0]!
  }

  /** A fallback that the next call would go to, and why; none when it would go to the configured model. */
  detour(config: RouteConfig, now: number): Detour & { readonly to: string } | undefined {
    const routes = chainOf(config)
    const to = routes[this.position]
    if (this.away === undefined || to === undefined || this.isOver(now) || keyOf(routes) !== this.configured) return undefined
    return { ...this.away, to: routeKey(to) }
  }

  /**
   * The model in use fails for good, or for quota: go on with the next one.
   * @param isThere - whether the host has a provider.
   */
  fail(config: RouteConfig, trouble: Trouble, now: number, isThere: (provider: string) => boolean): Switch {
    const routes = chainOf(config)
    const from = routeKey(routes[this.position] ?? routes[0]!)
    const rest = routes.slice(this.position + 1)
    const next = rest.findIndex(({ provider }) => isThere(provider))
    const passed = rest.slice(0, next < 0 ? undefined : next).map(routeKey)
    const to = rest[next]
    this.failed = [...this.failed, { model: from, trouble, at: now }]
    if (to === undefined) {
      const sum = this.sumUp(passed, now)
      this.reset()
      return { kind: 'exhausted', trouble: sum }
    }
    this.away ??= { from, reason: trouble.reason, since: now, until: now + (trouble.retryMs ?? RETRY_AFTER_MS) }
    this.position += next + 1
    return { kind: 'switched', to, from, passed }
  }

  /** What all failures come to together. */
  private sumUp(missing: readonly string[], now: number): Trouble {
    const waits = this.failed.flatMap(({ trouble: { retryMs }, at }) => retryMs === undefined ? [] : Math.max(0, at + retryMs - now))
    const reasons = this.failed.map(({ model, trouble }) => this.failed.length === 1 ? trouble.reason : `${model}: ${trouble.reason}`)
    return {
      kind: this.failed.some(({ trouble }) => trouble.kind === 'pause') ? 'pause' : 'halt',
      reason: [...reasons, ...missing.map(model => `${model}: not in this host`)].join('; '),
      retryMs: waits.length === 0 ? undefined : Math.min(...waits),
    }
  }

  get isAway(): boolean {
    return this.away !== undefined
  }

  /** The user, or the configuration, gives the configured model another chance. */
  reset(): void {
    this.position = 0
    this.away = undefined
    this.failed = []
  }

  /** A clock set back must not keep us away for ever. */
  private isOver(now: number): boolean {
    return this.away !== undefined && (now >= this.away.until || now < this.away.since)
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

function keyOf(routes: readonly Route[]): string {
  return routes.map(route => `${routeKey(route)}:${route.effort}`).join(' ')
}
