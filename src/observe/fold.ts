// The fold over session events: synchronous, O(1) an event; of `assistant/chunk` it keeps nothing but how a reply ended.
// It knows what happened and where an update ends; it knows nothing of reviewers.

import type { UserMessage } from '@deepseek-ai/dsh-llm'
import type { SessionEvent, SurfaceEventType, TurnEndReason } from '@deepseek-ai/dsh-session'
import { diffsOf, entryOfMessage, INSTRUCTIONS, reasoningOf, textOf, type Entry } from './entry.ts'
import { isReadOnly } from './read-only.ts'

/** All that the primary did between two boundaries. */
export interface Update {
  /** Counts from 1 in each session and process. */
  readonly number: number
  readonly turn: number
  readonly step: number
  readonly boundary: 'step' | 'turn'
  /** A tool was called that may have changed something. */
  readonly mutated: boolean
  /** The step was an answer: the model called no tool and owes nothing more. */
  readonly final: boolean
  readonly entries: readonly Entry[]
}

export type Observation =
  | { readonly kind: 'update', readonly update: Update }
  /** The model-visible past was rewritten: what a reviewer was shown no longer stands. */
  | { readonly kind: 'rewritten' }

type SurfaceEvent = SessionEvent<SurfaceEventType>

/** What an open turn is at. */
export type Standing =
  /** The model owes something: an answer, or the work that its tool results ask for. */
  | 'working'
  /** It gave its answer, and nothing followed. */
  | 'answered'
  /** Its answer ran into the output limit, and nothing followed. */
  | 'cut'

/** Where the primary stands. */
export type Phase =
  /** No turn was seen yet, or the last one is over. */
  | { readonly kind: 'idle', readonly end: TurnEndReason | undefined }
  | { readonly kind: 'turn', readonly standing: Standing }

/** Entries that can be shown again after a rewrite; older ones are let go. */
const RECENT_LIMIT = 500

/** Messages of instructions that are kept. */
const INSTRUCTIONS_LIMIT = 20

export class Fold {
  /** The user's first request and their latest message. */
  task: string | undefined
  latest: string | undefined
  /** The AGENTS.md chain as the agent was shown it, oldest first. */
  instructions: readonly string[] = []
  planMode = false
  /** The run was cancelled, and the user has not spoken since. */
  stopped = false
  /** The open or last turn pursues a goal of the host, whose driver must not be interrupted. */
  goalRound = false
  phase: Phase = { kind: 'idle', end: undefined }
  /** The text of the last complete answer. */
  answer: string | undefined
  /** The newest update's number, 0 before the first. */
  updates = 0
  /** Completed turns seen. */
  turns = 0
  private fresh: Entry[] = []
  private recent: Entry[] = []
  private readonly open = new Map<string, { name: string, args: string, seq: number }>()
  private mutated = false
  /** The reply that is under way, or the last one, ran into the output limit. */
  private limited = false
  private turn = 0
  private step = 0

  /**
   * Take over the past of a session without reviewing it: the cursor starts at its end.
   * @param visit - called behind each event, with {@link position} as it was then.
   */
  prime(events: readonly SessionEvent[], visit?: (event: SessionEvent) => void): void {
    for (const event of events) {
      try {
        this.push(event)
        visit?.(event)
      } catch {
        // The host's log takes events that nobody can read; the rest of the past still counts.
      }
    }
    this.fresh = []
    this.mutated = false
    this.updates = 0
    this.turns = 0
  }

  /** The model owes something. */
  get isWorking(): boolean {
    return this.phase.kind === 'turn' && this.phase.standing === 'working'
  }

  /** The open or last turn and step. */
  get position(): { readonly turn: number, readonly step: number } {
    return { turn: this.turn, step: this.step }
  }

  /** The agent is idle though its turn never ended: the host logs none when a call is aborted before its first byte. */
  abandonTurn(): void {
    if (this.phase.kind !== 'turn') return
    this.phase = { kind: 'idle', end: { kind: 'aborted', reason: { kind: 'user' } } }
    this.stopped = true
    this.open.clear()
  }

  /** The bounded present transcript, oldest first. */
  present(): readonly Entry[] {
    return this.recent.slice()
  }

  /** Fold one event. Most return undefined and change nothing. */
  push(event: SessionEvent): Observation | undefined {
    switch (event.type) {
      case 'assistant/chunk':
        if (event.data.chunk.type === 'finish') this.limited = event.data.chunk.reason.kind === 'max-tokens'
        return
      case 'turn/start':
        this.turn = event.data.turn
        this.phase = { kind: 'turn', standing: 'working' }
        this.goalRound = false
        return
      case 'user/message': {
        const source: { kind: string } = event.data.source
        if (source.kind === 'advisor') return
        if (source.kind === 'goal') this.goalRound = true
        if (source.kind === INSTRUCTIONS) this.learnInstructions(event.data)
        const entry = entryOfMessage(event.seq, event.data)
        if (isReplacement(event)) return this.replace(event, entry)
        if (entry === undefined) return
        if (entry.kind === 'user') {
          this.stopped = false
          this.task ??= entry.text
          this.latest = entry.text
        }
        return this.add(entry)
      }
      case 'assistant/message': {
        const { content } = event.data.message
        const interrupted = event.data.interrupted === true
        const entry: Entry = { kind: 'agent', seq: event.seq, text: textOf(content), reasoning: reasoningOf(content), interrupted }
        if (isReplacement(event)) return this.replace(event, entry)
        const rests = !interrupted && !content.some(block => block.type === 'tool-call')
        const standing = !rests ? 'working' : this.limited ? 'cut' : 'answered'
        if (this.phase.kind === 'turn') this.phase = { kind: 'turn', standing }
        if (standing === 'answered' && entry.text !== '') this.answer = entry.text
        return this.add(entry)
      }
      case 'tool/call':
        this.open.set(event.data.callId, { name: event.data.name, args: event.data.arguments, seq: event.seq })
        this.mutated ||= !isReadOnly(event.data.name)
        return
      case 'tool/result': {
        const result = event.data.message.content[0]
        const call = isReplacement(event) ? this.replacedCall(event) : this.open.get(result.toolCallId)
        this.open.delete(result.toolCallId)
        const entry: Entry = {
          kind: 'tool', seq: event.seq, name: call?.name ?? 'tool', args: call?.args ?? '',
          outcome: result.isError === true ? 'error' : 'ok',
          output: textOf(result.content), diffs: diffsOf(event.data.meta),
        }
        return isReplacement(event) ? this.replace(event, entry) : this.add(entry)
      }
      case 'step/start':
        this.step = event.data.step
        if (this.phase.kind === 'turn') this.phase = { kind: 'turn', standing: 'working' }
        return
      case 'step/end':
        this.closeCalls(event.seq)
        return this.cut('step')
      case 'turn/end': {
        const { reason } = event.data
        this.turns += 1
        this.phase = { kind: 'idle', end: reason }
        // Another plugin's rule may cancel too; that is not the user's will.
        this.stopped ||= reason.kind === 'aborted' && reason.reason.kind !== 'hook'
        if (reason.kind !== 'completed') this.add({ kind: 'end', seq: event.seq, reason })
        return this.cut('turn')
      }
      case 'plan/mode':
        this.planMode = (event.data as { active: boolean }).active
        return
      case 'compaction/summary':
      case 'compaction/prune':
        return this.rewritten()
      default: return
    }
  }

  /** A baseline takes the place of what was shown before; anything else adds to it. Of too many, the first and the newest are kept. */
  private learnInstructions({ content, source }: UserMessage): void {
    const text = textOf(content)
    if (text.trim() === '') return
    const isBaseline = (source as { baseline?: boolean }).baseline === true
    const earlier = isBaseline ? [] : this.instructions.filter(known => known !== text)
    const gone = earlier.length < INSTRUCTIONS_LIMIT ? 0 : 1
    this.instructions = [...earlier.slice(0, 1), ...earlier.slice(1 + gone), text]
  }

  private add(entry: Entry): undefined {
    this.fresh.push(entry)
    this.recent.push(entry)
    // Amortised: shifting one by one would copy the list at every entry.
    if (this.recent.length > RECENT_LIMIT * 2) this.recent = this.recent.slice(-RECENT_LIMIT)
  }

  /** Calls that never came back are part of what happened. */
  private closeCalls(seq: number): void {
    for (const call of this.open.values()) {
      this.add({ kind: 'tool', seq, name: call.name, args: call.args, outcome: 'pending', output: '', diffs: [] })
    }
    this.open.clear()
  }

  private cut(boundary: 'step' | 'turn'): Observation {
    // A turn that closes with nothing new is no further update: notes must not age by it.
    if (this.fresh.some(entry => entry.kind !== 'end')) this.updates += 1
    const update: Update = {
      number: this.updates, turn: this.turn, step: this.step, boundary, mutated: this.mutated,
      final: this.phase.kind === 'turn' && this.phase.standing === 'answered', entries: this.fresh,
    }
    this.fresh = []
    this.mutated = false
    return { kind: 'update', update }
  }

  private replace(event: SurfaceEvent, entry: Entry | undefined): Observation {
    const gone = new Set(event.sourceEventSeqs)
    let [first, last] = [Infinity, -Infinity]
    for (const seq of gone) [first, last] = [Math.min(first, seq), Math.max(last, seq)]
    const isGone = (known: Entry) => gone.has(known.seq) || (isOffSurface(known) && first <= known.seq && known.seq <= last)
    const at = this.recent.findIndex(isGone)
    this.recent = this.recent.filter(known => !isGone(known))
    if (entry !== undefined) this.recent.splice(at < 0 ? 0 : at, 0, entry)
    return this.rewritten()
  }

  /** A result that takes the place of another answers the same call. */
  private replacedCall(event: SurfaceEvent): { readonly name: string, readonly args: string } | undefined {
    return this.recent.find(known => known.kind === 'tool' && event.sourceEventSeqs?.includes(known.seq) === true) as
      Extract<Entry, { kind: 'tool' }> | undefined
  }

  /** All that stands is shown again, so nothing of it belongs to the next update. */
  private rewritten(): Observation {
    this.fresh = []
    return { kind: 'rewritten' }
  }
}

/** Entries that stand for no message, so that no rewrite names them: they go with what stood around them. */
function isOffSurface(entry: Entry): boolean {
  return entry.kind === 'end' || (entry.kind === 'tool' && entry.outcome === 'pending')
}

/** An event that takes the place of earlier ones instead of following them. */
function isReplacement(event: SurfaceEvent): boolean {
  return event.surfaceOp !== 'append'
}
