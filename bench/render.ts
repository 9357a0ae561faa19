// Rendering an update after a short and after a long history: folding and rendering alone, and the whole way from
// `step/end` to the reviewer's request in a real session.

import type { Agent } from '@deepseek-ai/dsh-agent'
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import { renderDelta } from '../src/observe/delta.ts'
import { Fold } from '../src/observe/fold.ts'
import type { BudgetRow } from './budget.ts'
import { appendStep, createInside, openTurn, type Inside } from './inside.ts'
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
  const [short, long] = [await wholeWay(HISTORIES[0]), await wholeWay(HISTORIES[1])]
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
    measured: `${ratio(after, before)} (${number(before, 1)} → ${number(after, 1)} µs), to the request ${ratio(median(long), median(short))}`,
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
    for (const [index, history] of HISTORIES.entries()) best[index] = Math.min(best[index]!, median(renderAfter(events, history)))
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

/** Microseconds from `step/end` to the reviewer's request, with the history reviewed as it came. */
async function wholeWay(history: number): Promise<number[]> {
  let asked = 0
  let askedAt = 0
  await using inside = await createInside({
    presence: 'on',
    reviewer: () => {
      asked += 1
      askedAt = performance.now()
      return { kind: 'nothing' }
    },
  })
  const agent = await inside.agent()
  openTurn(agent.session)
  const before = history / EVENTS_A_STEP
  for (let step = 1; step <= before; step += 1) {
    appendStep(agent.session, step, CHUNKS)
    await reviewed(inside, agent, () => asked >= step)
  }
  collectGarbage()
  const samples: number[] = []
  for (let step = before + 1; step <= before + SAMPLES; step += 1) {
    const start = appendStep(agent.session, step, 0)
    await reviewed(inside, agent, () => asked >= step)
    samples.push((askedAt - start) * 1000)
  }
  return samples
}

async function reviewed({ loop }: Inside, agent: Agent, isAsked: () => boolean): Promise<void> {
  await loop.until(isAsked, `a review of ${agent.id}`)
  // The reply is read before the next update comes.
  await loop.settle()
}
