// Makes the tarball that users install. The tests, the demo and `npm run package` all go through here.

import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BUILT = join(ROOT, 'lib/index.js')
const SOURCES = ['src', 'scripts/markdown.ts', 'tsdown.config.ts', 'package.json', 'pnpm-lock.yaml']

/**
 * Builds `lib/` when a source is newer, then packs into `folder`.
 * @returns the absolute path of the tarball.
 * @throws Error with the tool's own output when the build or the packing fails.
 */
export function packPlugin(folder: string): string {
  if (isStale()) npm('run', 'build')
  // Lifecycle scripts stay off: packing must not depend on what else package.json runs.
  const [packed] = JSON.parse(npm('pack', '--ignore-scripts', '--json', '--pack-destination', folder))
  return join(folder, packed.filename)
}

function isStale(): boolean {
  const built = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return SOURCES.some(path => newestChange(join(ROOT, path)) > built)
}

// A folder's own time counts too: it is what changes when a file is deleted.
function newestChange(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map(name => newestChange(join(path, name))))
}

function npm(...args: string[]): string {
  const shell = process.platform === 'win32'
  try {
    return execFileSync('npm', ['--silent', ...args], { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], shell })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`npm ${args.join(' ')} failed\n${stdout}${stderr}`, { cause: error })
  }
}
