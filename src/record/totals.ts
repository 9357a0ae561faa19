// Sums of what a reviewer did, used and cost: plain values that can be added, written down and read back. What is read back
// was written by whoever could, and is checked.

import type { TokenUsage } from '@deepseek-ai/dsh-llm'
import { isMapping } from '../mapping.ts'
import { SEVERITIES, type Severity } from '../severity.ts'
import type { Money } from './prices.ts'

const TOKENS = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const

/**
 * Tokens by how they are billed; none is in two of the first four. `input` was neither read from nor written to the provider's
 * cache, `reasoning` is a part of `output`.
 */
export type Usage = Record<(typeof TOKENS)[number], number>

export const COUNTERS = ['calls', 'reviews', 'silent', 'noVerdict', 'failed', 'dropped', 'quarantined', 'lookups'] as const

/**
 * `calls` are those sent to the provider, failed ones included; `reviews` came to an end with a reply, of those `silent` said
 * nothing on purpose and `noVerdict` nothing of use; `failed` are calls, `dropped` updates that no review saw, `quarantined`
 * replies that were thrown away, `lookups` investigation calls that were run.
 */
export type Counter = (typeof COUNTERS)[number]

export type Counts = Record<Counter, number>

/** What one model was billed for. */
export interface ModelTotals {
  calls: number
  /** Of the calls: those of which the provider told no usage. */
  unreported: number
  /** Of the calls: those with usage, but without a price that is known. */
  unpriced: number
  readonly tokens: Usage
  /** Amount by currency, of the calls with a price. */
  readonly cost: Record<string, number>
}

export const VERDICTS = ['touched', 'ignored', 'good', 'bad'] as const

/** `touched` and `ignored` are what the primary did about a note, `good` and `bad` what the user said of it. */
export type NoteVerdict = (typeof VERDICTS)[number]

/** Notes given, and how many of them got each verdict. */
export type OutcomeCounts = Record<'notes' | NoteVerdict, number>

export interface Totals {
  readonly counts: Counts
  /** By `provider/model`. */
  readonly models: Record<string, ModelTotals>
  readonly outcomes: Record<Severity, OutcomeCounts>
}

export function emptyTotals(): Totals {
  return {
    counts: zeros(COUNTERS), models: {},
    outcomes: Object.fromEntries(SEVERITIES.map(severity => [severity, zeros(OUTCOMES)])) as Totals['outcomes'],
  }
}

/** What a provider reported, in our words. A number that is none, or below zero, counts as nothing. */
export function usageOf(reported: TokenUsage): Usage {
  return {
    input: whole(reported.inputTokens), output: whole(reported.outputTokens), cacheRead: whole(reported.cacheReadTokens),
    cacheWrite: whole(reported.cacheWriteTokens), reasoning: whole(reported.reasoningTokens),
  }
}

/** Add one call of a model. No usage means that the provider told none, no cost that the price is not known. */
export function addCall(totals: Totals, model: string, usage: Usage | undefined, cost: Money | undefined): void {
  const of = modelOf(totals, model)
  of.calls += 1
  if (usage === undefined) of.unreported += 1
  else addCounts(of.tokens, usage)
  if (cost !== undefined) addCost(of.cost, cost.currency, cost.amount)
  // What was billed nothing costs nothing at any price.
  else if (usage !== undefined && tokensIn(usage) > 0) of.unpriced += 1
}

/** Add all of `more` to `totals`. */
export function addTotals(totals: Totals, more: Totals): void {
  addCounts(totals.counts, more.counts)
  for (const severity of SEVERITIES) addCounts(totals.outcomes[severity], more.outcomes[severity])
  for (const [model, billed] of Object.entries(more.models)) addBill(modelOf(totals, model), billed)
}

/** The sum of any number of totals, which stay as they are. */
export function sumOf(all: Iterable<Totals>): Totals {
  const sum = emptyTotals()
  for (const totals of all) addTotals(sum, totals)
  return sum
}

/** The models of some totals taken together. */
export function billOf(totals: Totals): ModelTotals {
  const bill = emptyModel()
  for (const billed of Object.values(totals.models)) addBill(bill, billed)
  return bill
}

/** All tokens a provider counted, cached ones too. */
export function tokensIn({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheRead + cacheWrite
}

/** Read totals from parsed JSON; undefined when they are none. What is missing counts as nothing. */
export function readTotalsValue(value: unknown): Totals | undefined {
  if (!isMapping(value)) return undefined
  const totals = emptyTotals()
  if (!fill(totals.counts, value.counts)) return undefined
  const [models, outcomes] = [value.models ?? {}, value.outcomes ?? {}]
  if (!isMapping(models) || !isMapping(outcomes)) return undefined
  for (const severity of SEVERITIES) if (!fill(totals.outcomes[severity], outcomes[severity])) return undefined
  for (const [model, read] of Object.entries(models)) {
    if (!isMapping(read)) return undefined
    const of = modelOf(totals, model)
    const amounts = read.cost ?? {}
    const heads = { calls: 0, unreported: 0, unpriced: 0 }
    if (!fill(heads, read) || !fill(of.tokens, read.tokens) || !isMapping(amounts)) return undefined
    Object.assign(of, heads)
    for (const [currency, amount] of Object.entries(amounts)) {
      if (!isAmount(amount)) return undefined
      addCost(of.cost, currency, amount)
    }
  }
  return totals
}

const OUTCOMES = ['notes', ...VERDICTS] as const

function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map(key => [key, 0])) as Record<K, number>
}

function emptyModel(): ModelTotals {
  return { calls: 0, unreported: 0, unpriced: 0, tokens: zeros(TOKENS), cost: {} }
}

function modelOf({ models }: Totals, model: string): ModelTotals {
  // A name out of a file may be one that every object has.
  if (!Object.hasOwn(models, model)) Object.defineProperty(models, model, { value: emptyModel(), enumerable: true, writable: true })
  return models[model]!
}

export function addBill(to: ModelTotals, { calls, unreported, unpriced, tokens, cost }: ModelTotals): void {
  to.calls += calls
  to.unreported += unreported
  to.unpriced += unpriced
  addCounts(to.tokens, tokens)
  for (const [currency, amount] of Object.entries(cost)) addCost(to.cost, currency, amount)
}

function addCounts<T extends Record<string, number>>(to: T, more: Readonly<T>): void {
  for (const key of Object.keys(to) as (keyof T)[]) to[key] = (to[key]! + more[key]!) as T[keyof T]
}

function addCost(cost: Record<string, number>, currency: string, amount: number): void {
  const value = (Object.hasOwn(cost, currency) ? cost[currency]! : 0) + amount
  Object.defineProperty(cost, currency, { value, enumerable: true, writable: true, configurable: true })
}

/** Copy the counts of `from` over those of `to`; false when one of them is no count. */
function fill(to: Record<string, number>, from: unknown): boolean {
  if (from === undefined) return true
  if (!isMapping(from)) return false
  return Object.keys(to).every((key) => {
    const value = Object.hasOwn(from, key) ? from[key] : 0
    to[key] = isAmount(value) ? value : 0
    return isAmount(value)
  })
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function whole(tokens: number | undefined): number {
  return isAmount(tokens) ? tokens : 0
}

/** Notes given, of any severity. */
export function notesIn({ outcomes }: Totals): number {
  return SEVERITIES.reduce((sum, severity) => sum + outcomes[severity].notes, 0)
}
