// The published web host as a child process, spoken to over the wire as its page does: a user who stops, sends and runs commands.
// One host serves a whole file; each session has its own scripts and its own record of calls.

import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'
import { createHost, type Host, type PatchRow } from '../support/host.ts'
import { empty, startModelServer, text } from '../support/model-server.ts'
import type { ModelRequest, Script } from '../support/model-server.ts'
import { poll } from '../support/poll.ts'
import { Line } from './moments-line.ts'

const BOOT_POLLS = 20_000
/** The host gives itself 5 s. */
const SHUTDOWN_MS = 15_000
const WAIT = { timeout: 20_000, interval: 20 }
/** What the plugin adds to a session's id to name the reviewer's calls, those of a check too. */
const REVIEWER_SUFFIX = '-advisor(?:-check)?'

/** One entry of a session's log, as the wire carries it. */
export interface LoggedEvent { type: string, seq: number, data: Record<string, unknown> }

export interface Web extends AsyncDisposable {
  host: Host
  /** Opens a session in the host's `work` folder. Without a script, a role's calls are held until the test answers them. */
  open(scripts?: { primary?: Script, reviewer?: Script }, options?: { preset?: string }): Promise<WebSession>
  /** Writes the user's settings of the advisor, as the settings page does. They count from the next moment on. */
  configure(section: object): Promise<void>
  /** What the host printed so far. */
  stdout(): string
  /** Stops the host and deletes its folders. Returns what it wrote to stderr. */
  close(): Promise<string>
}

export interface WebSession {
  id: string
  primary: Line
  reviewer: Line
  /** A message of the user; `steer` enters a running turn, `queue` waits for its end. */
  prompt(content: string, mode?: 'queue' | 'steer'): Promise<void>
  /** The stop button. Returns when the agent is at rest. */
  stop(): Promise<void>
  /** Any command line, and what its row says. */
  command(line: string): Promise<{ kind: string, text: string }>
  /** `/advisor` with these words; a refusal throws. */
  advisor(words: string): Promise<string>
  /** Resolves when so many reviews have been taken in. */
  reviewed(count: number): Promise<void>
  isRunning(): Promise<boolean>
  /** Resolves when the agent is idle. */
  rest(): Promise<void>
  events(): Promise<LoggedEvent[]>
  /** Turns begun so far. */
  turns(): Promise<number>
}

/** Installs the plugin in a web profile and boots the host; `advisor` is the section of `settings.yaml`. */
export async function startWeb(options: { tarball: string, advisor: object, patch?: PatchRow[], prepare?: (host: Host) => void }): Promise<Web> {
  const sessions = new Map<string, WebSession>()
  const server = await startModelServer({ primary: forSession('primary'), reviewer: forSession('reviewer') })
  const host = await createHost({ tarball: options.tarball, profile: 'web', server }).catch(async (error: unknown) => {
    await server.close()
    throw error
  })
  host.settings({ advisor: options.advisor })
  if (options.patch !== undefined) host.patch(options.patch)
  options.prepare?.(host)
  const stopping = new AbortController()
  let printed = ''
  const running = host.dsh(['web', '--no-open', '--port', '0'], {
    signal: stopping.signal, timeoutMs: 300_000, onStdout: (data) => { printed += data },
  })
  let over: string | undefined
  void running.then(({ code, stderr }) => { over = `the host ended with ${code}\n${stderr}` })
  const booted = poll(() => over ?? /http:\S+/.exec(printed)?.[0], () => 'the host names no address', BOOT_POLLS)
  const baseURL = await booted.catch(String)
  if (over !== undefined || !baseURL.startsWith('http:')) {
    await close()
    throw new Error(over ?? baseURL)
  }

  function forSession(role: 'primary' | 'reviewer'): Script {
    return (request, index) => {
      const session = sessions.get(sessionOf(request))
      // A session of which no test knows, such as a subagent's.
      if (session === undefined) return role === 'primary' ? text('answer') : empty()
      return session[role].reply(request, index)
    }
  }

  async function close(): Promise<string> {
    stopping.abort()
    await Promise.race([running, sleep(SHUTDOWN_MS, undefined, { ref: false })])
    // Kills what has not stopped by then.
    await host.dispose()
    await server.close()
    return (await running).stderr
  }

  async function call(method: string, payload: object): Promise<Record<string, any>> {
    const response = await fetch(`${baseURL}/api/${method}`, {
      method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'client-request', rpcId: `${method}-${performance.now()}`, method, payload }),
    })
    const { result } = await response.json() as { result: { ok: boolean, value: Record<string, any>, error?: unknown } }
    if (!result.ok) throw new Error(`${method}: ${JSON.stringify(result.error)}`)
    return result.value
  }

  async function open(scripts: { primary?: Script, reviewer?: Script } = {}, { preset }: { preset?: string } = {}): Promise<WebSession> {
    const { sessionId: id } = await call('session.create', { cwd: host.work, ...preset === undefined ? {} : { agentPreset: preset } })
    const session: WebSession = {
      id, primary: new Line(scripts.primary), reviewer: new Line(scripts.reviewer),
      prompt: async (content, mode = 'queue') => {
        await call('session.prompt', { sessionId: id, mode, content: [{ type: 'text', text: content }] })
      },
      stop: async () => {
        await call('session.cancel', { sessionId: id })
        await session.rest()
      },
      command: async line => (await call('commands/execute', { args: { agentId: id, line, images: [] } }))['result'],
      advisor: async (words) => {
        const { kind, text: said } = await session.command(`/advisor ${words}`)
        if (kind !== 'success') throw new Error(said)
        return said
      },
      reviewed: async (count) => {
        await vi.waitUntil(async () => (await session.advisor('status')).includes(`\nReviews: ${count} `), WAIT)
      },
      isRunning: async () => {
        const { items } = await call('session.list', {})
        return items.find((item: { sessionId: string }) => item.sessionId === id).running
      },
      rest: async () => void await vi.waitUntil(async () => !await session.isRunning(), WAIT),
      events: async () => {
        const { events } = await call('session.history', { sessionId: id, maxMessages: 1000 })
        return events.map(({ event }: { event: LoggedEvent }) => event)
      },
      turns: async () => (await session.events()).filter(event => event.type === 'turn/start').length,
    }
    sessions.set(id, session)
    return session
  }

  return {
    host, open, close, stdout: () => printed,
    configure: async section => void await call('settings.replace', { ns: 'advisor', section }),
    [Symbol.asyncDispose]: async () => void await close(),
  }
}

/** Which session a call is made for; a reviewer's bears the name of the session it reviews. */
function sessionOf(request: ModelRequest): string {
  return String(request.headers['x-deepseek-harness-session-id']).replace(new RegExp(`${REVIEWER_SUFFIX}$`), '')
}
