// Values that are secret because the host keeps them as such: what its credentials store holds, and what the environment
// passes on under a telling name.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { parse } from 'yaml'
import { systemClock, type Clock } from '../clock.ts'
import { dshHome } from '../host.ts'
import { announces } from './names.ts'
import { isSecretValue } from './values.ts'

/** The part of the host's store that is used. It resolves names and lists none. */
interface Credentials {
  resolve(ref: string): Promise<{ readonly value: string } | undefined>
}

/** The part of the host's settings that is used. */
interface Settings {
  describe(options: { redactSecrets: boolean }): readonly { readonly value: unknown }[]
}

/** The longest that a store may take; a review must not wait for it. */
const STORE_MS = 2_000
/** Shorter values stand in ordinary text; what somebody stored as a secret is one for certain. */
const LEAST_LENGTH = { stored: 6, environment: 8 }
const REF = /^[A-Za-z_]\w*$/

/** The host's names for a change of its store; the newer one says it otherwise. */
const CHANGES = ['credentials/updated', 'credentials/reference-updated']

/** Keeps what {@link knownSecrets} found until the store says that it has changed. */
export function rememberedSecrets(ctx: Context): () => Promise<readonly string[]> {
  let known: Promise<readonly string[]> | undefined
  const forget = () => { known = undefined }
  const listen = ctx.on as (event: string, listener: () => void) => void
  for (const event of CHANGES) listen.call(ctx, event, forget)
  // A store that comes later has more to tell.
  ctx.inject(['credentials'], forget)
  return () => known ??= knownSecrets(ctx)
}

/**
 * Values in the host's credentials store, and in its environment under a telling name. The store lists nothing: its names are those in the
 * file of the host's own store and those that settings refer to.
 * @returns sorted; without a store the environment's values alone, and from one that does not answer in time what it gave. Never rejects.
 */
export async function knownSecrets(ctx: Context, clock: Clock = systemClock): Promise<readonly string[]> {
  const known = new Set(environmentValues())
  const store = ctx.get('credentials') as Credentials | undefined
  if (store === undefined) return [...known].toSorted()
  const over = new AbortController()
  await Promise.race([collect(ctx, store, known), clock.sleep(STORE_MS, over.signal)])
  over.abort(new Error('done'))
  return [...known].toSorted()
}

/** Values under names such as `DEPLOY_TOKEN`, but for paths, switches and examples. */
function environmentValues(): string[] {
  return Object.entries(process.env).flatMap(([name, value = '']) => {
    const kind = announces(name)
    if (kind === undefined || value.length < LEAST_LENGTH.environment) return []
    return isSecretValue(value, kind, 'environment', { isClear: true, isLine: false }) ? [value] : []
  })
}

async function collect(ctx: Context, store: Credentials, known: Set<string>): Promise<void> {
  const names = new Set([...await storedNames(), ...settingsNames(ctx)])
  await Promise.all([...names].filter(name => REF.test(name)).map(async (name) => {
    try {
      const value = (await store.resolve(name))?.value
      if (value !== undefined && value.length >= LEAST_LENGTH.stored) known.add(value)
    } catch {
      // A name that the store cannot resolve now has no value to hide.
    }
  }))
}

/** Names in the file of the host's local store. */
async function storedNames(): Promise<string[]> {
  try {
    const document: unknown = parse(await readFile(join(dshHome(process.env), '.credentials.yaml'), 'utf8'))
    return typeof document === 'object' && document !== null ? Object.keys(document) : []
  } catch {
    return []
  }
}

/** What settings name as the place of a key: `apiKeyEnv: DEEPSEEK_API_KEY`. */
function settingsNames(ctx: Context): string[] {
  try {
    return references((ctx.get('settings') as Settings | undefined)?.describe({ redactSecrets: true }).map(({ value }) => value))
  } catch {
    return []
  }
}

function references(value: unknown, name = ''): string[] {
  if (typeof value === 'string') return /(?:Env|Ref)$/.test(name) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => references(inner, key))
}
