// The tools of one session's reviewers: what there is of them, and one call run to its end. It reads inside the session's
// folder and asks the session for the rest. It never throws, and never waits without a bound.

import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { CallId, type ToolSchema } from '@deepseek-ai/dsh-llm'
import type { ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import type { Clock } from '../../clock.ts'
import { errorMessage } from '../../text.ts'
import {
  broken, failed, showFiles, showMatches, showRead, type Match, type ReadWindow, type SearchReport, type ToolAnswer,
} from './answer.ts'
import { locate, showPath, type Disk, type Root } from './confine.ts'
import { withDeadline } from './deadline.ts'
import { GrantedTools } from './granted.ts'
import { isReading, registryOf, type Reading, type Registry } from './registry.ts'
import { Search } from './ripgrep.ts'
import { fitArguments, parseArguments, shapeOf, tellOf } from './schemas.ts'

export type { ToolAnswer } from './answer.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** Raw JSON, as the model wrote it. */
  readonly arguments: string
}

export interface Offer {
  /** In the order of the names asked for, each once. */
  readonly schemas: readonly ToolSchema[]
  /** Names that are nobody's, as they were asked for. */
  readonly unknown: readonly string[]
  /** Why tools that should be there are not, for the user. */
  readonly trouble?: string
}

/** The tools one session's reviewers may use. Opened once per session; closes with its context. */
export interface Toolbox {
  /**
   * What of `names` exists for this agent. Waits (bounded) until the registry is ready.
   * `search` and `find` are other names of `grep` and `glob`.
   */
  offer(names: readonly string[]): Promise<Offer>
  /** Run one call, to its end, its deadline or the signal. Only names in `granted` run. Never throws. */
  run(call: ToolCall, granted: readonly string[], signal: AbortSignal): Promise<ToolAnswer>
}

/** Milliseconds for a look into files. A search ends a little earlier, and says what it has found. */
export const READING_MS = 20_000
export const SEARCH_MS = 15_000
/** Characters of ripgrep's output that are read; a match takes some 250, a path some 60. */
const OUTPUT_CHARS = { read: 0, grep: 300_000, glob: 600_000 } as const
/** Milliseconds for a tool of the session, the user's answer included. */
export const GRANTED_MS = 120_000

const ALIASES: Readonly<Record<string, string>> = { search: 'grep', find: 'glob' }

const DISK: Disk = { path, realpath }

export function openToolbox(ctx: Context, agent: Agent, clock: Clock): Toolbox {
  return new SessionToolbox(ctx, agent, clock)
}

type OpenRegistry = Extract<Registry, { kind: 'open' }>

class SessionToolbox implements Toolbox {
  private readonly ctx: Context
  private readonly agent: Agent
  private readonly clock: Clock
  private readonly session: GrantedTools

  constructor(ctx: Context, agent: Agent, clock: Clock) {
    this.ctx = ctx
    this.agent = agent
    this.clock = clock
    this.session = new GrantedTools(ctx, agent)
  }

  async offer(names: readonly string[]): Promise<Offer> {
    const wanted = [...new Set(names.map(canonical))]
    const troubles = new Set<string>()
    const found = new Map<string, ToolSchema>()
    const note = (error: unknown) => { troubles.add(errorMessage(error)) }
    const own = wanted.filter(isReading)
    if (own.length > 0) {
      const registry = await this.open()
      if (registry.kind === 'absent') troubles.add(registry.reason)
      else for (const name of own) {
        const schema = this.schemaOf(name, registry)
        if (schema === undefined) troubles.add(`the host does not provide "${name}"`)
        else found.set(name, tellOf(name, schema))
      }
    }
    const others = wanted.filter(name => !isReading(name))
    for (const schema of await this.session.schemas(others).catch((error: unknown) => { note(error); return [] })) found.set(schema.name, schema)
    const schemas = wanted.flatMap(name => found.get(name) ?? [])
    const unknown = [...new Set(names)].filter(name => !found.has(canonical(name)) && !isReading(canonical(name)))
    return { schemas, unknown, ...troubles.size === 0 ? {} : { trouble: [...troubles].join('; ') } }
  }

  async run(call: ToolCall, granted: readonly string[], signal: AbortSignal): Promise<ToolAnswer> {
    try {
      const name = canonical(call.name)
      const allowed = [...new Set(granted.map(canonical))]
      if (!allowed.includes(name)) return failed('not run', `there is no tool "${call.name}" here; there ${allowed.length === 0 ? 'are none' : `is ${allowed.join(', ')}`}`)
      const args = parseArguments(call.arguments)
      if (args.kind === 'bad') return failed('not run', args.reason)
      if (!isReading(name)) {
        return await withDeadline(GRANTED_MS, this.clock, signal, inner => this.session.run(call.id, name, args.value, inner))
      }
      // With tools of the session at hand, what the reviewer has read counts for the reviewer's own edits.
      const caller = allowed.every(isReading) ? undefined : await this.session.caller()
      return await withDeadline(READING_MS, this.clock, signal, inner => this.look(call.id, name, args.value, caller, inner))
    } catch (error) {
      return broken(error)
    }
  }

  /** `read`, `grep` or `glob`, inside the folder of the session. */
  private async look(
    id: string, name: Reading, given: Record<string, unknown>, caller: Agent | undefined, signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const registry = await this.open()
    const schema = registry.kind === 'open' ? this.schemaOf(name, registry) : undefined
    if (registry.kind === 'absent' || schema === undefined) return failed('not run', `no "${name}" here${registry.kind === 'absent' ? `: ${registry.reason}` : ''}`)
    const args = fitArguments(given, shapeOf(schema))
    if (args.kind === 'bad') return failed('not run', args.reason)
    const root = await this.root()
    if (root === undefined) return failed('not run', 'no tools here: the session\'s working folder is unknown or gone')
    const asked = args.value[name === 'read' ? 'file_path' : 'path'] ?? '.'
    const place = await locate(String(asked), root, DISK)
    if (place.kind !== 'inside') return failed(place.kind === 'refused' ? 'refused' : 'failed', place.reason)
    const kind = await kindOf(place.real)
    if (kind === 'other') return failed('refused', `"${place.shown}" is neither a file nor a folder`)
    if (name === 'read' && kind === 'folder') return failed('failed', `"${place.shown}" is a folder; glob lists its files`)
    if (name === 'glob' && kind === 'file') return failed('failed', `"${place.shown}" is a file, not a folder`)
    const search = new Search(kind === 'folder' ? place.real : path.dirname(place.real), OUTPUT_CHARS[name])
    const end = new AbortController()
    void this.clock.sleep(SEARCH_MS, AbortSignal.any([end.signal, signal])).then(() => { if (!end.signal.aborted && !signal.aborted) search.stop('time') })
    try {
      const result = await registry.searches.within(search, () => registry.tools.execute({
        callId: CallId(`advisor-${id}`), name, signal, agent: caller ?? readerAt(root),
        arguments: { ...args.value, [name === 'read' ? 'file_path' : 'path']: place.real },
      }))
      if (result.isError) return failed('failed', plain(result, root))
      return show(name, result.value, place.shown, root, registry, {
        ended: search.ended, seconds: SEARCH_MS / 1000, files: search.files,
        unread: search.unread.map(line => line.replaceAll(root.real + path.sep, '')),
        long: search.long.map(file => showPath(root.real, path.resolve(root.real, file), path)),
      })
    } finally {
      end.abort()
      search.close()
    }
  }

  private open(): Promise<Registry> {
    return this.agent.session.header.cwd === undefined
      ? Promise.resolve({ kind: 'absent', reason: 'the session has no working folder' })
      : registryOf(this.ctx, this.clock)
  }

  private schemaOf(name: Reading, registry: OpenRegistry): ToolSchema | undefined {
    if (name !== 'read' && this.ctx.get('subprocess') === undefined) return undefined
    return registry.tools.get(name)
  }

  private async root(): Promise<Root | undefined> {
    const named = this.agent.session.header.cwd
    const real = named === undefined ? undefined : await realpath(named).catch(() => undefined)
    return named === undefined || real === undefined ? undefined : { named, real }
  }
}

function canonical(name: string): string {
  return ALIASES[name] ?? name
}

/** A caller without identity: only the folder is known of it, and nothing is remembered. */
function readerAt(root: Root): Agent {
  return { session: { header: { cwd: root.real } } } as unknown as Agent
}

async function kindOf(real: string): Promise<'file' | 'folder' | 'other'> {
  const info = await stat(real)
  return info.isFile() ? 'file' : info.isDirectory() ? 'folder' : 'other'
}

function show(name: Reading, value: unknown, shown: string, root: Root, registry: OpenRegistry, report: SearchReport): ToolAnswer {
  const relative = (found: string) => showPath(root.real, path.resolve(root.real, found), path)
  if (name === 'read') return showRead({ ...value as ReadWindow, path: shown })
  if (name === 'grep') return showMatches((value as { matches: Match[] }).matches.map(match => ({ ...match, path: relative(match.path) })), report)
  return showFiles((value as { paths: string[] }).paths.map(relative), report, registry.sample)
}

/** A host's error in the words of the workspace. */
function plain({ content, error }: ToolExecutionResult & { isError: true }, root: Root): string {
  const message = error.message || content.map(block => block.type === 'text' ? block.text : '').join('\n')
  const said = /\b(?:EACCES|EPERM)\b/.test(message) ? `no permission: ${message}` : message
  return said.replaceAll(root.real + path.sep, '').replaceAll(root.real, '.')
}
