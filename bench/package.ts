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

/** Milliseconds: the host's packages that the plugin imports, then the plugin itself. */
export interface Load { readonly host: number, readonly plugin: number }

export async function packaged(lab: Lab): Promise<readonly BudgetRow[]> {
  const packed = statSync(lab.tarball).size
  const loads: Load[] = []
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD])
    loads.push(JSON.parse(stdout) as Load)
  }
  const plugin = median(loads.map(load => load.plugin))
  const manifest = readFileSync(join(dirname(pluginPath()), '../package.json'), 'utf8')
  const { scripts = {} } = JSON.parse(manifest) as { scripts?: Record<string, string> }
  const found = INSTALL_SCRIPTS.filter(name => name in scripts)
  printTable('the package', ['', 'figure'], [
    ['tarball, kB', number(packed / 1000, 1)],
    ['lib/index.js, kB', number(statSync(pluginPath()).size / 1000, 1)],
    ['import of lib/index.js in a host that has its packages, ms', number(plugin, 1)],
    ['import of the host\'s packages it needs, ms', number(median(loads.map(load => load.host)), 1)],
    ['install scripts', found.join(', ') || 'none'],
  ])
  return [{
    what: 'package', bound: 'under 200 kB, no install scripts, loads in under 50 ms',
    measured: `${number(packed / 1000, 1)} kB, ${found.length} scripts, ${number(plugin, 1)} ms`,
    met: packed < 200_000 && found.length === 0 && plugin < 50,
  }]
}
