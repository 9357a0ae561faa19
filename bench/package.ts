// What an installation costs: the size of the tarball, and the time a host takes to load the plugin.

import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BudgetRow } from './budget.ts'
import { pluginPath, type Lab } from './lab.ts'
import { median } from './measure.ts'
import { number, printTable } from './table.ts'

const CHILD = fileURLToPath(new URL('load-child.ts', import.meta.url))
const REPEATS = 7
/** Scripts that a package manager runs on the user's machine. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare']

/** Milliseconds by the clock, and of processor time. */
export interface Spent { readonly ms: number, readonly cpu: number }

/** The host's packages that the plugin imports, the other packages it needs at once, then the plugin itself. */
export interface Load { readonly host: Spent, readonly dependencies: Spent, readonly plugin: Spent }

export async function packaged(lab: Lab): Promise<readonly BudgetRow[]> {
  const packed = statSync(lab.tarball).size
  const loads: Load[] = []
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD])
    loads.push(JSON.parse(stdout) as Load)
  }
  const row = (what: string, pick: (load: Load) => Spent) =>
    [what, ...[(spent: Spent) => spent.ms, (spent: Spent) => spent.cpu].map(kind => number(median(loads.map(load => kind(pick(load)))), 1))]
  const added = (kind: (spent: Spent) => number) => median(loads.map(load => kind(load.dependencies) + kind(load.plugin)))
  const [ms, cpu] = [added(spent => spent.ms), added(spent => spent.cpu)]
  const manifest = readFileSync(join(dirname(pluginPath()), '../package.json'), 'utf8')
  const { scripts = {} } = JSON.parse(manifest) as { scripts?: Record<string, string> }
  const found = INSTALL_SCRIPTS.filter(name => name in scripts)
  printTable('the package', ['', 'figure'], [
    ['tarball, kB', number(packed / 1000, 1)],
    ['lib/index.js, kB', number(statSync(pluginPath()).size / 1000, 1)],
    ['install scripts', found.join(', ') || 'none'],
  ])
  printTable(`loading it, ms, medians of ${REPEATS}`, ['', 'by the clock', 'processor time'], [
    row('lib/index.js', load => load.plugin),
    row('packages of its own that it needs at once', load => load.dependencies),
    row('packages of the host, which has them loaded', load => load.host),
  ])
  return [{
    what: 'package', bound: 'under 200 kB, no install scripts, loads in under 50 ms',
    measured: `${number(packed / 1000, 1)} kB, ${found.length} scripts, ${number(ms, 1)} ms (${number(cpu, 1)} ms of processor time)`,
    met: packed < 200_000 && found.length === 0 && ms < 50,
  }]
}
