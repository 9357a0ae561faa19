// The settings namespace `advisor`: row base below, user layer above, live. Works without a settings service.

import { isDeepStrictEqual } from 'node:util'
import type { Context } from '@deepseek-ai/cordis'
import { settingsNamespace } from '@deepseek-ai/dsh-settings'
import z from '@deepseek-ai/schemastery'
import type { Host } from '../host.ts'
import { errorMessage } from '../text.ts'
import type { ConfigSource, Origins } from './resolve.ts'
import { Config, defaults } from './schema.ts'

export const SETTINGS_NAMESPACE = settingsNamespace('advisor')

/** Numbers of cordis's fiber states: the enum itself is not exported as a value. */
const DISPOSED = 4
const UNLOADING = 5

/** Whether the plugin itself goes, and not only the settings service. */
function isUnloading(ctx: Context): boolean {
  const state: number = ctx.fiber.state
  return state === DISPOSED || state === UNLOADING
}

/** Which layer says what. A row that only says what holds anyway says nothing. */
function originsOf(row: Config, user: object = {}): Origins {
  const origins: { -readonly [Key in keyof Origins]: Origins[Key] } = {}
  for (const key of Object.keys(defaults) as (keyof Config)[]) {
    if (Object.hasOwn(user, key)) origins[key] = 'settings'
    else if (!isDeepStrictEqual(row[key], defaults[key])) origins[key] = 'row'
  }
  return origins
}

/** What the user wrote, as it stands in the document. */
function userSection(ctx: Context): object | undefined {
  const user: unknown = ctx.settings.describe().find(({ ns }) => ns === SETTINGS_NAMESPACE)?.user
  return typeof user === 'object' && user !== null ? user : undefined
}

/**
 * Follow the layers of configuration.
 * @param row - the plugin row's configuration, the base of the user layer.
 * @param onChange - called after every change, never during this call.
 * @returns reads the composed configuration as it stands now.
 */
export function bridgeSettings(ctx: Context, row: Config, onChange: () => void, host: Host): () => ConfigSource {
  const origins = () => originsOf(row)
  const base: ConfigSource = { kind: 'value', value: row, origins }
  let current: ConfigSource = base
  let ready = false
  function set(next: ConfigSource) {
    current = next
    if (ready) onChange()
  }

  ctx.inject(['settings'], (settingsCtx) => {
    settingsCtx.effect(() => () => { if (!isUnloading(ctx)) set(base) }, 'advisor.settings()')
    attach()

    function attach() {
      const owner = settingsCtx.plugin({
        name: 'advisor-settings',
        apply(ownerCtx: Context) {
          if (ownerCtx.settings.get(SETTINGS_NAMESPACE) !== undefined) {
            host.tell('another plugin owns the settings namespace "advisor"; only the plugin row and the environment count')
            return
          }
          try {
            const scope = ownerCtx.settings.register(SETTINGS_NAMESPACE, Config, { base: row })
            const compose = (value: Config): ConfigSource => ({ kind: 'value', value, origins: () => originsOf(row, userSection(ownerCtx)) })
            scope.watch(value => set(compose(value)))
            set(compose(scope.get()))
          } catch (error) {
            set({ kind: 'invalid', reason: `settings.yaml, section \`advisor\`: ${errorMessage(error)}`, value: row, origins })
            awaitRepair(ownerCtx, () => host.background(owner.dispose().then(attach)))
          }
        },
      })
    }
  })
  ready = true
  return () => current

  /**
   * Hold the namespace with a schema that admits the broken section as it is, so that an edit is noticed.
   * A later value must be right to be admitted; it sends us back to the strict schema.
   */
  function awaitRepair(ctx: Context, onRepaired: () => void) {
    let judging = false
    try {
      const scope = ctx.settings.register(SETTINGS_NAMESPACE, z.any(), {
        base: row,
        validate: (value) => { if (judging) Config(value as Config) },
      })
      judging = true
      scope.watch(onRepaired)
    } catch {
      // A section that is not even a mapping cannot be held; it is read again when the host starts.
    }
  }
}
