// The plugin: wiring only. One fiber of a host reviews; the others wait until it leaves.

import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-agent'
import type {} from '@deepseek-ai/dsh-commands'
import type {} from '@deepseek-ai/dsh-llm'
import type {} from '@deepseek-ai/dsh-settings'
import { Supervisor } from './supervisor.ts'
import { claimReviewer, reviewerOf, type Claimant } from './claim.ts'
import { systemClock } from './clock.ts'
import type { ConfigSource } from './config/resolve.ts'
import { ENVIRONMENT_KEY, withEnvironment } from './config/environment.ts'
import type { Config } from './config/schema.ts'
import { bridgeSettings } from './config/settings.ts'
import { dshHome, hostOf, sessionLog, type Host } from './host.ts'
import { DayBook } from './record/day-book.ts'
import { recordFolder, SessionRecord } from './record/session-record.ts'
import { eachCauseOnce } from './record/trouble.ts'
import { readPlanRules } from './observe/plan.ts'
import { rememberedSecrets } from './redact/known.ts'
import { RosterReader } from './roster/reader.ts'
import { TrustStore } from './roster/trust.ts'
import { openToolbox } from './review/tools/toolbox.ts'
import { registerCommand } from './surface/command.ts'

export { REVIEWER_KEY } from './claim.ts'
export { Config } from './config/schema.ts'

export const name = 'dsh-advisor'

/** Services that every profile of the host has. The rest is looked for when needed. */
export const inject = ['agents', 'llm', 'sessions']

/** Mount the plugin. `config` has passed the schema. */
export function apply(ctx: Context, config: Config): void {
  const host = hostOf(ctx)
  ctx.effect(() => {
    let reviewer: { dispose(): Promise<void> } | undefined
    const claimant: Claimant = {
      get name() { return host.row },
      activate() {
        reviewer = ctx.plugin({ name: 'advisor-reviewer', inject, apply: (reviewerCtx: Context) => mount(reviewerCtx, config) })
      },
    }
    const release = claimReviewer(ctx.root, claimant)
    if (reviewer === undefined) host.whenSettled(() => tellInert(host, ctx.root, claimant))
    // The role is given up last: the next holder registers the same names.
    return async () => {
      await reviewer?.dispose()
      release()
    }
  }, 'advisor.claim()')
}

function tellInert(host: Host, root: object, claimant: Claimant): void {
  const holder = reviewerOf(root)
  if (holder === undefined || holder === claimant) return
  host.tell(`row "${host.row}" does nothing: row "${holder.name}" of the same plugin was loaded first and is the one that counts; keep only one of them`)
}

function mount(ctx: Context, config: Config): void {
  const host = hostOf(ctx)
  const places = { dshHome: dshHome(process.env), home: homedir() }
  const onTrouble = eachCauseOnce(host.tell, host.debug)
  const day = new DayBook({ folder: join(places.dshHome, 'advisor'), clock: systemClock, onTrouble })
  const trust = new TrustStore(places.dshHome)
  let stored = (): ConfigSource => ({ kind: 'value', value: config })
  const supervisor = new Supervisor(ctx, {
    llm: ctx.llm, clock: systemClock, host, trust,
    source: () => withEnvironment(stored(), process.env[ENVIRONMENT_KEY]),
    record: (agent, parent, after) => new SessionRecord({
      folder: recordFolder(sessionLog(ctx, agent), places.dshHome, agent.id), clock: systemClock, day, parent, after,
      prices: () => stored().value.prices, onTrouble,
    }),
    close: () => day.dispose(),
    secrets: rememberedSecrets(ctx),
    toolbox: agent => openToolbox(ctx, agent, systemClock),
    planRules: agent => readPlanRules(ctx, agent),
    rosterReader: cwd => new RosterReader({ ...places, cwd }, trust),
  })
  // Names are taken last, so that a plugin that owns one of them keeps it and the host boots.
  host.whenSettled(() => {
    stored = bridgeSettings(ctx, config, () => host.background(supervisor.refresh()), host)
    registerCommand(ctx, supervisor, systemClock, host.tell)
    host.background(supervisor.refresh())
  })
}
