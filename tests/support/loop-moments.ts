/** Bringing an agent under review into the states that a note may find it in, and reading where the note then stands. */
import { onTestFinished, vi } from 'vitest'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import { SessionId } from '@deepseek-ai/dsh-session'
import { advise } from './adapter-replies.ts'
import type { Reply } from './adapter-replies.ts'
import { PROVIDER, textOf } from './loop.ts'
import type { Loop } from './loop.ts'
import type { Scene } from './loop-advised.ts'

export type Severity = 'nit' | 'concern' | 'blocker'

export const SEVERITIES: readonly Severity[] = ['nit', 'concern', 'blocker']

/** Where a note stands, in the words of the design. `waiting` is an aside that no step has taken yet. */
export type Standing = 'waiting' | 'queued' | 'card' | 'delivered' | 'withdrawn' | 'dismissed'

export interface Listed {
  readonly id: number
  readonly severity: string
  readonly age: string
  readonly standing: Standing
  /** The whole account of the state, with its reason. */
  readonly state: string
  readonly text: string
}

const STANDINGS: readonly [RegExp, Standing][] = [
  [/^waiting for the next step/, 'waiting'], [/^on its way/, 'queued'], [/^kept for the user's next message/, 'card'],
  [/^delivered/, 'delivered'], [/^withdrawn/, 'withdrawn'], [/^dismissed/, 'dismissed'],
]

/** The lines of `/advisor notes`, taken apart. */
export function readNotes(value: string): Listed[] {
  return value.split('\n').flatMap((line) => {
    const match = /^#(\d+) (\w+), (.+?) ago, (.+?): (.*)$/.exec(line)
    if (match === null) return []
    const [, id = '', severity = '', age = '', state = '', text = ''] = match
    const standing = STANDINGS.find(([words]) => words.test(state))?.[1]
    if (standing === undefined) throw new Error(`a note stands nowhere: ${line}`)
    return [{ id: Number(id), severity, age, standing, state, text }]
  })
}

export async function listed(scene: Scene, agent: Agent = scene.agent): Promise<Listed[]> {
  return readNotes(await scene.advisor('notes', agent))
}

/** How a note with this text stands. */
export async function standing(scene: Scene, text: string, agent: Agent = scene.agent): Promise<Standing | undefined> {
  return (await listed(scene, agent)).find(note => note.text.includes(text))?.standing
}

/** How often a text stands in advice that the session's log holds. */
export function timesGiven(agent: Agent, text: string): number {
  return agent.session.events
    .flatMap(event => event.type === 'user/message' && isAdvice(event.data) ? [textOf(event.data.content)] : [])
    .reduce((sum, value) => sum + value.split(text).length - 1, 0)
}

export function isAdvice(message: UserMessage): boolean {
  return (message.source as { kind: string }).kind === 'advisor'
}

/** Turns begun so far. */
export function turns(agent: Agent): number {
  return agent.session.events.filter(event => event.type === 'turn/start').length
}

/** The user presses Esc: what is queued stays queued. */
export function escape(agent: Agent): void {
  agent.cancel({ kind: 'user' }, { keepInbox: true })
}

/** Another plugin breaks the work off. */
export function breakOff(agent: Agent): void {
  agent.cancel({ kind: 'hook', reason: 'a rule of the house' }, { keepInbox: true })
}

/** Something that another plugin has to say; queued, it wakes nobody. */
export function context(value: string): UserMessage {
  return createUserMessage({ content: [{ type: 'text', text: value }], source: { kind: 'plugin', plugin: 'another' } })
}

/** A round of a goal, as the host's driver words it. */
export function goalRound(round: number): UserMessage {
  return createUserMessage({
    content: [{ type: 'text', text: `Goal round ${round}.` }],
    source: { kind: 'goal', goalId: 'g1', revision: 1, round } as never,
  })
}

/** Make the host a headless one, and hear what it says on stderr. */
export function goHeadless(loop: Loop): { readonly text: string, readonly lines: readonly string[] } {
  loop.ctx.provide('headlessStartup', { task: '' } as never)
  const written: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    written.push(String(chunk))
    return true
  })
  onTestFinished(() => spy.mockRestore())
  return {
    get text() { return written.join('') },
    get lines() { return written.join('').split('\n').filter(line => line !== '') },
  }
}

/** The request comes, is a tool call, and the next one comes; the first review is asked for and held. */
export async function underWay(scene: Scene, words = 'go'): Promise<void> {
  void scene.prompt(words)
  await scene.step(0)
  await scene.reviewer.asked(0)
}

/** A reply that raises one note. */
export function raise(text: string, severity: Severity): Reply {
  return advise(text, severity)
}

/** A subagent as the host's own driver makes one, on an agent preset if it names one. It goes down with its parent. */
export async function subagent(parent: Agent, options: { id?: string, cwd?: string, preset?: string } = {}): Promise<Agent> {
  const { id = `child-of-${parent.id}`, cwd, preset } = options
  const { agent } = await parent.ctx.agents.create({
    sessionId: SessionId(id),
    meta: {
      ...cwd === undefined ? {} : { cwd }, ...preset === undefined ? {} : { agentPreset: preset },
      parentSession: parent.session.id, origin: 'subagent', delegationDepth: 1,
    },
    agentOptions: { provider: PROVIDER, model: 'primary' },
  })
  return agent
}
