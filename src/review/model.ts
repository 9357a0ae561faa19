// Which model answers a reviewer, and what it can do. Asked of the host once for each model.

import type { Config } from '../config/schema.ts'
import { parseSelector } from '../config/environment.ts'
import { describeModel, type CallOptions, type CallResult, type ModelService } from './call.ts'

/** The model of a request. */
export interface Route {
  readonly provider: string
  readonly model: string
  /** Sent only when the model takes it. */
  readonly effort: string
}

export interface ModelFacts {
  readonly efforts: ReadonlySet<string>
  /** Tokens of its context window, when it says. */
  readonly window: number | undefined
}

type Trouble = Exclude<CallResult, { kind: 'reply' }>

export class Models {
  private readonly llm: ModelService
  private readonly known = new Map<string, ModelFacts>()

  constructor(llm: ModelService) {
    this.llm = llm
  }

  /** What the model can do; asked again only after {@link forget}. Never throws. */
  async describe(route: Route, options: CallOptions): Promise<{ kind: 'facts', facts: ModelFacts } | Trouble> {
    const known = this.known.get(routeKey(route))
    if (known !== undefined) return { kind: 'facts', facts: known }
    const described = await describeModel(this.llm, route.provider, route.model, options)
    if (described.kind !== 'info') return described
    const { reasoning, context } = described.info
    const facts: ModelFacts = {
      efforts: new Set(reasoning?.efforts.map(effort => String(effort.id))),
      window: context?.contextWindow,
    }
    this.known.set(routeKey(route), facts)
    return { kind: 'facts', facts }
  }

  /** The host's adapters changed. */
  forget(): void {
    this.known.clear()
  }
}

/** The model of the configuration. */
export function routeOf({ provider, model, effort }: Pick<Config, 'provider' | 'model' | 'effort'>): Route {
  return { provider, model, effort }
}

/** The model for conversations too long for the configured one, when there is one. */
export function longRouteOf({ longContextModel, effort }: Pick<Config, 'longContextModel' | 'effort'>): Route | undefined {
  const selector = parseSelector(longContextModel.trim())
  return selector === undefined ? undefined : { effort, ...selector }
}

export function routeKey({ provider, model }: Pick<Route, 'provider' | 'model'>): string {
  return `${provider}/${model}`
}
