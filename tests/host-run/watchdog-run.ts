// A repository with WATCHDOG files on the real host, and a model server that tells the advisors of a session apart: several may
// share one model, so the session that a call names says whose it is.

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createHost, type Host, type HostOptions, type RunResult } from '../support/host.ts'
import { empty, messageText, REVIEWER_MODEL, startModelServer, text, toolCalls } from '../support/model-server.ts'
import type { ModelRequest, ModelServer, Reply, Script, ToolCall } from '../support/model-server.ts'

/** With catch-up, so that every step is reviewed by itself and before the next one. */
const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, syncBacklog: 1, immuneTurns: 0, evidence: 'off' }

/** What the plugin puts between a session's id and an advisor's slug; the advisor of the settings has none. */
const ADVISOR = /-advisor(?:-(?<slug>.+))?$/

export interface RosterScripts {
  /** Default: one answer. */
  agent?: Script
  /** By slug, '' for the advisor of the settings; all others are silent. `index` counts the calls of that advisor. */
  advisors?: Readonly<Record<string, Script>>
}

export interface RosterServer extends ModelServer {
  /** Calls of the agent, in order of arrival. */
  agent: ModelRequest[]
  /** Calls of one advisor, in order of arrival. */
  by(slug: string): ModelRequest[]
  /** Slugs of the advisors that called, sorted. */
  slugs(): string[]
}

/** Starts a server whose scripts are given by advisor. */
export async function startRoster({ agent = () => text('answer'), advisors = {} }: RosterScripts = {}): Promise<RosterServer> {
  const agentCalls: ModelRequest[] = []
  const calls = new Map<string, ModelRequest[]>()
  const reply = (request: ModelRequest): Reply | Promise<Reply> => {
    const slug = slugOf(request)
    if (slug === undefined) return agent(request, agentCalls.push(request) - 1)
    const own = calls.get(slug) ?? []
    calls.set(slug, own)
    return (advisors[slug] ?? (() => empty()))(request, own.push(request) - 1)
  }
  const server = await startModelServer({ primary: reply, reviewer: reply })
  return { ...server, agent: agentCalls, by: slug => calls.get(slug) ?? [], slugs: () => [...calls.keys()].sort() }
}

/** A host and one repository in the home folder of its user, as repositories lie on a user's machine. */
export interface Ground {
  host: Host
  home: string
  repo: string
  /** Clears the user's files, and makes the repository anew. */
  clear(): void
  /** One run in the repository, or in a folder of it, with what its models were asked. `advisor` is added to the settings. */
  run(scripts: (server: () => RosterServer) => RosterScripts, options?: GroundRunOptions): Promise<RunResult & { server: RosterServer }>
  dispose(): Promise<void>
}

export interface GroundRunOptions {
  advisor?: object
  folder?: string
  /** As the host's launcher takes it. */
  through?: readonly string[]
}

export async function createGround(options: HostOptions): Promise<Ground> {
  const host = await createHost(options)
  const home = host.env()['HOME']!
  const repo = join(home, 'repo')
  return {
    host, home, repo,
    clear() {
      for (const name of ['WATCHDOG.md', 'WATCHDOG.yml', 'rules']) rmSync(join(host.home, name), { recursive: true, force: true })
      rmSync(repo, { recursive: true, force: true })
      mkdirSync(repo)
      execFileSync('git', ['init', '--quiet'], { cwd: repo })
    },
    async run(scripts, { advisor = {}, folder = '', ...launch } = {}) {
      host.settings({ advisor: { ...ON, ...advisor } })
      await using server: RosterServer = await startRoster(scripts(() => server))
      return { ...await host.run('Clean up', { server, cwd: join(repo, folder), ...launch }), server }
    },
    dispose: () => host.dispose(),
  }
}

/** An agent that makes these steps, and then answers. */
export function steps(...calls: ToolCall[]): Script {
  return (_, index) => index < calls.length ? toolCalls([calls[index]!]) : text('answer')
}

/** Whose call it is; none for the agent's own. */
function slugOf({ headers }: ModelRequest): string | undefined {
  const match = ADVISOR.exec(String(headers['x-deepseek-harness-session-id']))
  return match === null ? undefined : match.groups?.['slug'] ?? ''
}

/** The system prompt of a call. */
export function systemOf(request: ModelRequest | undefined): string {
  return messageText(request?.body.messages[0])
}

/** Writes files below a folder. */
export function write(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

/** A roster file with these entries. */
export function roster(...entries: object[]): string {
  return JSON.stringify({ advisors: entries }, null, 2)
}
