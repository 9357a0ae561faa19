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
import { teller } from './surface/tell.ts'

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
    // The role is given up last: the next holder registers the same names.
    return async () => {
      await reviewer?.dispose()
      release()
    }
  }, 'advisor.claim()')
}

function mount(ctx: Context, config: Config): void {
  // Asked late: the host's rows mount side by side, and this one may be first.
  const isHeadless = () => ctx.get('headlessStartup') !== undefined
  const tell = teller(ctx, isHeadless)
  let stored = (): ConfigSource => ({ kind: 'value', value: config })
  const advisor = new Advisor(ctx, {
    llm: ctx.llm, clock: systemClock, tell,
    get headless() { return isHeadless() },
    source: () => withEnvironment(stored(), process.env[ENVIRONMENT_KEY]),
    planRules: agent => readPlanRules(ctx, agent),
  })
  stored = bridgeSettings(ctx, config, () => { void advisor.refresh() })
  registerCommand(ctx, advisor, systemClock, tell)
  void advisor.refresh()
}
