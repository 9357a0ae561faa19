// How long the process of a headless run stays after its answer: without the plugin, and with a reviewer that is silent,
// fails with status 500, or never answers.

import { empty, httpError, stall, startModelServer, text, toolCalls, type Script } from '../tests/support/model-server.ts'
import type { BudgetRow } from './budget.ts'
import { notePath, type Lab } from './lab.ts'
import { median } from './measure.ts'
import { OMP_EXIT } from './omp.ts'
import { number, printTable } from './table.ts'

const REPEATS = 3
const STEPS = 8
const PRIMARY_MS = 100
/** A hanging reviewer may be waited for as long as its calls may take. */
const TIMEOUT_MS = 150_000

const HANGING = 'hanging'

/** Absent: the control, a host without the plugin. */
const REVIEWERS: Record<string, Script | undefined> = {
  'without the plugin': undefined,
  'silent': () => empty({ delayMs: 50 }),
  'failing': () => httpError(500, { message: 'scripted' }),
  [HANGING]: () => stall(),
}

interface Sample {
  readonly exitSeconds: number
  readonly bootSeconds: number
  readonly calls: number
  readonly said: string
}

export async function exit(lab: Lab): Promise<readonly BudgetRow[]> {
  const samples = new Map<string, Sample[]>()
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const [name, reviewer] of Object.entries(REVIEWERS)) {
      if (name !== HANGING) samples.set(name, [...samples.get(name) ?? [], await sample(lab, reviewer)])
    }
  }
  // Side by side: they do nothing but wait.
  samples.set(HANGING, await Promise.all(Array.from({ length: REPEATS }, () => sample(lab, REVIEWERS[HANGING]))))
  const of = (name: string, pick: (sample: Sample) => number) => median((samples.get(name) ?? []).map(pick))
  const base = of('without the plugin', run => run.exitSeconds)
  const more = (name: string) => of(name, run => run.exitSeconds) - base
  printTable(`a headless run of ${STEPS} steps, medians of ${REPEATS}`,
    ['reviewer', 'answer → exit, s', 'more than without, s', 'OMP, s', 'start → request, s', 'reviewer calls', 'stderr'],
    Object.keys(REVIEWERS).map(name => [
      name, number(of(name, run => run.exitSeconds), 2), number(more(name), 2), omp(name),
      number(of(name, run => run.bootSeconds), 2), of(name, run => run.calls), firstLine(samples.get(name)?.[0]?.said ?? ''),
    ]))
  return [
    {
      what: 'exit after the answer, reviewer silent', bound: 'under 0.3 s more',
      measured: `${number(more('silent'), 2)} s more`, met: more('silent') < 0.3,
    },
    {
      what: 'exit after the answer, reviewer failing', bound: 'under 1 s',
      measured: `${number(of('failing', run => run.exitSeconds), 2)} s`, met: of('failing', run => run.exitSeconds) < 1,
    },
  ]
}

async function sample(lab: Lab, reviewer: Script | undefined): Promise<Sample> {
  await using server = await startModelServer({
    primary: (_, index) => index < STEPS
      ? toolCalls([{ name: 'read', arguments: { file_path: notePath(index) } }], { delayMs: PRIMARY_MS })
      : text('FINAL-ANSWER', { delayMs: PRIMARY_MS }),
    ...reviewer === undefined ? {} : { reviewer },
  })
  const run = await lab.run({ task: 'Read every note.', server, presence: reviewer === undefined ? 'absent' : 'on', timeoutMs: TIMEOUT_MS })
  const primary = server.of('primary')
  return {
    exitSeconds: (run.exitAt - (primary.at(-1)?.endedAt ?? NaN)) / 1000,
    bootSeconds: ((primary[0]?.arrivedAt ?? NaN) - run.result.startedAt) / 1000,
    calls: server.of('reviewer').length,
    said: run.result.stderr,
  }
}

function omp(name: string): string | undefined {
  const seconds = (OMP_EXIT as Record<string, number>)[name]
  return seconds === undefined ? undefined : number(seconds, 1)
}

function firstLine(text: string): string {
  const line = text.split('\n')[0] ?? ''
  return line.length > 90 ? `${line.slice(0, 89)}…` : line
}
