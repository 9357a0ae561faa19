// One performance: pack, install, one real headless task, and everything that can be observed of it from outside.

import { rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname } from 'node:path'
import { createHost, packTarball, type RunResult } from '../tests/support/host.ts'
import { REVIEWER_MODEL, startModelServer, type Script } from '../tests/support/model-server.ts'
import { agent, reviewer } from './models.ts'
import { startRecorder, type Exchange } from './recorder.ts'
import { inspectSample, TASK, writeSample, type Outcome, type SampleFiles } from './sample.ts'

/** What the user would write under `advisor:` in settings.yaml. */
export const ADVISOR = {
  enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL,
  // The next step waits until the one before it has been reviewed, so the note is in it and not one later.
  syncBacklog: 1,
} as const

/** A real provider instead of the scripted models. */
export interface LiveProvider { key: string; baseURL: string }

export interface PlayOptions {
  live?: LiveProvider
  /** Replaces {@link ADVISOR}. */
  advisor?: object
  /** Replaces one of the scripted models. */
  models?: { primary?: Script; reviewer?: Script }
  /** Other texts for some files of the project. */
  files?: SampleFiles
  /** Told what is being done, before it is done. */
  onStage?: (text: string) => void
  /** Ends the performance early; what it made is removed all the same. */
  signal?: AbortSignal
}

export interface Play {
  live: boolean
  run: RunResult
  exchanges: Exchange[]
  outcome: Outcome
}

const SCRIPTED_LIMIT_MS = 60_000
const LIVE_LIMIT_MS = 10 * 60_000

/**
 * Plays the demo once in throwaway folders, and removes them.
 * @throws Error with the tool's own output when packing or installing fails.
 */
export async function play({ live, advisor = ADVISOR, models, files, onStage = () => {}, signal }: PlayOptions = {}): Promise<Play> {
  onStage('packing the plugin')
  const tarball = packTarball()
  try {
    onStage(`installing ${basename(tarball)} (${kilobytes(tarball)}) into a new profile of dsh ${hostVersion()}`)
    await using host = await createHost({ tarball })
    await using scripted = live ? undefined : await startModelServer({ primary: agent, reviewer, ...models })
    await using recorder = await startRecorder(live?.baseURL ?? scripted!.baseURL, REVIEWER_MODEL)
    writeSample(host.work, files)
    host.settings({ advisor })
    onStage(`switching it on in settings.yaml:\n    advisor: ${inFlow(advisor)}`)
    onStage(`running one task: "${TASK}"`)
    const run = await host.run(TASK, {
      server: recorder, timeoutMs: live ? LIVE_LIMIT_MS : SCRIPTED_LIMIT_MS,
      ...live ? { env: { DEEPSEEK_API_KEY: live.key } } : {}, ...signal ? { signal } : {},
    })
    return { live: live !== undefined, run, exchanges: recorder.exchanges, outcome: inspectSample(host.work) }
  } finally {
    rmSync(dirname(tarball), { recursive: true, force: true })
  }
}

/** As YAML in one line. */
function inFlow(value: object): string {
  return `{ ${Object.entries(value).map(([key, entry]) => `${key}: ${entry}`).join(', ')} }`
}

function kilobytes(path: string): string {
  return `${(statSync(path).size / 1000).toFixed(0)} kB`
}

function hostVersion(): string {
  return createRequire(import.meta.url)('@deepseek-ai/dsh/package.json').version
}
