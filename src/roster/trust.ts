// What the user trusted by `/advisor trust`, and which folders they trust altogether. Grants nothing by itself.

import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { isMapping } from '../mapping.ts'
import { expandHome, isInside } from '../paths.ts'
import type { TrustRequest } from './advisor.ts'
import { putWhole, systemDisk } from './disk.ts'

/** Bytes of the memory that are read; what is longer is not ours. */
const MEMORY_LIMIT = 256 * 1024

/** Remembers which requests of which file the user granted: a hash a file. Any other request of that file asks again. */
export class TrustStore {
  /** Where it is kept. */
  readonly path: string
  private readonly folder: string
  /** One change after the other. */
  private changing: Promise<unknown> = Promise.resolve()

  constructor(dshHome: string) {
    this.folder = join(dshHome, 'advisor')
    this.path = join(this.folder, 'trusted.json')
  }

  /**
   * Whether the user granted exactly these requests of a file. A memory that cannot be read grants nothing.
   * @param requests - all that the file asks for.
   */
  async has(file: string, requests: readonly TrustRequest[]): Promise<boolean> {
    return requests.length === 0 || (await this.load()).get(file) === digest(requests)
  }

  /**
   * Remember requests, those of one file or of many, in the place of what was remembered of those files.
   * @throws when the memory cannot be written.
   */
  async remember(requests: readonly TrustRequest[]): Promise<void> {
    await this.change((trusted) => {
      for (const [file, asked] of Map.groupBy(requests, request => request.file)) trusted.set(file, digest(asked))
    })
  }

  /**
   * Trust files no longer.
   * @throws when the memory cannot be written.
   */
  async forget(files: readonly string[]): Promise<void> {
    await this.change((trusted) => { for (const file of files) trusted.delete(file) })
  }

  private change(edit: (trusted: Map<string, string>) => void): Promise<void> {
    const done = this.changing.then(async () => {
      const trusted = await this.load()
      edit(trusted)
      await this.save(trusted)
    })
    this.changing = done.catch(() => {})
    return done
  }

  private async load(): Promise<Map<string, string>> {
    try {
      const bytes = await systemDisk.head(await systemDisk.realpath(this.path), MEMORY_LIMIT)
      const memory: unknown = JSON.parse(Buffer.from(bytes).toString())
      const trusted = isMapping(memory) && isMapping(memory.trusted) ? memory.trusted : {}
      return new Map(Object.entries(trusted).filter((pair): pair is [string, string] => typeof pair[1] === 'string'))
    } catch {
      return new Map()
    }
  }

  private async save(trusted: ReadonlyMap<string, string>): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 })
    const memory = { version: 1, trusted: Object.fromEntries(trusted) }
    await putWhole(this.path, Buffer.from(`${JSON.stringify(memory, null, 2)}\n`), 0o600)
  }
}

/** The same whatever the order of entries. */
function digest(requests: readonly TrustRequest[]): string {
  const wishes = requests.map(({ advisor, wish }) => JSON.stringify([advisor, wish])).sort()
  return createHash('sha256').update(wishes.join('\n')).digest('hex')
}

/**
 * `trustedWorkspaces` as folders.
 * @returns absolute paths, links not resolved, and what is no absolute path: a relative one would mean another folder in
 *   each session.
 */
export function trustedFolders(trusted: readonly string[], home: string): { readonly folders: readonly string[], readonly wrong: readonly string[] } {
  const expanded = trusted.map(path => expandHome(path.trim(), home))
  return { folders: expanded.filter(path => isAbsolute(path)).map(path => resolve(path)), wrong: trusted.filter((_, index) => !isAbsolute(expanded[index]!)) }
}

/** Whether a path lies in one of the folders. All of them real ones. */
export function isTrusted(path: string, folders: readonly string[]): boolean {
  return folders.some(folder => isInside(path, folder))
}
