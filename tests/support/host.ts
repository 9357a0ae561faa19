// The published host as a child process in throwaway folders, with the plugin installed the way a user installs it. It never
// reaches a real provider: without a model server, calls go to a port where nobody listens.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { packPlugin } from '../../scripts/pack.ts'

const DSH = fileURLToPath(new URL('../../node_modules/@deepseek-ai/dsh/lib/bin.js', import.meta.url))
const PLUGIN = 'dsh-advisor'
const NOBODY = 'http://127.0.0.1:9'
const TIMEOUT_MS = 60_000
// An allow list, so that no key, setting or hook of the developer's own shell reaches the host.
const INHERITED = /^(PATH|LANG|LC_\w+|TERM|TZ|SystemRoot|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|npm_config_\w+|\w+_proxy)$/i

/** One entry of a patch file; see the host's own documentation for its fields. */
export type PatchRow = Record<string, unknown>
type Server = { baseURL: string }

export interface HostOptions {
  /** The plugin's tarball; without it the host is a control, as it comes. */
  tarball?: string
  /** Default `headless`. */
  profile?: string
  /** The model server of every run that names no other. */
  server?: Server
}

export interface LaunchOptions {
  server?: Server
  /** Wins over everything the harness sets; undefined removes a variable. */
  env?: Record<string, string | undefined>
  /** Default: the host's `work` folder. */
  cwd?: string
  /** Then the process is killed and `timedOut` is true. Default 60 000. */
  timeoutMs?: number
  /** Asks the process to stop with SIGTERM, or with the signal name given as the reason of the abort. */
  signal?: AbortSignal
  /** A command that starts the process given as its last arguments, such as `setpriv` with its options. */
  through?: readonly string[]
  /** Hears stdout as it comes, for a process that is talked to before it ends. */
  onStdout?: (data: string) => void
}

export interface RunOptions extends LaunchOptions {
  /** One more patch layer for this run: rows, or the text of the file. */
  patch?: PatchRow[] | string
  /** The profile's own arguments, before the task. */
  args?: string[]
}

export interface RunResult {
  /** The exit code; null when a signal ended the process. */
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  timedOut: boolean
  /** Start, on the `performance.now()` clock that the model server uses too. */
  startedAt: number
  /** Milliseconds from the start to the first byte of stdout, to the exit, and until the output was closed as well. */
  answerAt?: number
  exitAt: number
  ms: number
}

export interface Host extends AsyncDisposable {
  /** The throwaway folder that holds all others. */
  root: string
  /** `DSH_HOME`. */
  home: string
  /** A git repository with one commit: where runs take place. */
  work: string
  profile: string
  /** The environment of a run, for tests that start the host in their own way. */
  env(options?: LaunchOptions): Record<string, string>
  /** A command line of the launcher, for tests that start it in their own way. */
  command(...args: string[]): string[]
  /** Any command line of the launcher, to its end; exit codes are the caller's to judge. */
  dsh(args: string[], options?: LaunchOptions): Promise<RunResult>
  /** One task in the host's profile. */
  run(task: string, options?: RunOptions): Promise<RunResult>
  /** Writes `settings.yaml` of the home. */
  settings(content: object | string): void
  /** Writes the user layer of the profile, `cordis.patch.yml`. */
  patch(rows: PatchRow[] | string): void
  /** Installs a package as a user does: a tarball, or any other spec that `dsh plugin add` takes. Throws when it fails. */
  add(spec: string): Promise<RunResult>
  /** Removes the plugin as a user does. Throws when the launcher fails. */
  remove(): Promise<RunResult>
  /** Absolute folders of the recorded sessions, oldest first. */
  sessions(): string[]
  /** Kills what still runs and deletes every folder; a second call does nothing. */
  dispose(): Promise<void>
}

/**
 * Makes the folders and installs the plugin with `dsh plugin add`.
 * @throws Error with the launcher's output when the installation fails.
 */
export async function createHost({ tarball, profile = 'headless', server }: HostOptions = {}): Promise<Host> {
  // The host compares real paths, and the temporary folder is a link on some systems.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-advisor-')))
  const folder = (name: string) => mkdirSync(join(root, name), { recursive: true })!
  const [home, work, user, bin, temporary] = [folder('home'), folder('work'), folder('user'), folder('bin'), folder('tmp')]
  writeShim(bin)
  makeRepository(work)
  const running = new Set<ChildProcess>()
  let patches = 0

  function env(options: LaunchOptions = {}): Record<string, string> {
    const { PATH = '', ...inherited } = Object.fromEntries(Object.entries(process.env).filter(([name]) => INHERITED.test(name)))
    const merged = {
      ...inherited,
      PATH: [bin, dirname(process.execPath), PATH].join(delimiter),
      HOME: user,
      TMPDIR: temporary,
      DSH_HOME: home,
      DSH_TELEMETRY_DISABLED: '1',
      DEEPSEEK_API_KEY: 'mock-key',
      DEEPSEEK_BASE_URL: (options.server ?? server)?.baseURL ?? NOBODY,
      ...options.env,
    }
    return Object.fromEntries(Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== undefined))
  }

  async function dsh(args: string[], options: LaunchOptions = {}): Promise<RunResult> {
    const startedAt = performance.now()
    const since = () => performance.now() - startedAt
    const [file = '', ...rest] = [...options.through ?? [], ...command(...args)]
    const child = spawn(file, rest, {
      cwd: options.cwd ?? work, env: env(options), stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    const result: RunResult = { code: null, signal: null, stdout: '', stderr: '', timedOut: false, startedAt, exitAt: 0, ms: 0 }
    child.stdout.setEncoding('utf8').on('data', (data: string) => {
      result.answerAt ??= since()
      result.stdout += data
      options.onStdout?.(data)
    })
    child.stderr.setEncoding('utf8').on('data', (data: string) => { result.stderr += data })
    const timer = setTimeout(() => { result.timedOut = child.kill('SIGKILL') }, options.timeoutMs ?? TIMEOUT_MS)
    const stop = () => { child.kill(signalName(options.signal?.reason)) }
    if (options.signal?.aborted) stop()
    else options.signal?.addEventListener('abort', stop, { once: true })
    try {
      await new Promise<void>((resolve, reject) => {
        child.on('error', reject)
        child.on('exit', (code, signal) => Object.assign(result, { code, signal, exitAt: since() }))
        child.on('close', () => resolve())
      })
      return { ...result, ms: since() }
    } finally {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', stop)
      running.delete(child)
    }
  }

  async function plugin(...args: string[]): Promise<RunResult> {
    const result = await dsh(['plugin', '--profile', profile, ...args])
    if (result.code !== 0) throw new Error(`dsh plugin ${args.join(' ')} exited with ${result.code}\n${result.stdout}${result.stderr}`)
    return result
  }

  async function dispose() {
    // A live process would go on writing into the folders.
    await Promise.all([...running].map(child => child.kill('SIGKILL') && once(child, 'close')))
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }

  const host: Host = {
    root, home, work, profile, env, command, dsh, dispose, [Symbol.asyncDispose]: dispose,
    run: (task, { patch, args = [], ...options } = {}) => {
      const layers = patch === undefined ? [] : ['--patch', write(join(root, `patch-${patches++}.yml`), patch)]
      return dsh(['--profile', profile, ...layers, ...args, task], options)
    },
    settings: content => void write(join(home, 'settings.yaml'), content),
    patch: rows => void write(join(home, 'profiles', profile, 'cordis.patch.yml'), rows),
    add: spec => plugin('add', spec),
    remove: () => plugin('remove', PLUGIN),
    sessions: () => sessionFolders(join(home, 'sessions')),
  }
  try {
    if (tarball !== undefined) await host.add(tarball)
  } catch (error) {
    await dispose()
    throw error
  }
  return host
}

/** Builds the plugin if needed and packs it; returns the tarball's path, alone in a new folder that the caller deletes. */
export function packTarball(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-advisor-pack-'))
  try {
    return packPlugin(folder)
  } catch (error) {
    rmSync(folder, { recursive: true })
    throw error
  }
}

function command(...args: string[]): string[] {
  return [process.execPath, DSH, ...args]
}

// `dsh plugin` calls `pnpm`, which a fresh machine lacks. The real home keeps its caches, so this one stays offline.
function writeShim(folder: string) {
  const lines = ['#!/bin/sh', `HOME='${homedir()}' exec npx --prefer-offline -y pnpm@12 "$@"`, '']
  writeFileSync(join(folder, 'pnpm'), lines.join('\n'), { mode: 0o755 })
}

function makeRepository(folder: string) {
  writeFileSync(join(folder, 'README.md'), '# Sample\n\nA small project for the agent to work on.\n')
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@localhost', ...args], {
    cwd: folder, stdio: 'pipe', env: { PATH: process.env['PATH'], HOME: dirname(folder) },
  })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'Start')
}

function write(path: string, content: object | string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : stringify(content))
  return path
}

function signalName(reason: unknown): NodeJS.Signals {
  return typeof reason === 'string' && reason.startsWith('SIG') ? reason as NodeJS.Signals : 'SIGTERM'
}

function sessionFolders(root: string): string[] {
  if (!statSync(root, { throwIfNoEntry: false })) return []
  const folders = readdirSync(root).flatMap(project => readdirSync(join(root, project)).map(name => join(root, project, name)))
  return folders.sort((a, b) => statSync(a).birthtimeMs - statSync(b).birthtimeMs)
}
