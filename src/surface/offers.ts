// What a session has to choose from: models and tools. Whoever is slow or broken offers nothing.

import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { orAborted, within, type Clock } from '../clock.ts'
import type { OfferedModel } from './configure-values.ts'

/** The longest wait for the models of all providers. */
const MODELS_MS = 5_000

/** Models of every provider, in the host's order; those that are listed in time. */
export async function offeredModels(llm: Context['llm'], signal: AbortSignal, clock: Clock): Promise<OfferedModel[]> {
  const providers = llm.listProviders()
  const lists: OfferedModel[][] = providers.map(() => [])
  const listing = Promise.all(providers.map(async ({ id: provider }, at) => {
    try {
      const models = await llm.listModels(provider)
      lists[at] = models.map(({ id, name }) => ({ selector: `${provider}/${id}`, name: name === id ? undefined : name }))
    } catch {
      // A provider without a list has models all the same: they are typed.
    }
  }))
  await within(MODELS_MS, signal, clock, over => orAborted(listing, over))
  return lists.flat()
}

/** Names of the tools that an agent has. */
export function offeredTools(ctx: Context, agent: Agent): string[] {
  const tools = ctx.get('tools') as { schemas(scope: Agent): readonly { readonly name: string }[] } | undefined
  try {
    return tools?.schemas(agent).map(({ name }) => name) ?? []
  } catch {
    return []
  }
}
