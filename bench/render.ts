// Rendering an update after a short and after a long history: folding and rendering alone, and the whole way from
// `step/end` to the reviewer's request in a real session.

import type { SessionEvent } from '@deepseek-ai/dsh-session'
import { renderDelta } from '../src/observe/delta.ts'
import { Fold } from '../src/observe/fold.ts'
import type { BudgetRow } from './budget.ts'
import { appendStep, createInside, openTurn } from './inside.ts'
import { collectGarbage, median, percentile } from './measure.ts'
import { number, printTable, ratio } from './table.ts'

const HISTORIES = [1_000, 100_000] as const
/** A step with these chunks is 25 events, as a short reply of a real model is. */
const CHUNKS = 20
const EVENTS_A_STEP = CHUNKS + 5
const SAMPLES = 200
const ROUNDS = 5
const LIMITS = { maxDeltaMessages: 60, maxDeltaChars: 48_000 }

/** Microseconds, one figure for each history. */
type Pair = readonly [number, number]

export async function render(): Promise<readonly BudgetRow[]> {
  const alone = await renderAlone()
  const [short, long] = await wholeWay()
  const rows: [string, Pair][] = [
    ['fold and render, best of the medians', alone],
    ['step/end → request, median', [median(short), median(long)]],
    ['step/end → request, p90', [percentile(short, 90), percentile(long, 90)]],
  ]
  printTable('one update, µs', ['', ...HISTORIES.map(events => `${number(events)} events before`), 'ratio'],
    rows.map(([what, [before, after]]) => [what, number(before, 1), number(after, 1), ratio(after, before)]))
  const [before, after] = alone
  return [{
    what: 'rendering the Nth update', bound: 'ratio under 1.5', met: after / before < 1.5,
    measured:
      `${ratio(after, before)} (${number(before, 1)} → ${number(after, 1)} µs), to the request ${ratio(median(long), median(short))}`,
  }]
}

/** The observer alone. Its sources load as they are; only prompt files keep the others from it. */
async function renderAlone(): Promise<Pair> {
  const steps = Math.max(...HISTORIES) / EVENTS_A_STEP + SAMPLES
  await using inside = await createInside({ presence: 'absent' })
  const { session } = await inside.agent()
  openTurn(session)
  for (let step = 1; step <= steps; step += 1) appendStep(session, step, CHUNKS)
  const { events } = session
  const best = HISTORIES.map(() => Infinity)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, history] of HISTORIES.entries()) {
      best[index] = Math.min(best[index]!, median(renderAfter(events, history)))
    }
  }
  return [best[0]!, best[1]!]
}

/** Microseconds of each update that follows a history. */
function renderAfter(events: readonly SessionEvent[], history: number): number[] {
  const fold = new Fold()
  for (const event of events.slice(0, history)) fold.push(event)
  collectGarbage()
  const samples: number[] = []
  let start = performance.now()
  for (const event of events.slice(history, history + SAMPLES * EVENTS_A_STEP)) {
    const observed = fold.push(event)
    if (observed?.kind !== 'update') continue
    renderDelta([observed.update], LIMITS, { cwd: '/work', includeReasoning: false })
    const now = performance.now()
    samples.push((now - start) * 1000)
    start = now
  }
  return samples
}

/** Microseconds from `step/end` to the reviewer's request, by turns in two sessions whose histories were reviewed. */
async function wholeWay(): Promise<[number[], number[]]> {
  await using short = await reviewedSession(HISTORIES[0])
  await using long = await reviewedSession(HISTORIES[1])
  const samples: [number[], number[]] = [[], []]
  collectGarbage()
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    samples[0].push(await short.next())
    samples[1].push(await long.next())
  }
  return samples
}

/** A session with a history of so many events; `next` adds one step and says how long its review took to go out. */
async function reviewedSession(history: number): Promise<AsyncDisposable & { next(): Promise<number> }> {
  let asked = 0
  let askedAt = 0
  const inside = await createInside({
    presence: 'on',
    reviewer: () => {
      asked += 1
      askedAt = performance.now()
      return { kind: 'nothing' }
    },
  })
  const { loop } = inside
  const { session } = await inside.agent()
  openTurn(session)
  let step = 0
  async function review(chunks: number): Promise<number> {
    const start = appendStep(session, ++step, chunks)
    await loop.until(() => asked >= step, 'a review')
    // The reply is read before the next update comes.
    await loop.settle()
    return (askedAt - start) * 1000
  }
  while (step < history / EVENTS_A_STEP) await review(CHUNKS)
  return { next: () => review(0), [Symbol.asyncDispose]: () => loop.dispose() }
}
