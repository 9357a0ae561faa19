// Both sides of a model call in the hands of a test: wait until the host asks, look at what it asked, say what it hears.

import { messageText, startModelServer } from '../support/model-server.ts'
import type { ModelRequest, ModelServer, Reply, Script, ToolCall } from '../support/model-server.ts'
import { poll } from '../support/poll.ts'

/** Long enough for a host that is still booting on a busy machine. */
const POLLS = 20_000

/** The calls of one role in one session. Without a script, each call is held until the test answers it. */
export class Line {
  /** In order of arrival. */
  readonly requests: ModelRequest[] = []
  private readonly script: Script | undefined
  private readonly replies = new Map<number, PromiseWithResolvers<Reply>>()

  constructor(script?: Script) {
    this.script = script
  }

  /** For the model server. */
  readonly reply: Script = (request) => {
    const index = this.requests.push(request) - 1
    return this.script === undefined ? this.held(index).promise : this.script(request, index)
  }

  /** Decide a held call, before or after it comes. */
  answer(index: number, reply: Reply): void {
    this.held(index).resolve(reply)
  }

  /** The call with this number, once the host has made it. */
  async asked(index: number): Promise<ModelRequest> {
    return poll(() => this.requests[index], () => `${this.requests.length} calls, waiting for number ${index}`, POLLS)
  }

  /** The same call, once its reply is over. */
  async ended(index: number): Promise<ModelRequest> {
    const request = await this.asked(index)
    await poll(() => request.endedAt, () => `call ${index} has no end`, POLLS)
    return request
  }

  private held(index: number): PromiseWithResolvers<Reply> {
    const known = this.replies.get(index)
    if (known !== undefined) return known
    const fresh = Promise.withResolvers<Reply>()
    this.replies.set(index, fresh)
    return fresh
  }
}

/** The server of a headless run, with both roles in the test's hands. */
export async function startLines(scripts: { primary?: Script, reviewer?: Script } = {}): Promise<ModelServer & { primary: Line, reviewer: Line }> {
  const [primary, reviewer] = [new Line(scripts.primary), new Line(scripts.reviewer)]
  return { ...await startModelServer({ primary: primary.reply, reviewer: reviewer.reply }), primary, reviewer }
}

/** A call of the shell tool that leaves everything as it is. */
export function bash(command: string): ToolCall {
  return { name: 'bash', arguments: { command, description: 'A step' } }
}

/** The texts of the user's side of a request, oldest first. */
export function userTexts(request: ModelRequest | undefined): string[] {
  return request?.body.messages.filter(message => message.role === 'user').map(messageText) ?? []
}

export function lastText(request: ModelRequest | undefined): string {
  return messageText(request?.body.messages.at(-1))
}

/** Every note in a request, as `severity: text`, oldest message first. */
export function notes(request: ModelRequest | undefined): string[] {
  return userTexts(request).flatMap(content => [...content.matchAll(/^\[advisor:(\w+)\] ([\s\S]*?)\n<\/advisory>/gm)])
    .map(([, severity, note]) => `${severity}: ${note}`)
}

/** What a tool call was told, by position in the request. */
export function toolResults(request: ModelRequest | undefined): string[] {
  return request?.body.messages.filter(message => message.role === 'tool').map(messageText) ?? []
}

/** Milliseconds between the end of one call and the arrival of another. */
export function gap(from: ModelRequest | undefined, to: ModelRequest | undefined): number {
  return (to?.arrivedAt ?? Infinity) - (from?.endedAt ?? -Infinity)
}
