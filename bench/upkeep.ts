// A long session whose reviewer has a small window: 300 steps that each read something new, a look-up every few reviews, a
// note now and then. What it costs at the end beside what it cost at the start, what upkeep did, and what got lost.

import {
  advise, httpError, messageText, PRIMARY_MODEL, REVIEWER_MODEL, startModelServer, text, toolCalls,
  type ChatMessage, type ModelRequest, type Reply, type Script,
} from '../tests/support/model-server.ts'
import type { BudgetRow } from './budget.ts'
import { costOf } from './cost.ts'
import type { Presence } from './inside.ts'
import type { Lab, ProbedRun } from './lab.ts'
import { bytesOf, mean, slope, sum } from './measure.ts'
import { number, percent, printTable, ratio } from './table.ts'

const STEPS = 300
const WINDOW = 32_000
/** Characters of what a step reads. */
const RESULT = 2_000
const [LOOK_EVERY, NOTE_EVERY] = [5, 25]
const HEAP_EVERY = 10
/** One step may be one with a look-up, so the steps around it count with it. */
const [EARLY, LATE] = [[16, 25], [251, 300]] as const
/** Steps from which on memory has to be flat. */
const WARM = 100
const BYTES_PER_TOKEN = 4
const TIMEOUT_MS = 600_000
/** Bytes a step. One that was held would take 2,000 and more; the conversation alone goes up and down by 70,000. */
const FLAT = 1_000

const SUMMARY_ASKED = 'Your conversation has grown long'
const SUMMARY_SHOWN = 'Your own summary of the review so far:'
const RESULT_DROPPED = '[dropped to save room'
const MARKS = /\b(?:first|last) line of unit (\d+)\b/g

export async function upkeep(lab: Lab): Promise<readonly BudgetRow[]> {
  const bare = await session(lab, 'absent')
  const { run, requests, refused } = await session(lab, 'on')
  const perStep = tokensOfSteps(requests, run.stepEnds)
  const [early, late] = [meanOf(perStep, EARLY), meanOf(perStep, LATE)]
  const largest = requests.reduce((most, request) => weight(request) > weight(most) ? request : most)
  const cost = costOf(requests)
  printTable(`${STEPS} steps of ${number(RESULT)} characters, a window of ${number(WINDOW)} tokens`, ['', 'figure'], [
    ['reviewer requests', requests.length],
    ['of them with look-ups answered', requests.filter(request => request.body.messages.at(-1)?.role === 'tool').length],
    ['tokens of step 20 alone', perStep[19]],
    [`tokens a step, steps ${EARLY.join(' to ')}`, early],
    [`tokens a step, steps ${LATE.join(' to ')}`, late],
    ['the end over step 20', ratio(late, early)],
    ['tokens in all', cost.tokens],
    ['input that repeats the previous prefix', percent(cost.shareTotal)],
    ['largest request, tokens', tokensOf(largest)],
    ['with the reply it asks for', `${number(weight(largest))} of ${number(WINDOW)}`],
    ['requests refused as too long', refused],
  ])
  const made = upkeepsIn(requests)
  printTable('upkeep, as seen on the wire', ['kind', 'times'], [
    ['results dropped', `${made.drops}, ${made.dropped} results`],
    ['summary asked for', made.asked],
    ['older reviews replaced by the summary', made.summarised],
    ['cleared, the present shown again', made.cleared],
  ])
  const shown = unitsIn(requests)
  const held = run.heaps.map((bytes, index) => bytes - bare.run.heaps[index]!)
  const growth = (heaps: readonly number[]) => slope(heaps.map((bytes, index) => [(index + 1) * HEAP_EVERY, bytes] as const).filter(([step]) => step > WARM))
  printTable('heap of the host\'s process after a collection, without code, kB', ['step', 'absent', 'on', 'the advisor\'s'], [
    ...[20, 50, 100, 150, 200, 250, 300].map((step) => {
      const index = step / HEAP_EVERY - 1
      return [step, ...[bare.run.heaps, run.heaps, held].map(heaps => number(heaps[index]! / 1000))]
    }),
    [`bytes a step, from ${WARM} on`, ...[bare.run.heaps, run.heaps, held].map(heaps => number(growth(heaps)))],
  ])
  return [
    { what: 'upkeep, window of 32k', bound: 'no overflow', measured: `${number(weight(largest))} of ${number(WINDOW)} tokens, ${refused} refused`, met: refused === 0 && weight(largest) <= WINDOW },
    { what: 'upkeep, updates shown', bound: 'none lost', measured: `${shown.size} of ${STEPS}`, met: shown.size === STEPS },
    { what: 'upkeep, tokens a step at the end', bound: 'at most 2 × those at step 20', measured: `${ratio(late, early)} (${number(early)} → ${number(late)})`, met: late <= 2 * early },
    { what: 'upkeep, memory', bound: 'flat', measured: `${number(growth(held))} bytes a step over the last ${STEPS - WARM}`, met: growth(held) < FLAT },
  ]
}

interface Session {
  readonly run: ProbedRun
  readonly requests: readonly ModelRequest[]
  /** Requests that the model's window did not hold. */
  readonly refused: number
}

async function session(lab: Lab, presence: Presence): Promise<Session> {
  let refused = 0
  const answer = reviewer()
  await using server = await startModelServer({
    primary: (_, index) => index < STEPS ? toolCalls([{ name: 'read', arguments: { file_path: unitPath(index) } }]) : text('FINAL-ANSWER'),
    reviewer: (request, index) => {
      if (weight(request) <= WINDOW) return answer(request, index)
      refused += 1
      return httpError(400, { message: `This model's maximum context length is ${WINDOW} tokens.`, type: 'invalid_request_error' })
    },
  })
  const run = await lab.run({
    task: 'Read every unit in order and then report.', server, presence, heapEvery: HEAP_EVERY, timeoutMs: TIMEOUT_MS,
    files: Object.fromEntries(Array.from({ length: STEPS }, (_, index) => [unitPath(index), unit(index)])),
    // Every step is a review of its own, however busy the machine is.
    config: { syncBacklog: 1 },
    rows: [{ id: 'llm-deepseek', config: { models: [{ id: PRIMARY_MODEL }, { id: REVIEWER_MODEL, contextWindow: WINDOW }] } }],
  })
  if (run.stepEnds.length !== STEPS + 1) throw new Error(`the run had ${run.stepEnds.length} steps\n${run.result.stdout}${run.result.stderr}`)
  return { run, requests: server.of('reviewer'), refused }
}

/** A reviewer that looks something up at every few reviews, notes something now and then, and sums up when asked to. */
function reviewer(): Script {
  let reviews = 0
  return ({ body }): Reply => {
    const last = body.messages.at(-1)
    if (messageText(last).startsWith(SUMMARY_ASKED)) return text(summary(reviews))
    if (last?.role === 'tool') return text('ok')
    reviews += 1
    if (reviews % NOTE_EVERY === 0) return advise(`Unit ${reviews} names "${words(reviews, 6)}", which the report must not leave out.`, 'nit')
    if (reviews % LOOK_EVERY !== 0) return text('ok')
    return toolCalls([{ name: 'read', arguments: { file_path: unitPath((reviews * 7) % STEPS) } }])
  }
}

function summary(reviews: number): string {
  const lines = Array.from({ length: 12 }, (_, index) => `- up to unit ${reviews}: ${words(reviews * 31 + index, 24)}.`)
  return `The agent reads the units in order and has changed nothing.\n${lines.join('\n')}`
}

function unitPath(index: number): string {
  return `units/u${index}.txt`
}

/** Lines of plain words that no other unit has; its first and its last line say which it is. */
function unit(index: number): string {
  let body = `first line of unit ${index}\n`
  for (let line = 0; body.length < RESULT - 30; line += 1) body += `${words(index * 1000 + line, 7)}\n`.slice(0, RESULT - 30 - body.length)
  return `${body.trimEnd()}\nlast line of unit ${index}\n`
}

const SYLLABLES = ['ba', 'de', 'fi', 'go', 'lu', 'ma', 'ne', 'pi', 'ro', 'su', 'ta', 've', 'wi', 'zo']

function words(seed: number, count: number): string {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  const syllable = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return SYLLABLES[(state >>> 16) % SYLLABLES.length]!
  }
  return Array.from({ length: count }, () => syllable() + syllable() + syllable()).join(' ')
}

function tokensOf(request: ModelRequest): number {
  return Math.ceil(bytesOf(request.bodyText) / BYTES_PER_TOKEN)
}

/** Tokens of a request and of the longest reply that it allows: both have to fit the window. */
function weight(request: ModelRequest): number {
  const { max_tokens: reply } = request.body
  return tokensOf(request) + (typeof reply === 'number' ? reply : 0)
}

/** Tokens of all requests that went out between the end of a step and the next, by step. */
function tokensOfSteps(requests: readonly ModelRequest[], ends: readonly number[]): number[] {
  return ends.map((end, index) => sum(requests.filter(({ arrivedAt }) => arrivedAt >= end && arrivedAt < (ends[index + 1] ?? Infinity)).map(tokensOf)))
}

function meanOf(perStep: readonly number[], [from, to]: readonly [number, number]): number {
  return mean(perStep.slice(from - 1, to))
}

/** Units whose first and last line were shown to the reviewer, in what it is shown and not in what it looked up. */
function unitsIn(requests: readonly ModelRequest[]): Set<string> {
  const lines = new Set<string>()
  const texts = new Set(requests.flatMap(({ body }) => body.messages.filter(({ role }) => role === 'user').map(messageText)))
  for (const shown of texts) for (const [line] of shown.matchAll(MARKS)) lines.add(line)
  return new Set(Array.from({ length: STEPS }, (_, index) => String(index))
    .filter(index => lines.has(`first line of unit ${index}`) && lines.has(`last line of unit ${index}`)))
}

interface Upkeeps {
  readonly drops: number
  readonly dropped: number
  readonly asked: number
  readonly summarised: number
  readonly cleared: number
}

/** What upkeep did, told from each request and the one before it. */
function upkeepsIn(requests: readonly ModelRequest[]): Upkeeps {
  let [drops, dropped, summarised, cleared] = [0, 0, 0, 0]
  const asked = requests.filter(isSummary)
  const reviews = requests.filter(request => !isSummary(request)).map(({ body }) => body.messages)
  for (const [index, messages] of reviews.entries()) {
    const before = reviews[index - 1]
    if (before === undefined) continue
    const gone = droppedIn(messages) - droppedIn(before)
    if (gone > 0) {
      drops += 1
      dropped += gone
    }
    if (messages.length >= before.length) continue
    const own = summaryIn(messages)
    if (own !== undefined && own !== summaryIn(before)) summarised += 1
    else cleared += 1
  }
  return { drops, dropped, asked: asked.length, summarised, cleared }
}

function isSummary({ body }: ModelRequest): boolean {
  return messageText(body.messages.at(-1)).startsWith(SUMMARY_ASKED)
}

function droppedIn(messages: readonly ChatMessage[]): number {
  return messages.filter(message => message.role === 'tool' && messageText(message).startsWith(RESULT_DROPPED)).length
}

function summaryIn(messages: readonly ChatMessage[]): string | undefined {
  return messages.map(messageText).find(shown => shown.startsWith(SUMMARY_SHOWN))
}
