// One review of a built-in transcript, by the code that reviews sessions, with a conversation of its own. No session sees it, no
// note leaves it, and no tool is run; what it costs is the caller's to account for.

import type { GenerateOptions, StreamChunk } from '@deepseek-ai/dsh-llm'
import { orAborted, within, type Clock } from '../clock.ts'
import type { Finding } from '../finding.ts'
import type { ReviewRecord } from '../record/journal.ts'
import type { Tally } from '../record/ledger.ts'
import { Backlog, BACKLOG_LIMIT } from './backlog.ts'
import type { ModelService } from './call.ts'
import { Chat, type ChatPort } from './chat.ts'
import type { Observed, Streamed } from './check.ts'
import type { Transcript } from './check-transcripts.ts'
import { routeOf } from './model.ts'
import { toolsOver } from './tools/told-files.ts'
import type { Toolbox } from './tools/toolbox.ts'

/** What a check takes from the session it is made in. */
export interface CheckPort extends Pick<ChatPort, 'llm' | 'clock' | 'sessionId' | 'config' | 'brief' | 'hider' | 'reserve' | 'mayCall' | 'isContentFree' | 'tell' | 'debug'> {
  /** The session's own; it only says what tools there are. */
  readonly tools: Pick<Toolbox, 'offer'>
}

/** Milliseconds that a review may look things up before its last call. */
const LOOKING_MS = 120_000

/** Have a transcript reviewed, to its end, its deadline or the signal. Rejects only on a fault of ours. */
export async function runCheck(transcript: Transcript, port: CheckPort, tally: Tally, signal: AbortSignal): Promise<Observed> {
  const llm = new Gauge(port.llm, port.clock)
  const findings: Finding[] = []
  let record: ReviewRecord | undefined
  let unsafe: string | undefined
  const { cwd, task, files } = transcript
  const chat = new Chat({
    llm, clock: port.clock, sessionId: port.sessionId,
    config: port.config, brief: port.brief, hider: port.hider, reserve: port.reserve, mayCall: port.mayCall,
    isContentFree: port.isContentFree, tell: port.tell, debug: port.debug,
    route: () => routeOf(port.config()),
    tools: toolsOver(files, cwd, port.tools),
    pinned: () => ({ cwd, task, latest: task, instructions: [], notes: [], muted: [], planRules: undefined }),
    present: () => ({ entries: [], at: { number: 0, turn: 0, step: 0, final: false } }),
    stale: () => [],
    refreshed: async () => {},
    readFile: async path => files[path],
    onReconfirmed() {},
    advise(given) {
      findings.push(...given)
      return []
    },
    onReviewed(written) { record = written },
    onQuarantine(reason) { unsafe = reason },
  }, tally)
  const backlog = new Backlog()
  for (const update of transcript.updates) backlog.push(update, BACKLOG_LIMIT)
  const limitMs = LOOKING_MS + port.config().timeout * 1000
  let end: Observed['end'] = { kind: 'late', seconds: Math.round(limitMs / 1000) }
  const waited = await within(limitMs, signal, port.clock, async (over) => {
    await orAborted(chat.review(backlog, over).then((reviewed) => { if (!over.aborted) end = reviewed }), over)
  })
  if (waited === 'aborted') end = { kind: 'aborted', usage: undefined }
  return { end, record, findings, streamed: llm.streamed, unsafe }
}

/** A model service that notes how replies come in. */
class Gauge implements ModelService {
  private readonly llm: ModelService
  private readonly clock: Pick<Clock, 'now'>
  private readonly replies: Streamed[] = []

  constructor(llm: ModelService, clock: Pick<Clock, 'now'>) {
    this.llm = llm
    this.clock = clock
  }

  get streamed(): readonly Streamed[] {
    return this.replies
  }

  resolveModelInfo: ModelService['resolveModelInfo'] = (...args) => this.llm.resolveModelInfo(...args)

  listProviders: ModelService['listProviders'] = () => this.llm.listProviders()

  async * stream(options: GenerateOptions): AsyncGenerator<StreamChunk> {
    const sentAt = this.clock.now()
    let at = -1
    for await (const chunk of this.llm.stream(options)) {
      const size = sizeOf(chunk)
      if (size !== undefined) {
        const ms = this.clock.now() - sentAt
        const { firstMs = ms, pieces = 0, characters = 0 } = this.replies[at] ?? {}
        if (at < 0) at = this.replies.length
        this.replies[at] = { firstMs, lastMs: ms, pieces: pieces + 1, characters: characters + size }
      }
      yield chunk
    }
  }
}

/** Characters of a piece; none of what is no piece of a reply. */
function sizeOf(chunk: StreamChunk): number | undefined {
  if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') return chunk.text.length
  return chunk.type === 'tool-call-delta' ? chunk.argumentsDelta.length : undefined
}
