// The host's question dialog, where a front end has one. One question at a time, so that leaving one leaves the whole.

import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { orAborted, within, type Clock } from '../clock.ts'
import { errorMessage, printable, truncate } from '../text.ts'

/** The longest wait for one answer: a page may have been closed with the question on it. */
const ANSWER_MS = 10 * 60_000

/** Questions of one command: a front end that answers by itself must not turn in a circle. */
const QUESTION_LIMIT = 500

/** Characters of a label. */
const LABEL_LENGTH = 120

/** Codes of the host for a question that the user, or whoever asked, took back. */
const TAKEN_BACK: ReadonlySet<unknown> = new Set(['ASK_CANCELLED', 'ASK_ABORTED'])

/** The part of the host's service that is used. */
interface QuestionService {
  ask(request: {
    readonly agent: Agent
    readonly signal: AbortSignal
    readonly questions: readonly Item[]
  }): Promise<{ readonly answers: readonly { readonly selected: readonly string[], readonly custom?: string }[] }>
}

interface Item {
  readonly id: string
  readonly header: string
  readonly question: string
  readonly detail?: string
  readonly options?: readonly { readonly label: string, readonly description?: string }[]
  readonly multiSelect?: boolean
}

/** One thing to choose. */
export interface Choice<T> {
  readonly value: T
  readonly label: string
  readonly description?: string
}

export interface Question<T> {
  readonly question: string
  /** Shown with the question; lines may be left out by being undefined. */
  readonly detail?: readonly (string | undefined)[]
  readonly choices?: readonly Choice<T>[]
  /** Several choices may be taken. */
  readonly many?: boolean
}

/**
 * What was chosen, and what was typed. Every front end lets the user type, and dsh-TUI gives the choice that was in focus
 * along with it.
 */
export interface Answer<T> {
  readonly chosen: readonly T[]
  readonly typed: string
}

/** A question that got no answer. */
export class NoAnswer extends Error {
  /** `unavailable`: there is nobody to ask here. */
  readonly kind: 'dismissed' | 'late' | 'unavailable'

  constructor(kind: 'dismissed' | 'late' | 'unavailable', message: string) {
    super(message)
    this.kind = kind
  }
}

/** Asks the user of one agent, on behalf of one command. */
export class Dialog {
  private readonly ctx: Context
  private readonly agent: Agent
  private readonly signal: AbortSignal
  private readonly clock: Clock
  private asked = 0

  constructor(ctx: Context, agent: Agent, signal: AbortSignal, clock: Clock) {
    this.ctx = ctx
    this.agent = agent
    this.signal = signal
    this.clock = clock
  }

  /** @throws {NoAnswer} */
  async ask<T>({ question, detail = [], choices = [], many = false }: Question<T>): Promise<Answer<T>> {
    const labels = uniqueLabels(choices)
    const lines = detail.filter(line => line !== undefined).join('\n')
    const answer = await this.send({
      id: 'advisor', header: 'Advisor', question: printable(question),
      ...lines === '' ? {} : { detail: printable(lines) },
      ...choices.length === 0 ? {} : {
        options: choices.map(({ description }, at) => ({ label: labels[at]!, ...description === undefined ? {} : { description: oneLine(description) } })),
      },
      ...many ? { multiSelect: true } : {},
    })
    const typed = answer.custom?.trim() ?? ''
    const isNamed = !many && labels.some(label => isSame(label, typed))
    return {
      chosen: choices.filter((_, at) => isNamed ? isSame(labels[at]!, typed) : answer.selected.includes(labels[at]!)).map(({ value }) => value),
      typed: isNamed ? '' : typed,
    }
  }

  private async send(item: Item): Promise<{ readonly selected: readonly string[], readonly custom?: string }> {
    const service = this.ctx.get('userQuestions') as QuestionService | undefined
    if (service === undefined) throw new NoAnswer('unavailable', 'this front end has no question dialog')
    if (this.asked++ >= QUESTION_LIMIT) throw new NoAnswer('dismissed', 'too many questions')
    let result: Awaited<ReturnType<QuestionService['ask']>> | NoAnswer | undefined
    const asking = async (signal: AbortSignal) => {
      try {
        result = await service.ask({ agent: this.agent, signal, questions: [item] })
      } catch (error) {
        result = refusal(error)
      }
    }
    // A front end that ignores its signal does not hold us.
    const end = await within(ANSWER_MS, this.signal, this.clock, signal => orAborted(asking(signal), signal))
    if (end === 'late') throw new NoAnswer('late', `nobody answered within ${ANSWER_MS / 60_000} minutes`)
    if (result instanceof NoAnswer) throw result
    const answer = result?.answers[0]
    if (answer === undefined) throw new NoAnswer('dismissed', 'the question was taken back')
    return answer
  }
}

/** Whether somebody typed a label instead of choosing it. */
function isSame(label: string, typed: string): boolean {
  return label.toLowerCase() === typed.toLowerCase()
}

function refusal(error: unknown): NoAnswer {
  const taken = TAKEN_BACK.has((error as { code?: unknown } | undefined)?.code)
  return new NoAnswer(taken ? 'dismissed' : 'unavailable', oneLine(errorMessage(error)))
}

/** Front ends give labels back: no two may be the same. */
function uniqueLabels(choices: readonly Choice<unknown>[]): string[] {
  const seen = new Set<string>()
  return choices.map(({ label }) => {
    const base = truncate(oneLine(label), LABEL_LENGTH)
    let unique = base
    for (let number = 2; seen.has(unique); number++) unique = `${base} (${number})`
    seen.add(unique)
    return unique
  })
}

function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ')).trim()
}
