// The configuration a user writes: keys, defaults, limits. Strict: an unknown key is refused by name.

import { inspect } from 'node:util'
import z from '@deepseek-ai/schemastery'
import { patternFault } from '../redact/patterns.ts'
import { SEVERITIES, type Severity } from '../severity.ts'
import { truncate } from '../text.ts'
import type { Budget } from '../record/budget.ts'
import type { Prices } from '../record/prices.ts'
import { parseSelector } from './environment.ts'

/** When an update is reviewed: after every step, after steps that changed something, or once a turn. */
export type ReviewAt = 'step' | 'mutation' | 'turn'

/** A threshold, or its text as a form would write it. */
export type SyncBacklog = 'off' | 1 | 3 | 5 | '1' | '3' | '5'

export interface Config {
  /** Master switch. */
  enabled: boolean
  /** Provider route and model of the reviewer; without both no model call is ever made. */
  provider: string
  model: string
  /** Reasoning effort, sent only when the model advertises it. */
  effort: string
  /** Replaces the built-in stance; the reply protocol is always added. */
  systemPrompt: string
  reviewAt: ReviewAt
  /** Every Nth update; what is skipped is still seen by the next review. */
  reviewEvery: number
  /** Updates (turns when `reviewAt` is `turn`) after a real steer during which notes cannot interrupt. */
  immuneTurns: number
  /** Messages in one delta, 0 = unbounded. */
  maxDeltaMessages: number
  /** Hard size of one delta in characters, whatever its messages hold. */
  maxDeltaChars: number
  includeReasoning: boolean
  /** Updates unread from which on the next step waits, 30 s at most. */
  syncBacklog: SyncBacklog
  /** Investigation tools of a reviewer; with none it answers with the JSON frame. */
  tools: string[]
  /** Calls of those tools in one review. */
  toolCalls: number
  notesPerUpdate: number
  /** Notes above it are lowered to it, not dropped. */
  maxSeverity: Severity
  /** From which severity on a note must quote evidence that is found in what the reviewer saw. */
  evidence: 'off' | 'blocker' | 'concern'
  /** Updates after which an undelivered note goes back to its reviewer: still true? 0 = never. */
  reconfirmAfter: number
  /** Review subagents: none, all, or those of these agent presets. */
  subagents: boolean | string[]
  /** Replace secrets before anything leaves. */
  redact: boolean
  /** The user's own regular expressions for what is secret. */
  redactPatterns: string[]
  /** Tokens a reviewer's own conversation may hold; the model's window bounds it too. */
  maxContextTokens: number
  /** `provider/model[:effort]` that goes on with a conversation too long for the reviewer's own model. */
  longContextModel: string
  /** `provider/model[:effort]` tried in order when the model fails for good or for quota. */
  fallbacks: string[]
  /** Money per million tokens by `provider/model`; goes before the built-in table. */
  prices: Prices
  /** What one session may spend: tokens, cached ones too, and money in the currency of the price. */
  budget: Budget
  /** Folders whose WATCHDOG.yml may choose models and grant any tool. */
  trustedWorkspaces: string[]
  /** Seconds one reviewer call may take, to its end. */
  timeout: number
  /** How often advice may reopen a finished answer, per prompt of the user. */
  reopen: number
  /** Seconds a headless run waits for the last reviews. */
  drain: number
}

/** A value in the words of a configuration file; one that refers to itself, as YAML allows, in those of the debugger. */
function show(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return inspect(value, { depth: 1, breakLength: Infinity })
  }
}

/** A whole number within limits. */
function whole(min: number, max: number, value: number) {
  return z.number().step(1).min(min).max(max).default(value)
}

/** Money for a million tokens. */
function amount() {
  return z.number().min(0).max(1_000_000)
}

/** What has a price: `provider/model`, where a model's name may hold slashes. */
const PRICED = /^[^\s/]+\/\S+$/

/** Each key by itself, for files that set some of them for one advisor. */
export const fields = {
  enabled: z.boolean().default(false),
  provider: z.string().default(''),
  model: z.string().default(''),
  effort: z.string().default('low'),
  systemPrompt: z.string().default(''),
  reviewAt: z.union(['step', 'mutation', 'turn'] as const).default('step'),
  reviewEvery: whole(1, 1000, 1),
  immuneTurns: whole(0, 1000, 3),
  maxDeltaMessages: whole(0, 10_000, 60),
  maxDeltaChars: whole(1_000, 1_000_000, 48_000),
  includeReasoning: z.boolean().default(false),
  syncBacklog: z.union(['off', 1, 3, 5, '1', '3', '5'] as const).default('off'),
  tools: z.array(z.string()).default(['read', 'grep', 'glob']),
  toolCalls: whole(1, 100, 12),
  notesPerUpdate: whole(1, 8, 1),
  maxSeverity: z.union(SEVERITIES).default('blocker'),
  evidence: z.union(['off', 'blocker', 'concern'] as const).default('blocker'),
  reconfirmAfter: whole(0, 1000, 3),
  subagents: z.union([z.boolean(), z.array(z.string())]).default(false),
  redact: z.boolean().default(true),
  redactPatterns: z.array(z.string()).default([]),
  maxContextTokens: whole(8_000, 2_000_000, 48_000),
  longContextModel: z.string().default(''),
  fallbacks: z.array(z.string()).default([]),
  prices: z.dict(z.object({
    input: amount().required(), output: amount().required(), cacheRead: amount(), cacheWrite: amount(),
    currency: z.string().pattern(/^[A-Z]{3}$/).default('USD'),
  }).required(), z.string().pattern(PRICED)).default({}),
  budget: z.object({ tokens: z.number().step(1).min(1).max(1e12), cost: z.number().min(0.000_001).max(1e9) }).default({} as never),
  trustedWorkspaces: z.array(z.string()).default([]),
  timeout: whole(1, 3600, 90),
  reopen: whole(0, 5, 1),
  drain: whole(0, 3600, 600),
} satisfies Record<keyof Config, unknown>

/** Pass plain objects of known keys on; schemastery alone would keep unknown keys silently. */
const knownKeys = z.transform(z.any(), (value: unknown) => {
  if (typeof value !== 'object' || value === null) return undefined
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(fields, key)) continue
    const shown = shortly((value as Record<string, unknown>)[key])
    throw new z.ValidationError(`unknown key "${truncate(key, 80)}" (value ${shown}); allowed: ${Object.keys(fields).join(', ')}`, {})
  }
  return undefined
})

/** Pass on what can be read: texts that have to be a model or an expression. What is no text at all is refused by its field. */
const readable = z.transform(z.any(), (value: unknown) => {
  const { longContextModel, fallbacks, prices, budget, redactPatterns } = (value ?? {}) as Partial<Record<keyof Config, unknown>>
  checkSelector('longContextModel', longContextModel)
  checkSelectors('fallbacks', fallbacks)
  checkPatterns('redactPatterns', redactPatterns)
  checkParts(['budget'], budget, ['tokens', 'cost'])
  if (typeof prices !== 'object' || prices === null) return undefined
  for (const [model, price] of Object.entries(prices)) {
    if (!PRICED.test(model)) throw new z.ValidationError(`expected provider/model as a key but got ${shortly(model)}`, { path: ['prices'] })
    checkParts(['prices', model], price, ['input', 'output', 'cacheRead', 'cacheWrite', 'currency'])
  }
  return undefined
})

function checkSelector(key: keyof Config, value: unknown): void {
  if (typeof value !== 'string' || value.trim() === '' || parseSelector(value.trim()) !== undefined) return
  throw new z.ValidationError(`expected provider/model[:effort], or '' for none, but got ${shortly(value)}`, { path: [key] })
}

function checkSelectors(key: keyof Config, value: unknown): void {
  if (!Array.isArray(value)) return
  for (const [index, selector] of value.entries()) {
    if (typeof selector !== 'string' || parseSelector(selector.trim()) !== undefined) continue
    throw new z.ValidationError(`expected provider/model[:effort] but got ${shortly(selector)}`, { path: [key, index] })
  }
}

/** An object of these keys and no others. A number that is none, as YAML can write it, would be within all limits. */
function checkParts(path: readonly string[], value: unknown, keys: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  for (const [key, part] of Object.entries(value)) {
    if (!keys.includes(key)) throw new z.ValidationError(`unknown key "${truncate(key, 80)}"; allowed: ${keys.join(', ')}`, { path: [...path] })
    if (Number.isNaN(part)) throw new z.ValidationError('expected a number but got NaN', { path: [...path, key] })
  }
}

function checkPatterns(key: keyof Config, value: unknown): void {
  if (!Array.isArray(value)) return
  for (const [index, pattern] of value.entries()) {
    const fault = typeof pattern === 'string' ? patternFault(pattern) : undefined
    if (fault === undefined) continue
    throw new z.ValidationError(`expected a regular expression as JavaScript reads it but got ${shortly(pattern)}: ${fault}`, { path: [key, index] })
  }
}

function shortly(value: unknown): string {
  return truncate(show(value), 80)
}

/** @throws {ValidationError} naming the field, the value and what is allowed. */
export const Config = z.intersect([knownKeys, readable, z.object(fields)]).default({} as never) as unknown as z<Config>

/** Every key with its default, in the order of the documentation. */
export const defaults: Config = Config({} as never)
