// Installs the locked dependencies when they are missing or out of date, so that one command works on a fresh clone. It runs
// before they exist: plain JavaScript, no dependency, any Node from 20 on.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const pnpm = ['-y', 'pnpm@12']

// The installer keeps a copy of the lockfile it has carried out; its content, unlike a time, survives checkouts.
function isInstalled() {
  const [wanted, done] = ['pnpm-lock.yaml', 'node_modules/.pnpm/lock.yaml'].map(path => root + path)
  return existsSync(done) && readFileSync(done).equals(readFileSync(wanted))
}

function install() {
  console.log('setup: installing the locked dependencies')
  const args = [...pnpm, 'install', '--frozen-lockfile']
  const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' }
  const { status, error, stdout, stderr } = spawnSync('npx', args, options)
  if (status === 0) return
  console.error(`${stdout ?? ''}${stderr ?? ''}`)
  console.error(`setup: \`npx ${args.join(' ')}\` failed (${error?.message ?? `exit ${status}`}). It needs npm and the network.`)
  process.exit(1)
}

if (!isInstalled()) install()
