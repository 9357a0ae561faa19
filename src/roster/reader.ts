// Reads a session's WATCHDOG files: the shell around the deciders of this folder. Knows no model and no session, never
// throws, and opens only what has changed.

import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { errorMessage, printable, truncate } from '../text.ts'
import type { Roster } from './advisor.ts'
import { survey, type Places } from './discover.ts'
import { systemDisk, type Disk } from './disk.ts'
import { composeGuidance } from './guidance.ts'
import { Loader, type Loaded } from './load.ts'
import { mergeRosters } from './merge.ts'
import { isTrusted, trustedFolders, type TrustStore } from './trust.ts'
import { View } from './view.ts'

export type { Places } from './discover.ts'

/** Lines of trouble that are kept; what is more is counted. */
export const TROUBLE_LIMIT = 20

/** Characters of one of them. */
const LINE_LIMIT = 400

/** Reads a session's WATCHDOG files. Looks at the disk on each call, but reads again only what has changed. */
export class RosterReader {
  private readonly places: Places
  private readonly trust: TrustStore
  private readonly view: View
  private last: { readonly roster: Roster, readonly trusted: readonly string[] } | undefined
  private reading: Promise<unknown> = Promise.resolve()

  constructor(places: Places, trust: TrustStore, disk: Disk = systemDisk) {
    this.places = places
    this.trust = trust
    this.view = new View(disk)
  }

  /**
   * The roster as the files are now: the same reference as the last time while nothing has changed. Never throws.
   * @param trusted - `trustedWorkspaces`.
   */
  read(trusted: readonly string[]): Promise<Roster> {
    const reading = this.reading.then(() => this.refresh(trusted))
    this.reading = reading
    return reading
  }

  private async refresh(trusted: readonly string[]): Promise<Roster> {
    const { last } = this
    if (last !== undefined && isDeepStrictEqual(last.trusted, trusted) && await this.view.isUnchanged()) return last.roster
    const fresh = await this.load(trusted).catch((error: unknown) => compose([], [`WATCHDOG files cannot be read: ${printable(errorMessage(error))}`]))
    // A file that was only touched, or an edit that says the same, must not restart a reviewer.
    const roster = last !== undefined && isDeepStrictEqual(last.roster, fresh) ? last.roster : fresh
    this.last = { roster, trusted: [...trusted] }
    return roster
  }

  private async load(trusted: readonly string[]): Promise<Roster> {
    this.view.begin()
    const ground = await survey(this.places, this.view)
    await this.view.look(this.trust.path)
    const { folders, wrong } = trustedFolders(trusted, ground.home)
    const realFolders = await Promise.all(folders.map(folder => this.view.real(folder)))
    const loader = new Loader(ground, this.view, (site, path, real, requests) =>
      isTrusted(site.folder, realFolders) && isTrusted(dirname(real), realFolders) || this.trust.has(path, requests))
    const loaded = await loader.loadAll()
    this.view.end()
    const lines = wrong.map(path => `trustedWorkspaces: "${printable(truncate(path, 80))}" is no absolute path and trusts nothing`)
    return compose(loaded, lines)
  }
}

/** The roster of all files; the lines that the user must not miss come first. */
function compose(loaded: readonly Loaded[], lines: readonly string[]): Roster {
  const merged = mergeRosters(loaded.flatMap(({ source }) => source ?? []), loaded.reduce((sum, { bad }) => sum + bad, 0))
  const guidance = composeGuidance(loaded.flatMap(file => file.guidance ?? []))
  return {
    advisors: merged.advisors,
    guidance: guidance.text,
    trouble: bounded([...lines, ...merged.trouble, ...loaded.flatMap(({ trouble }) => trouble), ...guidance.trouble]),
    requests: merged.requests,
    files: loaded.map(({ file }) => ({ ...file, advisors: merged.advisors.filter(advisor => advisor.file === file.path).map(advisor => advisor.slug) })),
  }
}

function bounded(trouble: readonly string[]): string[] {
  const lines = [...new Set(trouble)].map(line => truncate(line, LINE_LIMIT))
  const more = lines.length - TROUBLE_LIMIT
  return more > 0 ? [...lines.slice(0, TROUBLE_LIMIT), `… and ${more} more`] : lines
}
