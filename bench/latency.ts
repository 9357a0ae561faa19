// How fast a note is in the inbox after the reviewer's reply, and what the advisor adds to a step of the primary.

import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import type { BudgetRow } from './budget.ts'
import type { Say, Speaker } from './fast-adapter.ts'
import { createInside, type Presence } from './inside.ts'
import { collectGarbage, median, percentile } from './measure.ts'
import { number, printNote, printTable } from './table.ts'

const NOTES = 300
const TURNS = 10
const STEPS = 100
const ROUNDS = 4

export async function latency(): Promise<readonly BudgetRow[]> {
  const { samples, landed } = await replyToInbox()
  printTable('the reviewer\'s reply → its note in the host\'s inbox, ms',
    ['notes', 'median', 'p90', 'p99', 'in the very next request'],
    [[NOTES, ...[50, 90, 99].map(part => number(percentile(samples, part), 2)), `${landed} of ${NOTES}`]])
  const steps = await stepTimes()
  // The best round: what other programs do only ever adds.
  const at = (presence: Presence, part: number, pick: Pick) =>
    Math.min(...steps[presence].map(round => percentile(pick(round), part)))
  const row = (presence: Presence, what: string, pick: Pick) =>
    [what, presence, number(at(presence, 50, pick), 3), number(at(presence, 90, pick), 3), number(at(presence, 99, pick), 3)]
  const all: Presence[] = ['absent', 'off', 'on']
  const title = `the primary's step, a reviewer silent at once, ms, best of ${ROUNDS} rounds of ${number(TURNS * STEPS)} steps`
  printTable(title, ['', 'advisor', 'median', 'p90', 'p99'], [
    ...all.map(presence => row(presence, 'agent/pre-step, all listeners', times => times.preStep)),
    ...all.map(presence => row(presence, 'step/end → next request', times => times.gap)),
  ])
  const clock = at('on', 99, times => times.gap) - at('off', 99, times => times.gap)
  const own = addedAt(steps)
  const [p50, p99] = [number(median(own), 2), number(percentile(own, 99), 2)]
  printNote(`added to a step, the median of its ${TURNS * ROUNDS} runs each time: median ${p50}, p99 ${p99} ms`)
  return [
    {
      what: 'added to the primary\'s step', bound: 'under 1 ms at p99',
      measured: `p99 of ${STEPS} steps ${p99} ms, median ${p50}; p99 by the clock ${number(clock, 2)}`,
      met: percentile(own, 99) < 1,
    },
    {
      what: 'reply\'s end to note in the inbox', bound: 'under 5 ms, in the next step',
      measured:
        `median ${number(median(samples), 2)} ms, p99 ${number(percentile(samples, 99), 2)}; ${landed} of ${NOTES} in the next step`,
      met: median(samples) < 5 && landed === NOTES,
    },
  ]
}

/** A concern about each step, given while the primary still streams the next one. */
async function replyToInbox(): Promise<{ samples: number[], landed: number }> {
  const [primary, reviewer] = [new Held(), new Held()]
  await using inside = await createInside({
    presence: 'on', primary: primary.speaker, reviewer: reviewer.speaker, config: { immuneTurns: 0 },
  })
  const agent = await inside.agent()
  let splicedAt = NaN
  inside.loop.ctx.on('session/event', (_session, event) => {
    if (event.type === 'agent/inbox/spliced') splicedAt = performance.now()
  })
  const samples: number[] = []
  let landed = 0
  const turn = inside.loop.prompt(agent, 'Read every note.')
  let request = await primary.next()
  for (let step = 1; step <= NOTES; step += 1) {
    request.answer(read(step))
    const review = await reviewer.next()
    request = await primary.next()
    splicedAt = NaN
    const note = differentNote(step)
    const start = performance.now()
    review.answer({ kind: 'call', name: 'advise', args: { note, severity: 'concern' } })
    await inside.loop.until(() => splicedAt > 0, 'the note in the inbox')
    samples.push(splicedAt - start)
    request.answer(read(step))
    const silent = await reviewer.next()
    silent.answer({ kind: 'nothing' })
    request = await primary.next()
    if (JSON.stringify(request.options.messages.slice(-2)).includes(note)) landed += 1
  }
  request.answer({ kind: 'text', text: 'Done.' })
  const last = await reviewer.next()
  last.answer({ kind: 'nothing' })
  await turn
  return { samples, landed }
}

/** Milliseconds of each step. */
interface StepTimes { readonly gap: number[], readonly preStep: number[] }

type Pick = (times: StepTimes) => readonly number[]

async function stepTimes(): Promise<Record<Presence, StepTimes[]>> {
  const rounds: Record<Presence, StepTimes[]> = { absent: [], off: [], on: [] }
  await turnsOf('on')
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const presence of ['absent', 'off', 'on'] as const) rounds[presence].push(await turnsOf(presence))
  }
  return rounds
}

/**
 * What the advisor adds to each step of a turn, in milliseconds. The median of all runs of that step stands for it: on a
 * shared machine a percentile over single steps says how busy the machine was.
 */
function addedAt(steps: Record<Presence, readonly StepTimes[]>): number[] {
  const gaps = STEPS - 1
  const typical = (presence: Presence, step: number) =>
    median(steps[presence].flatMap(round => round.gap.filter((_, index) => index % gaps === step)))
  return Array.from({ length: gaps }, (_, step) => typical('on', step) - typical('off', step))
}

async function turnsOf(presence: Presence): Promise<StepTimes> {
  const times: StepTimes = { gap: [], preStep: [] }
  let step = 0
  let endedAt = NaN
  const primary: Speaker = () => {
    if (step > 0) times.gap.push(performance.now() - endedAt)
    step = (step + 1) % STEPS
    return step === 0 ? { kind: 'text', text: 'Done.' } : read(step)
  }
  await using inside = await createInside({ presence, primary })
  const { ctx } = inside.loop
  ctx.on('session/event', (_session, event) => {
    if (event.type === 'step/end') endedAt = performance.now()
  })
  // Registered last and in front, so it stands around all others.
  ctx.on('agent/pre-step', async (_step, next) => {
    const start = performance.now()
    const decision = await next()
    times.preStep.push(performance.now() - start)
    return decision
  }, { prepend: true })
  collectGarbage()
  for (let turn = 0; turn < TURNS; turn += 1) await inside.loop.prompt(await inside.agent(), 'Read every note.')
  return times
}

function read(step: number): Say {
  return { kind: 'call', name: 'read', args: { file_path: `notes/f${step}.txt` } }
}

/** Notes that share no word, so that none counts as a repeat. */
function differentNote(step: number): string {
  const word = String(step).replace(/\d/g, digit => 'klmnopqrst'[Number(digit)]!)
  return [`q${word}x`, `w${word}y`, `z${word}v`].join(' ')
}

/** A model whose replies wait for the benchmark. */
class Held {
  private readonly waiting: HeldRequest[] = []
  private wanted: ((request: HeldRequest) => void) | undefined

  readonly speaker: Speaker = (options) => {
    const { promise, resolve } = Promise.withResolvers<Say>()
    const request: HeldRequest = { options, answer: resolve }
    const { wanted } = this
    this.wanted = undefined
    if (wanted === undefined) this.waiting.push(request)
    else wanted(request)
    return promise
  }

  /** The next request of this model, in order. */
  async next(): Promise<HeldRequest> {
    return this.waiting.shift() ?? new Promise((resolve) => { this.wanted = resolve })
  }
}

interface HeldRequest {
  readonly options: GenerateOptions
  answer(say: Say): void
}
