// What the benchmarks share: the plugin as it is packed, and two real hosts, with it and without, made on first use.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createHost, packTarball, type Host, type PatchRow, type RunResult } from '../tests/support/host.ts'
import { REVIEWER_MODEL, type ModelServer } from '../tests/support/model-server.ts'
import { MACHINE_OFFSET } from './measure.ts'
import type { BudgetRow } from './budget.ts'
import type { Presence } from './inside.ts'

/** Prints its figures and returns the budgets they answer. */
export type Benchmark = (lab: Lab) => Promise<readonly BudgetRow[]>

/** Below `node_modules`, so that the plugin finds the host's packages; a build of somebody else does not reach it. */
const CACHE = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
/** Tells the benchmark's child processes where the plugin is. */
const PLUGIN_VARIABLE = 'ADVISOR_BENCH_PLUGIN'

/** The packed plugin's entry, for this process and its children. */
export function pluginPath(): string {
  const path = process.env[PLUGIN_VARIABLE]
  if (path === undefined) throw new Error('the plugin was not unpacked yet')
  return path
}

/** The packed plugin. Its sources cannot be loaded as they are: they import prompt files. */
export async function loadPlugin(): Promise<typeof import('../src/index.ts')> {
  return await import(pathToFileURL(pluginPath()).href)
}

/** The host's own provider route, which the scripted server answers. */
const PROVIDER = 'deepseek-official'

/** Files of the task: eight, of 200 bytes each. */
const NOTES = 8
const NOTE_LINES = 8
const LINE_LENGTH = 24

export function notePath(step: number): string {
  return `notes/f${step % NOTES}.txt`
}

/** One run of a host, with what a probe inside it saw. Times are milliseconds of this process's `performance.now()`. */
export interface ProbedRun {
  readonly result: RunResult
  readonly exitAt: number
  readonly stepEnds: readonly number[]
  readonly userSeconds: number
  readonly peakMiB: number
  /**
   * Bytes of heap after a full collection, at the end of every so many steps as the plan says. Compiled code is left out: it
   * comes and goes by the megabyte.
   */
  readonly heaps: readonly number[]
}

export interface RunPlan {
  readonly task: string
  readonly server: ModelServer
  /** Absent: a host that never had the plugin. */
  readonly presence: Presence
  /** More of the advisor's configuration. */
  readonly config?: object
  /** More rows of the run's patch. */
  readonly rows?: readonly PatchRow[]
  /** Files of the working folder, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Steps from one reading of the heap to the next; without it none is taken. */
  readonly heapEvery?: number
  readonly timeoutMs?: number
}

export class Lab implements AsyncDisposable {
  /** What users install. */
  readonly tarball = packTarball()
  private readonly unpacked: string
  private readonly hosts = new Map<boolean, Promise<Host>>()
  private runs = 0

  constructor() {
    mkdirSync(CACHE, { recursive: true })
    this.unpacked = mkdtempSync(join(CACHE, 'advisor-bench-'))
    execFileSync('tar', ['-xf', this.tarball, '-C', this.unpacked])
    process.env[PLUGIN_VARIABLE] = join(this.unpacked, 'package/lib/index.js')
  }

  async run({ task, server, presence, config, rows = [], files = {}, heapEvery, timeoutMs = 60_000 }: RunPlan): Promise<ProbedRun> {
    const host = await this.host(presence !== 'absent')
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(host.work, name)), { recursive: true })
      writeFileSync(join(host.work, name), content)
    }
    const path = join(host.root, `probe-${this.runs++}.json`)
    const patch = [...patchOf(host, { path, heapEvery }), ...presence === 'absent' ? [] : [advisorRow(presence, config)], ...rows]
    const result = await host.run(task, { server, timeoutMs, patch })
    if (result.code !== 0 && !result.timedOut) {
      throw new Error(`the host exited with ${result.code}\n${result.stdout}${result.stderr}`)
    }
    const seen = result.timedOut ? undefined : JSON.parse(readFileSync(path, 'utf8')) as Probe
    return {
      result, exitAt: result.startedAt + result.exitAt,
      stepEnds: seen?.stepEnds.map(at => at - MACHINE_OFFSET) ?? [],
      userSeconds: seen?.userSeconds ?? NaN, peakMiB: seen?.peakMiB ?? NaN, heaps: seen?.heaps ?? [],
    }
  }

  private host(installed: boolean): Promise<Host> {
    const known = this.hosts.get(installed)
    if (known !== undefined) return known
    const made = createHost(installed ? { tarball: this.tarball } : {}).then(prepare)
    this.hosts.set(installed, made)
    return made
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const host of this.hosts.values()) await (await host).dispose()
    for (const folder of [this.unpacked, dirname(this.tarball)]) rmSync(folder, { recursive: true, force: true })
  }
}

interface Probe { stepEnds: number[], userSeconds: number, peakMiB: number, heaps: number[] }

const PROBE = `
import { writeFileSync } from 'node:fs'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
export const name = 'bench-probe'
export function apply(ctx, { path, heapEvery }) {
  const stepEnds = []
  const heaps = []
  // What belongs to code that was not used for a while would be given back, and count as memory of something else.
  if (heapEvery !== undefined) for (const flag of ['--expose-gc', '--no-flush-bytecode']) setFlagsFromString(flag)
  const collect = heapEvery === undefined ? undefined : runInNewContext('gc')
  ctx.on('session/event', (_session, event) => {
    if (event.type !== 'step/end') return
    stepEnds.push(Number(process.hrtime.bigint()) / 1e6)
    if (heapEvery === undefined || stepEnds.length % heapEvery !== 0) return
    collect()
    heaps.push(getHeapSpaceStatistics().filter(space => !/code|trusted/.test(space.space_name)).reduce((sum, space) => sum + space.space_used_size, 0))
  })
  process.on('exit', () => {
    const userSeconds = process.cpuUsage().user / 1e6
    writeFileSync(path, JSON.stringify({ stepEnds, heaps, userSeconds, peakMiB: process.resourceUsage().maxRSS / 1024 }))
  })
}
`

function prepare(host: Host): Host {
  mkdirSync(join(host.work, 'notes'))
  for (let step = 0; step < NOTES; step += 1) {
    const line = `Note ${step}, one line of many`.padEnd(LINE_LENGTH, '.').slice(0, LINE_LENGTH)
    writeFileSync(join(host.work, notePath(step)), `${line}\n`.repeat(NOTE_LINES))
  }
  mkdirSync(dirname(probeFile(host)), { recursive: true })
  writeFileSync(probeFile(host), PROBE)
  return host
}

/** The host resolves modules by path only below its own profile. */
function probeFile(host: Host): string {
  return join(host.home, 'profiles', host.profile, 'bench-probe.mjs')
}

function patchOf(host: Host, probe: { path: string, heapEvery: number | undefined }): PatchRow[] {
  return [
    { id: 'session-title-llm', disabled: true },
    { insert: [{ id: 'bench-probe', name: probeFile(host), config: probe }] },
  ]
}

function advisorRow(presence: Presence, config: object = {}): PatchRow {
  return { id: 'advisor', config: { enabled: presence === 'on', provider: PROVIDER, model: REVIEWER_MODEL, ...config } }
}
