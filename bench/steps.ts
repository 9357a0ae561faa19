// The rival's two scripted runs on the real host: a primary that reads 20 or 100 notes, 300 ms a reply, and a reviewer that
// takes 200 ms and is silent, or gives three notes.

import { advise, empty, messageText, startModelServer, text, toolCalls, type ModelRequest } from '../tests/support/model-server.ts'
import { printBreakdown } from './breakdown.ts'
import type { BudgetRow } from './budget.ts'
import { costOf, type Cost } from './cost.ts'
import type { Presence } from './inside.ts'
import { notePath, type Lab, type ProbedRun } from './lab.ts'
import { median, percentile } from './measure.ts'
import { OMP, OMP_LANDING, type RivalControl, type RivalRun } from './omp.ts'
import { number, percent, printTable, ratio, spread, type Cell } from './table.ts'

const TASK = 'Read every note in order and then report.'
const PRIMARY_MS = 300
const REVIEWER_MS = 200

interface Advice { readonly review: number, readonly severity: string, readonly note: string }

/** By the number of steps: at which review each note is given. */
const ADVICE: Record<number, readonly Advice[]> = {
  20: notesAt(4, 8, 12),
  100: notesAt(20, 40, 60),
}

function notesAt(nit: number, concern: number, blocker: number): Advice[] {
  return [
    { review: nit, severity: 'nit', note: 'The title of the first note could be quoted in the report.' },
    { review: concern, severity: 'concern', note: 'The third file was skipped although the user asked for every one.' },
    { review: blocker, severity: 'blocker', note: 'These notes are being read in a loop; the report is never begun.' },
  ]
}

type Triple = readonly [number, number, number]

/** One run in figures; milliseconds unless named otherwise. */
interface Figures extends Cost {
  readonly primary: readonly ModelRequest[]
  readonly reviewer: readonly ModelRequest[]
  readonly stepEnds: readonly number[]
  readonly loopSeconds: number
  readonly gapMs: number
  readonly exitSeconds: number
  readonly userSeconds: number
  readonly peakMiB: number
  /** Reply's end, and step's end, to the review's request: median, p90, p99. */
  readonly replyToReview: Triple
  readonly stepToReview: Triple
  readonly primaryRequests: number
  /** Of the primary's own tokens. */
  readonly tokenShare: number
  readonly equivalentShare: number
}

/** Run one length with the advisor off, silent and advising, and print it beside the rival. */
export async function steps(lab: Lab, count: 20 | 100): Promise<readonly BudgetRow[]> {
  const off = await measure(lab, count, 'absent', [])
  const silent = await measure(lab, count, 'on', [])
  const advising = await measure(lab, count, 'on', ADVICE[count]!)
  const rival = OMP[count]!
  printCosts(count, silent, advising)
  printTimes(count, off, silent, advising)
  printTable(`${count} steps: where a note about step k lands`, ['severity', 'given at review', 'in the request for', 'OMP'],
    ADVICE[count]!.map(advice => [advice.severity, advice.review, landing(advising, advice), OMP_LANDING[advice.severity]]))
  const breakdown = printBreakdown(silent.reviewer.at(-1)!, count)
  return [
    atMost(`reviewer tokens, ${count} steps`, silent.tokens, rival.silent.tokens, 0.5),
    atMost(`reviewer tokens, ${count} steps, cached at 0.1`, silent.equivalent, rival.silent.equivalent, 0.6),
    ...count < 100 ? [] : [
      {
        what: 'input that repeats the previous prefix', bound: '98 % or more',
        measured: percent(silent.shareTotal), met: silent.shareTotal >= 0.98,
      },
      { what: 'system text and tools', bound: 'under 6,000 bytes', measured: number(breakdown.fixed), met: breakdown.fixed < 6_000 },
      {
        what: 'framing of a step', bound: 'under 60 bytes',
        measured: `${number(breakdown.framing, 1)}, ${number(breakdown.framingWithoutCall, 1)} without the call line`,
        met: breakdown.framing < 60,
      },
      {
        what: 'step\'s end to the review\'s request', bound: 'under 5 ms',
        measured: `median ${number(silent.stepToReview[0], 1)} ms, p99 ${number(silent.stepToReview[2], 1)} ms`,
        met: silent.stepToReview[0] < 5,
      },
    ],
  ]
}

function atMost(what: string, ours: number, theirs: number, share: number): BudgetRow {
  const bound = theirs * share
  return { what, bound: `at most ${number(bound)}`, measured: `${number(ours)} (${ratio(ours, theirs)} OMP)`, met: ours <= bound }
}

async function measure(lab: Lab, count: number, presence: Presence, advice: readonly Advice[]): Promise<Figures> {
  await using server = await startModelServer({
    primary: (_, index) => index < count
      ? toolCalls([{ name: 'read', arguments: { file_path: notePath(index) } }], { delayMs: PRIMARY_MS })
      : text(`FINAL-ANSWER-${index - count + 1}`, { delayMs: PRIMARY_MS }),
    reviewer: (_, index) => {
      const due = advice.find(({ review }) => review === index + 1)
      return due === undefined ? empty({ delayMs: REVIEWER_MS }) : advise(due.note, due.severity, { delayMs: REVIEWER_MS })
    },
  })
  const run = await lab.run({ task: TASK, server, presence })
  return figuresOf(run, server.of('primary'), server.of('reviewer'))
}

function figuresOf(run: ProbedRun, primary: readonly ModelRequest[], reviewer: readonly ModelRequest[]): Figures {
  const ends = primary.map(request => request.endedAt ?? NaN)
  const arrivals = reviewer.map(request => request.arrivedAt)
  const last = ends.at(-1) ?? NaN
  const [cost, own] = [costOf(reviewer), costOf(primary)]
  return {
    ...cost, primary, reviewer, stepEnds: run.stepEnds, userSeconds: run.userSeconds, peakMiB: run.peakMiB,
    loopSeconds: (last - primary[0]!.arrivedAt) / 1000,
    gapMs: median(primary.slice(1).map((request, index) => request.arrivedAt - ends[index]!)),
    exitSeconds: (run.exitAt - last) / 1000,
    replyToReview: percentiles(delays(ends, arrivals)),
    stepToReview: percentiles(delays(run.stepEnds, arrivals)),
    primaryRequests: primary.length,
    tokenShare: cost.tokens / own.tokens, equivalentShare: cost.equivalent / own.equivalent,
  }
}

/** From each moment to the first arrival after it, as long as the next moment has not come. */
function delays(moments: readonly number[], arrivals: readonly number[]): number[] {
  return moments.flatMap((moment, index) => {
    const arrival = arrivals.find(at => at >= moment)
    return arrival === undefined || arrival >= (moments[index + 1] ?? Infinity) ? [] : [arrival - moment]
  })
}

function percentiles(samples: readonly number[]): Triple {
  return [median(samples), percentile(samples, 90), percentile(samples, 99)]
}

/** The first request of the primary that carries the note, relative to the newest step its review had seen. */
function landing({ primary, reviewer, stepEnds }: Figures, { review, note }: Advice): string {
  const asked = reviewer[review - 1]?.arrivedAt ?? NaN
  const seen = stepEnds.filter(at => at <= asked).length
  const index = primary.findIndex(({ body }) => body.messages.some(message => messageText(message).includes(note)))
  return index < 0 ? `none (k = ${seen})` : `step ${index + 1} = k + ${index + 1 - seen}`
}

function printCosts(count: number, silent: Figures, advising: Figures): void {
  const rows: [string, (figures: Figures | RivalRun) => number, (value: number) => string][] = [
    ['reviewer requests', run => run.requests, value => number(value)],
    ['first request, bytes', run => run.firstBytes, value => number(value)],
    ['last request, bytes', run => run.lastBytes, value => number(value)],
    ['growth a step, bytes', run => run.growth, value => number(value)],
    ['input in all, bytes', run => run.totalBytes, value => number(value)],
    ['input in all, tokens', run => run.tokens, value => number(value)],
    ['prefix share, median', run => run.shareMedian, value => percent(value)],
    ['prefix share, min', run => run.shareMin, value => percent(value)],
    ['prefix share of all input', run => run.shareTotal, value => percent(value)],
    ['fresh tokens', run => run.fresh, value => number(value)],
    ['equivalent tokens', run => run.equivalent, value => number(value)],
    ['primary requests', run => run.primaryRequests, value => number(value)],
    ['reviewer / primary, tokens', run => run.tokenShare, value => percent(value, 0)],
    ['reviewer / primary, equivalent', run => run.equivalentShare, value => percent(value, 0)],
  ]
  const rival = OMP[count]!
  const header = ['', 'silent', 'advising', 'OMP silent', 'OMP advising', 'ratio silent', 'ratio advising']
  printTable(`${count} steps: what the reviewer reads`, header, rows.map(([what, pick, show]) => [
    what, ...[silent, advising, rival.silent, rival.advising].map(run => show(pick(run))),
    ratio(pick(silent), pick(rival.silent)), ratio(pick(advising), pick(rival.advising)),
  ]))
}

function printTimes(count: number, off: Figures, silent: Figures, advising: Figures): void {
  const rival = OMP[count]!
  const row = (what: string, pick: (figures: Figures | RivalRun | RivalControl) => number, decimals: number): Cell[] => [
    what, ...[off, silent, advising].map(figures => number(pick(figures), decimals)),
    ...[rival.off, rival.silent, rival.advising].map(figures => number(pick(figures), decimals)),
  ]
  printTable(`${count} steps: time and machine`, ['', 'off', 'silent', 'advising', 'OMP off', 'OMP silent', 'OMP advising'], [
    row('first request → final reply, s', figures => figures.loopSeconds, 2),
    row('reply\'s end → primary\'s next request, median ms', figures => figures.gapMs, 1),
    row('final reply → exit, s', figures => figures.exitSeconds, 2),
    row('user CPU, s', figures => figures.userSeconds, 2),
    row('peak memory, MiB', figures => figures.peakMiB, 0),
    ['reply\'s end → review, ms: median / p90 / p99', undefined, spread(silent.replyToReview), spread(advising.replyToReview),
      undefined, ...[rival.silent, rival.advising].map(run => run.reviewStartMs && spread(run.reviewStartMs, 0))],
    ['step\'s end → review, ms: median / p90 / p99', undefined, spread(silent.stepToReview), spread(advising.stepToReview),
      undefined, undefined, undefined],
  ])
}
