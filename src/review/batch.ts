// The new messages of one request: what has to be known first, then the delta.

import type { Message } from '@deepseek-ai/dsh-llm'
import type { Config } from '../config/schema.ts'
import type { WaitingNote } from '../finding.ts'
import { renderDelta } from '../observe/delta.ts'
import { textOf, type Entry } from '../observe/entry.ts'
import type { Update } from '../observe/fold.ts'
import type { SameResult } from '../observe/markdown.ts'
import type { Gap } from './backlog.ts'
import { toMessages } from './conversation.ts'
import { renderGap, renderHead, renderPlanMode, renderReconfirm, type Pinned } from './head.ts'

/** New messages, and what becomes true once they have been read. */
export interface Batch {
  readonly messages: readonly Message[]
  /** Entries it shows. */
  readonly shown: ReadonlySet<Entry>
  /** Rules of plan mode that then stand in the conversation. */
  readonly plan: string | undefined
  /** Remarks of the user it carries. */
  readonly remarks: number
  /** Numbers of the notes it asks about. */
  readonly asked: readonly number[]
}

export interface BatchInput {
  readonly updates: readonly Update[]
  readonly pinned: Pinned
  /** Nothing was shown yet: the task has to be pinned. */
  readonly fresh: boolean
  readonly gap: Gap
  /** Rules of plan mode that stand in the conversation already. */
  readonly shownPlan: string | undefined
  /** What the user wants the reviewer to know. */
  readonly remarks: readonly string[]
  readonly stale: readonly WaitingNote[]
  readonly sameResult: SameResult
  /** How much of the usual lengths there is room for before the delta; all when it is left out. */
  readonly share?: number
  /** Hides secrets that only the whole of several texts shows. */
  readonly hide?: (texts: readonly string[]) => string[]
}

/** Compose one batch; it has no messages when there is nothing to review. */
export function composeBatch(input: BatchInput, config: Config): Batch {
  const { pinned, fresh, gap, remarks, stale } = input
  const plan = pinned.planRules
  const delta = renderDelta(input.updates, config, {
    cwd: pinned.cwd, includeReasoning: config.includeReasoning, sameResult: input.sameResult,
  })
  const lead = [
    ...fresh ? renderHead(pinned, delta.map(({ entry }) => entry), input.share) : [],
    ...!fresh && gap.updates > 0 ? [renderGap(gap)] : [],
    ...plan === undefined ? [] : [renderPlanMode(plan, input.shownPlan === plan)],
    ...remarks,
    ...stale.length > 0 ? [renderReconfirm(stale)] : [],
  ]
  const texts = delta.length === 0 ? [] : [...lead, ...delta.map(({ text }) => text)]
  const shown = new Set(delta.map(({ entry }) => entry))
  return { messages: toMessages(input.hide?.(texts) ?? texts), shown, plan, remarks: remarks.length, asked: stale.map(note => note.id) }
}

/** Characters of messages. */
export function lengthOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + textOf(message.content).length, 0)
}
