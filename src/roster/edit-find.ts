// Which roster files a user may edit from a session: those that count there, and those that would be made.

import { dirname, join } from 'node:path'
import { isInside, shownPath } from '../paths.ts'
import { survey, type Places, type Site } from './discover.ts'
import { systemDisk } from './disk.ts'
import { isTrusted, trustedFolders } from './trust.ts'
import { View } from './view.ts'

/** A roster file, there or not. */
export interface Candidate {
  readonly path: string
  /** As messages name it. */
  readonly label: string
  readonly scope: 'user' | 'project'
  /** Real folder that it has to lie in. */
  readonly fence: string | undefined
  /** Whether its models and tools count whatever they are. */
  readonly isTrusted: boolean
}

/** A later one is nearer; the first is made where there is none. */
const NAMES = ['WATCHDOG.yml', 'WATCHDOG.yaml']

/**
 * Find the files of a session.
 * @param trusted - `trustedWorkspaces`.
 * @returns the project's, nearest first, or the one that would be made in the working folder; then the user's, likewise.
 *   Without a repository only the working folder is the project.
 */
export async function findRosterFiles(places: Places, trusted: readonly string[]): Promise<Candidate[]> {
  const view = new View(systemDisk)
  const { sites, base, home } = await survey(places, view)
  const folders = await Promise.all(trustedFolders(trusted, home).folders.map(folder => view.real(folder)))

  async function candidate({ scope, folder, fence }: Site, name: string): Promise<Candidate> {
    const path = join(folder, name)
    const real = await view.real(path)
    return {
      path, label: shownPath(path, base, home), scope, fence,
      isTrusted: scope === 'user' || isTrusted(folder, folders) && isTrusted(dirname(real), folders),
    }
  }

  async function inSites(from: readonly Site[]): Promise<Candidate[]> {
    const found: Candidate[] = []
    for (const site of from) {
      for (const name of [...NAMES].reverse()) {
        if ((await view.look(join(site.folder, name))).kind !== 'absent') found.push(await candidate(site, name))
      }
    }
    const [near] = from
    return found.length > 0 || near === undefined ? found : [await candidate(near, NAMES[0]!)]
  }

  const project = sites.filter(({ scope, folder }) => scope === 'project' && base !== undefined && isInside(folder, base))
  return [...await inSites(project.reverse()), ...await inSites(sites.filter(({ scope }) => scope === 'user'))]
}
