// The plugin: wiring only. One fiber of a host reviews; the others wait until it leaves.

import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-agent'
import type {} from '@deepseek-ai/dsh-commands'
import type {} from '@deepseek-ai/dsh-llm'
import type {} from '@deepseek-ai/dsh-settings'
import { Advisor } from './advisor.ts'
import { claimReviewer } from './claim.ts'
import { systemClock } from './clock.ts'
import type { ConfigSource } from './config/resolve.ts'
import { ENVIRONMENT_KEY, withEnvironment } from './config/environment.ts'
import type { Config } from './config/schema.ts'
import { bridgeSettings } from './config/settings.ts'
import { readPlanRules } from './observe/plan.ts'
import { registerCommand } from './surface/command.ts'
import { createTeller } from './surface/tell.ts'

export { REVIEWER_KEY } from './claim.ts'
export { Config } from './config/schema.ts'

export const name = 'dsh-advisor'

/** Services that every profile of the host has. The rest is looked for when needed. */
export const inject = ['agents', 'llm', 'sessions']

/** Mount the plugin. `config` has passed the schema. */
export function apply(ctx: Context, config: Config): void {
  ctx.effect(() => {
    let reviewer: { dispose(): Promise<void> } | undefined
    const release = claimReviewer(ctx.root, () => {
      reviewer = ctx.plugin({ name: 'advisor-reviewer', inject, apply: (reviewerCtx: Context) => mount(reviewerCtx, config) })
    })
    if (reviewer === undefined) {
      createTeller(ctx).tell('this row is inert: another row of the same plugin reviews in this host already; it takes over when that one goes')
    }
    // The role is given up last: the next holder registers the same names.
    return async () => {
      await reviewer?.dispose()
      release()
    }
  }, 'advisor.claim()')
}

function mount(ctx: Context, config: Config): void {
  const teller = createTeller(ctx)
  const tell = (text: string) => { teller.tell(text) }
  let stored = (): ConfigSource => ({ kind: 'value', value: config })
  const advisor = new Advisor(ctx, {
    llm: ctx.llm, clock: systemClock, tell,
    get headless() { return teller.headless },
    settled: async () => { await (ctx.get('loader') as { await(): Promise<void> } | undefined)?.await() },
    source: () => withEnvironment(stored(), process.env[ENVIRONMENT_KEY]),
    planRules: agent => readPlanRules(ctx, agent),
  })
  stored = bridgeSettings(ctx, config, () => { void advisor.refresh() })
  registerCommand(ctx, advisor, systemClock, tell)
  void advisor.refresh()
}
