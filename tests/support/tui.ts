// The published terminal front end with the plugin installed, as a user installs both.

import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { createHost, type Host } from './host.ts'
import { startTerminal, type Terminal } from './terminal.ts'

const TUI = '@deepseek-harness-tui/dsh-tui@0.10.2'
const PROFILE = 'dsh-tui'
const INSTALL_MS = 240_000
/** A dependency of the terminal front end that not every registry has, and what stands in for it there: it draws a spinner's words. */
const ACTIVITY = 'dsh-working-activity'
const STAND_IN = fileURLToPath(new URL(`./${ACTIVITY}`, import.meta.url))

/** Makes a host whose profile has the terminal front end and the plugin. */
export async function createTuiHost(tarball: string): Promise<Host> {
  const host = await createHost({ profile: PROFILE })
  const folder = join(host.home, 'profiles', PROFILE)
  mkdirSync(folder, { recursive: true })
  const write = (name: string, content: unknown) => writeFileSync(join(folder, name), typeof content === 'string' ? content : stringify(content))
  write('package.json', JSON.stringify({
    name: `dsh-profile-${PROFILE}`, private: true, dependencies: {}, dsh: { profile: { bundles: ['@deepseek-ai/dsh-base'] } },
  }))
  write('cordis.patch.yml', [])
  write('pnpm-workspace.yaml', {
    packages: ['.'], nodeLinker: 'hoisted', autoInstallPeers: false,
    ...isPublished(`${ACTIVITY}@^0.4.0`) ? {} : { overrides: { [ACTIVITY]: `file:${STAND_IN}` } },
  })
  try {
    // It brings a package manager's work of minutes with it on a machine whose caches are empty.
    const { code, stdout, stderr } = await host.dsh(['plugin', '--profile', PROFILE, 'add', TUI], { timeoutMs: INSTALL_MS })
    if (code !== 0) throw new Error(`${TUI} cannot be installed (exit ${code})\n${stdout}${stderr}`)
    await host.add(tarball)
  } catch (error) {
    await host.dispose()
    throw error
  }
  return host
}

/** Starts the terminal front end in a folder and waits until it takes words. */
export async function openTui(host: Host, cwd: string, server: { baseURL: string }): Promise<Terminal> {
  const terminal = startTerminal({ command: host.command('--profile', PROFILE), cwd, env: { ...host.env({ server }), DSH_TUI_LANG: 'en' } })
  try {
    await terminal.see('Context loaded')
    return terminal
  } catch (error) {
    await terminal.stop()
    throw error
  }
}

function isPublished(spec: string): boolean {
  return spawnSync('npm', ['view', spec, 'version']).status === 0
}
