// Values that are secret because the host keeps them as such: what its credentials store holds, and what the environment
// passes on under a telling name.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { parse } from 'yaml'
import { dshHome } from '../host.ts'
import { announces } from './names.ts'

/** The part of the host's store that is used. It resolves names and lists none. */
interface Credentials {
  resolve(ref: string): Promise<{ readonly value: string } | undefined>
}

/** Shorter values stand in ordinary text. */
const LEAST_LENGTH = 8
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

/** Never rejects; without a store, the environment's values alone. */
export async function knownSecrets(ctx: Context): Promise<readonly string[]> {
  const store = ctx.get('credentials') as Credentials | undefined
  const telling = Object.keys(process.env).filter(name => announces(name) !== undefined)
  const named = store === undefined ? [] : await storedNames()
  const values = await Promise.all([...new Set([...telling, ...named])].filter(name => REF.test(name)).map(name => valueOf(name, store)))
  return [...new Set(values.filter(value => value !== undefined && value.length >= LEAST_LENGTH) as string[])].toSorted()
}

async function valueOf(name: string, store: Credentials | undefined): Promise<string | undefined> {
  try {
    return (await store?.resolve(name))?.value ?? process.env[name]
  } catch {
    return process.env[name]
  }
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
