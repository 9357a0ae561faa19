// A home folder, `$DSH_HOME` and a repository in a temporary folder, for tests of what WATCHDOG files come to.

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Roster } from '../../../src/roster/advisor.ts'
import type { Disk } from '../../../src/roster/disk.ts'
import { RosterReader } from '../../../src/roster/reader.ts'
import { TrustStore } from '../../../src/roster/trust.ts'

/** Paths are relative to the temporary folder: `home`, `home/.dsh`, `home/repo` with its `.git`. */
export class Workspace {
  readonly root: string
  readonly home: string
  readonly dshHome: string
  readonly repo: string
  readonly trust: TrustStore

  private constructor(root: string) {
    this.root = root
    this.home = join(root, 'home')
    this.dshHome = join(this.home, '.dsh')
    this.repo = join(this.home, 'repo')
    this.trust = new TrustStore(this.dshHome)
  }

  static async create(): Promise<Workspace> {
    const workspace = new Workspace(await realpath(await mkdtemp(join(tmpdir(), 'advisor-roster-'))))
    await mkdir(workspace.dshHome, { recursive: true })
    await mkdir(join(workspace.repo, '.git'), { recursive: true })
    return workspace
  }

  /** Write files and the folders they need. */
  async write(files: Record<string, string | Uint8Array>): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(this.root, path)), { recursive: true })
      await writeFile(join(this.root, path), content)
    }
  }

  /** @param cwd - the repository if left out. */
  reader(cwd: string = this.repo, disk?: Disk): RosterReader {
    return new RosterReader({ dshHome: this.dshHome, home: this.home, cwd }, this.trust, disk)
  }

  /** One read by a new reader. */
  read(cwd?: string, trusted: readonly string[] = []): Promise<Roster> {
    return this.reader(cwd).read(trusted)
  }

  remove(): Promise<void> {
    return rm(this.root, { recursive: true, force: true })
  }
}

/** A roster file with advisors of these names, or entries as written in flow style. */
export function rosterOf(...entries: string[]): string {
  return `advisors:\n${entries.map(entry => `  - ${entry.startsWith('{') ? entry : `{ name: ${entry} }`}\n`).join('')}`
}
