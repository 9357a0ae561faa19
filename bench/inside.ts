// A host in this process: the real agent loop, sessions and events, a provider that answers at once, and the built plugin.

import type { Fiber } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { CallId, createAssistantMessage, createToolResultMessage, createUserMessage } from '@deepseek-ai/dsh-llm'
import type { Session } from '@deepseek-ai/dsh-session'
import { createLoop, type Loop } from '../tests/support/loop.ts'
import { FastAdapter, PROVIDER, type Speaker } from './fast-adapter.ts'
import { loadPlugin } from './lab.ts'

/** Not mounted; mounted but switched off; reviewing. */
export type Presence = 'absent' | 'off' | 'on'

export interface InsideOptions {
  readonly presence: Presence
  readonly primary?: Speaker
  /** Answers reviews; the request for a summary is answered for it. */
  readonly reviewer?: Speaker
  /** More of the plugin's configuration. */
  readonly config?: object
}

export interface Inside extends AsyncDisposable {
  readonly loop: Loop
  /** The plugin's fiber, unless absent. */
  readonly plugin: Fiber | undefined
  agent(): Promise<Agent>
}

const silence: Speaker = () => ({ kind: 'nothing' })

export async function createInside({ presence, primary = silence, reviewer = silence, config }: InsideOptions): Promise<Inside> {
  const loop = await createLoop({ fs: true, script: { primary: () => { throw new Error('the scripted provider is not used here') } } })
  loop.ctx.llm.registerAdapter([PROVIDER], new FastAdapter({ primary, reviewer: summingUp(reviewer) }))
  const plugin = presence === 'absent' ? undefined
    : await loop.mount(await loadPlugin(), { enabled: presence === 'on', provider: PROVIDER, model: 'reviewer', ...config })
  return {
    loop, plugin,
    agent: () => loop.agent({ provider: PROVIDER, model: 'primary' }),
    [Symbol.asyncDispose]: () => loop.dispose(),
  }
}

/** What every reviewer answers that is asked to sum up its conversation; its speaker is not asked. */
const SUMMARY = 'The agent reads its notes one after the other.\n'.repeat(40)
const SUMMARY_ASKED = 'Your conversation has grown long'

function summingUp(reviewer: Speaker): Speaker {
  return (options) => {
    const [block] = options.messages.at(-1)?.content ?? []
    const isSummary = block?.type === 'text' && block.text.startsWith(SUMMARY_ASKED)
    return isSummary ? { kind: 'text', text: SUMMARY } : reviewer(options)
  }
}

/** Open a turn in the log, as a prompt of the user does. */
export function openTurn(session: Session): void {
  session.append('turn/start', { turn: 1 })
  const prompt = createUserMessage({ content: [{ type: 'text', text: 'Read every note.' }], source: { kind: 'user' } })
  session.append('user/message', prompt, { surfaceOp: 'append' })
}

/**
 * Let a step of the primary stand in the log: its chunks, one `read`, the result, its end; five events and the chunks.
 * @returns when the append of `step/end` began, on the `performance.now()` clock.
 */
export function appendStep(session: Session, step: number, chunks: number): number {
  const at = { turn: 1, step }
  const callId = CallId(`c${step}`)
  const path = `notes/f${step}.txt`
  const args = JSON.stringify({ file_path: path })
  session.append('step/start', at)
  for (let index = 0; index < chunks; index += 1) appendChunk(session, step)
  const message = createAssistantMessage({
    content: [
      { type: 'text', text: `I read the note ${path}.` },
      { type: 'tool-call', id: callId, name: 'read', arguments: args },
    ],
    source: { provider: PROVIDER, model: 'primary' },
  })
  session.append('assistant/message', { ...at, message }, { surfaceOp: 'append' })
  session.append('tool/call', { ...at, callId, name: 'read', arguments: args })
  const result = createToolResultMessage({ callId, content: [{ type: 'text', text: noteText(step) }], isError: false })
  session.append('tool/result', { ...at, message: result }, { surfaceOp: 'append' })
  const start = performance.now()
  session.append('step/end', at)
  return start
}

export function appendChunk(session: Session, step: number): void {
  session.append('assistant/chunk', { turn: 1, step, chunk: { type: 'text-delta', index: 0, text: 'some words ' } })
}

/** 200 bytes, different at each step. */
function noteText(step: number): string {
  return `Note of step ${step}, a line.`.padEnd(24, '.').slice(0, 24).concat('\n').repeat(8)
}
