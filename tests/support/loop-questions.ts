/** The host's question dialog with a scripted user behind it. */
import UserQuestionService, { UserQuestionError } from '@deepseek-ai/dsh-user-questions'
import type { AskUserQuestionItem, AskUserQuestionRequest } from '@deepseek-ai/dsh-user-questions'
import type { Loop } from './loop.ts'

/** Leaves the dialog, as the escape key does. */
export const ESCAPE = Symbol('escape')

/** Does not answer until the question is taken back. */
export const SILENCE = Symbol('silence')

/** A label or what is typed; several labels; something to happen before the answer. */
export type Reply = string | readonly string[] | typeof ESCAPE | typeof SILENCE | { readonly first: () => unknown, readonly then: Reply }

/** A user who answers questions in the order they come. */
export class Answerer {
  /** What was asked so far, oldest first. */
  readonly asked: AskUserQuestionItem[] = []
  readonly requests: AskUserQuestionRequest[] = []
  private readonly replies: Reply[] = []

  /** Give these answers next. */
  will(...replies: Reply[]): void {
    this.replies.push(...replies)
  }

  /** Answers nobody asked for. */
  get left(): number {
    return this.replies.length
  }

  /** The last question as a user sees it. */
  get shown(): string {
    const item = this.asked.at(-1)
    return item === undefined ? '' : [item.question, item.detail, ...(item.options ?? []).map(({ label, description }) => `[${label}] ${description ?? ''}`)].join('\n')
  }

  async ask(request: AskUserQuestionRequest) {
    const [item] = request.questions
    if (item === undefined || request.questions.length > 1) throw new Error('one question at a time was expected')
    this.requests.push(request)
    this.asked.push(item)
    return { answers: [{ id: item.id, ...await this.answer(item, request.signal, this.replies.shift()) }] }
  }

  private async answer(item: AskUserQuestionItem, signal: AbortSignal | undefined, reply: Reply | undefined): Promise<{ selected: string[], custom?: string }> {
    if (reply === undefined) throw new Error(`nothing was to be answered to:\n${this.shown}`)
    if (reply === ESCAPE) throw new UserQuestionError('the user cancelled', 'ASK_CANCELLED')
    if (reply === SILENCE) return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new UserQuestionError('aborted', 'ASK_ABORTED'))))
    if (typeof reply === 'object' && 'first' in reply) {
      await reply.first()
      return this.answer(item, signal, reply.then)
    }
    const labels = new Set(item.options?.map(({ label }) => label))
    const parts = typeof reply === 'string' ? [reply] : reply
    const selected = parts.filter(part => labels.has(part))
    const typed = parts.filter(part => !labels.has(part))
    return { selected, ...typed.length === 0 ? {} : { custom: typed.join(' ') } }
  }
}

/** Mount the dialog's service; with nobody behind it when `attended` is false. */
export async function mountQuestions(loop: Loop, attended = true): Promise<Answerer> {
  await loop.mount(UserQuestionService)
  const answerer = new Answerer()
  if (attended) loop.ctx.userQuestions.registerProvider(answerer)
  return answerer
}
