// One load of the WATCHDOG files that are there: each opened, its imports expanded, its entries read, its trouble told.
// What they come to together is decided elsewhere.

import { join } from 'node:path'
import { shownPath } from '../paths.ts'
import type { RosterFile, TrustRequest } from './advisor.ts'
import type { Ground, Site } from './discover.ts'
import { FILE_LIMIT } from './disk.ts'
import { ENTRY_LIMITS } from './entry.ts'
import { cutAfter, harmless, type Part } from './guidance.ts'
import { Importer } from './imports.ts'
import { requestsOf, type RosterSource } from './merge.ts'
import { parseRoster, type PlacedEntry } from './parse.ts'
import type { Opened, View } from './view.ts'

/** Names in a folder; of two rosters the later wins. */
const NAMES = [['WATCHDOG.md', 'guidance'], ['WATCHDOG.yml', 'roster'], ['WATCHDOG.yaml', 'roster']] as const

/** One file that is there. */
export interface Loaded {
  readonly file: Omit<RosterFile, 'advisors'>
  readonly guidance?: Part
  readonly source?: RosterSource
  /** Entries that cannot be used; a roster file that cannot counts as one. */
  readonly bad: number
  readonly trouble: readonly string[]
}

/** Whether a project's file may have what it asks for. `real` is its path with links resolved. */
export type AskTrust = (site: Site, path: string, real: string, requests: readonly TrustRequest[]) => boolean | Promise<boolean>

type TextFile = Extract<Opened, { kind: 'text' }>

export class Loader {
  private readonly ground: Ground
  private readonly view: View
  private readonly isTrusted: AskTrust

  constructor(ground: Ground, view: View, isTrusted: AskTrust) {
    this.ground = ground
    this.view = view
    this.isTrusted = isTrusted
  }

  /** Every file of every folder, in the order of the folders. */
  async loadAll(): Promise<Loaded[]> {
    const files = this.ground.sites.flatMap(site => NAMES.map(([name, kind]) => this.load(join(site.folder, name), kind, site)))
    return (await Promise.all(files)).filter(loaded => loaded !== undefined)
  }

  private async load(path: string, kind: RosterFile['kind'], site: Site): Promise<Loaded | undefined> {
    const opened = await this.view.open(path, site.fence === undefined ? undefined : [site.fence])
    if (opened.kind === 'absent') return undefined
    const file = { path, label: shownPath(path, this.ground.base, this.ground.home), kind, scope: site.scope, state: 'read', trust: 'not needed' } as const
    if (opened.kind !== 'text') return skipped(file, [`${file.label}: skipped: it ${this.whyNot(opened)}`])
    return kind === 'guidance' ? this.loadGuidance(file, opened, site) : this.loadRoster(file, opened, site)
  }

  private async loadGuidance(file: Loaded['file'], opened: TextFile, site: Site): Promise<Loaded> {
    const { path, label, scope } = file
    const importer = new Importer(path, site, this.ground, this.view)
    const text = await importer.expand(opened.cut ? cutAfter(opened.text, FILE_LIMIT, true) : opened.text, path, [opened.real])
    const cut = opened.cut ? [`${label}: cut: only the first ${FILE_LIMIT / 1024} kB are read`] : []
    return { file, guidance: { kind: 'attention', label, scope, text }, bad: 0, trouble: [...cut, ...importer.trouble] }
  }

  private async loadRoster(file: Loaded['file'], opened: TextFile, site: Site): Promise<Loaded> {
    const { path, label, scope } = file
    // Half a roster may lack the very line that takes a tool away.
    if (opened.cut) return skipped(file, [`${label}: skipped: it is longer than ${FILE_LIMIT / 1024} kB`])
    const parsed = parseRoster(opened.text)
    const trouble = parsed.remarks.map(({ line, column, text }) => `${[label, line, column].filter(part => part !== undefined).join(':')}: ${text}`)
    if (parsed.kind === 'broken') return skipped(file, trouble)

    const importer = new Importer(path, site, this.ground, this.view)
    const shared = await importer.expand(parsed.instructions, path, [opened.real], `${label}: instructions`)
    const entries: PlacedEntry[] = []
    for (const placed of parsed.entries) {
      const { name } = placed.entry
      const whole = harmless(await importer.expand(placed.entry.instructions, path, [opened.real], `${label}: "${name}"`))
      const instructions = cutAfter(whole, ENTRY_LIMITS.instructions)
      if (instructions !== whole) trouble.push(`${label}:${placed.line}: instructions of "${name}" cut: they may hold ${ENTRY_LIMITS.instructions / 1000} kB`)
      entries.push({ ...placed, entry: { ...placed.entry, instructions } })
    }
    const requests = requestsOf({ path, scope, entries })
    const trusted = requests.length === 0 || await this.isTrusted(site, path, opened.real, requests)
    return {
      file: { ...file, trust: requests.length === 0 ? 'not needed' : trusted ? 'granted' : 'missing' },
      guidance: { kind: 'instructions', label, scope, text: shared },
      source: { path, label, scope, trusted, entries },
      bad: parsed.bad,
      trouble: [...trouble, ...importer.trouble],
    }
  }

  private whyNot(opened: Exclude<Opened, { kind: 'text' } | { kind: 'absent' }>): string {
    switch (opened.kind) {
      case 'folder': return 'is a folder, not a file'
      case 'outside': return `leads out of the ${this.ground.inRepository ? 'repository' : 'folder'}`
      case 'refused': return opened.reason
    }
  }
}

function skipped(file: Loaded['file'], trouble: readonly string[]): Loaded {
  return { file: { ...file, state: 'skipped' }, bad: Number(file.kind === 'roster'), trouble }
}
