// Which folders may hold WATCHDOG files, in which order, and how far what stands there may reach. Opens none of them.

import { basename, dirname, join, resolve } from 'node:path'
import { isInside } from '../paths.ts'
import type { View } from './view.ts'

export interface Places {
  /** `$DSH_HOME`. */
  readonly dshHome: string
  /** The user's home folder. */
  readonly home: string
  /** The session's working folder. */
  readonly cwd: string | undefined
}

/** One folder to look into. */
export interface Site {
  readonly folder: string
  /** Whether the user wrote what stands here, or it may have come with a repository. */
  readonly scope: 'user' | 'project'
  /** Real folder that a WATCHDOG file has to lie in; none for the user's own, who may link them from where they like. */
  readonly fence: string | undefined
  /** Real folders that its imports have to lie in. */
  readonly reach: readonly string[]
}

export interface Ground {
  /** The user's folder, then the project's from far to near. */
  readonly sites: readonly Site[]
  /** The repository, or the working folder where there is none; paths are shown relative to it. */
  readonly base: string | undefined
  readonly inRepository: boolean
  readonly home: string
}

/** Folder of a project that is looked into beside the project's own; every other dot folder is passed over. */
const PROJECT_FOLDER = '.dsh'

/**
 * Find the folders of a session. All paths are real ones, so that a linked working folder is the repository it leads to.
 *
 * From the working folder upward to the repository's root; without a repository to the home folder; outside both only the
 * working folder. In each folder `.dsh/` comes before the folder itself, and what comes later is nearer. A dot folder on the
 * way is passed over unless it is the working folder or the root.
 */
export async function survey(places: Places, view: View): Promise<Ground> {
  const home = await view.real(resolve(places.home))
  const dshHome = await view.real(resolve(places.dshHome))
  const own: Site = { folder: dshHome, scope: 'user', fence: undefined, reach: [home, dshHome] }
  if (places.cwd === undefined) return { sites: [own], base: undefined, inRepository: false, home }

  const cwd = await view.real(resolve(places.cwd))
  const root = await findRoot(cwd, view)
  // A repository that holds the whole home folder fences nothing: a stray file in it must not reach private keys.
  const repository = root !== undefined && !isInside(home, root) ? root : undefined
  const top = root ?? (isInside(cwd, home) ? home : cwd)
  const seen = new Set([dshHome])
  const sites = [own]
  for (const dir of wayDown(top, cwd)) {
    if (basename(dir).startsWith('.') && dir !== cwd && dir !== top) continue
    const inner = join(dir, PROJECT_FOLDER)
    const isThere = (await view.look(inner)).kind !== 'absent'
    for (const [folder, real] of isThere ? [[inner, await view.real(inner)], [dir, dir]] as const : [[dir, dir]] as const) {
      if (seen.has(real)) continue
      seen.add(real)
      sites.push({ folder, scope: 'project', fence: repository ?? dir, reach: [repository ?? cwd] })
    }
  }
  return { sites, base: repository ?? cwd, inRepository: repository !== undefined, home }
}

/** The nearest folder with `.git`, which is a file in a worktree and in a submodule. */
async function findRoot(cwd: string, view: View): Promise<string | undefined> {
  for (const dir of wayUp(cwd)) {
    const { kind } = await view.look(join(dir, '.git'))
    if (kind === 'file' || kind === 'folder') return dir
  }
  return undefined
}

function* wayUp(from: string): Generator<string> {
  for (let dir = from; ; dir = dirname(dir)) {
    yield dir
    if (dir === dirname(dir)) return
  }
}

/** Folders from `top` down to `cwd`, which lies in it. */
function wayDown(top: string, cwd: string): string[] {
  return [...wayUp(cwd)].filter(dir => isInside(dir, top)).reverse()
}
