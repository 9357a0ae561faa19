// What a headless run costs as a process: start-up time and memory with the advisor absent, off and on, in alternation, so
// that what else the machine does falls on all three alike.

import { empty, startModelServer, text, toolCalls } from '../tests/support/model-server.ts'
import type { BudgetRow } from './budget.ts'
import type { Presence } from './inside.ts'
import { notePath, type Lab } from './lab.ts'
import { median } from './measure.ts'
import { number, printNote, printTable } from './table.ts'

const ROUNDS = 7
const STEPS = 3
const PRESENCES: readonly Presence[] = ['absent', 'off', 'on']

interface Sample {
  /** Start of the process to the first request of the agent. */
  readonly startSeconds: number
  /** Start to exit. */
  readonly wholeSeconds: number
  readonly userSeconds: number
  readonly peakMiB: number
}

type Pick = (sample: Sample) => number

const ROWS: readonly (readonly [what: string, pick: Pick, decimals: number])[] = [
  ['start → first request, s', sample => sample.startSeconds, 2],
  ['start → exit, s', sample => sample.wholeSeconds, 2],
  ['user CPU, s', sample => sample.userSeconds, 2],
  ['peak memory, MiB', sample => sample.peakMiB, 1],
]

export async function processCost(lab: Lab): Promise<readonly BudgetRow[]> {
  const samples = Object.fromEntries(PRESENCES.map(presence => [presence, [] as Sample[]])) as Record<Presence, Sample[]>
  // The first run of each host fills the disk's cache.
  for (const presence of PRESENCES) await sample(lab, presence)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const presence of rotated(round)) samples[presence].push(await sample(lab, presence))
  }
  const at = (presence: Presence, pick: Pick) => median(samples[presence].map(pick))
  printTable(`a headless run of ${STEPS} steps, medians of ${ROUNDS} rounds in alternation (least – most)`,
    ['', ...PRESENCES, 'off − absent', 'on − absent'],
    ROWS.map(([what, pick, decimals]) => [
      what, ...PRESENCES.map(presence => spreadOf(samples[presence].map(pick), decimals)),
      ...(['off', 'on'] as const).map(presence => number(at(presence, pick) - at('absent', pick), decimals)),
    ]))
  printNote('the exit of a run with the advisor on holds its last review; what that costs alone is in `exit`')
  return []
}

/** Each goes first as often as the others. */
function rotated(round: number): readonly Presence[] {
  const from = round % PRESENCES.length
  return [...PRESENCES.slice(from), ...PRESENCES.slice(0, from)]
}

async function sample(lab: Lab, presence: Presence): Promise<Sample> {
  await using server = await startModelServer({
    primary: (_, index) => index < STEPS ? toolCalls([{ name: 'read', arguments: { file_path: notePath(index) } }]) : text('FINAL-ANSWER'),
    reviewer: () => empty(),
  })
  const run = await lab.run({ task: 'Read every note.', server, presence })
  const first = server.of('primary')[0]?.arrivedAt ?? NaN
  return {
    startSeconds: (first - run.result.startedAt) / 1000, wholeSeconds: run.result.exitAt / 1000,
    userSeconds: run.userSeconds, peakMiB: run.peakMiB,
  }
}

function spreadOf(values: readonly number[], decimals: number): string {
  return `${number(median(values), decimals)} (${number(Math.min(...values), decimals)} – ${number(Math.max(...values), decimals)})`
}
