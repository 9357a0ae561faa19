// A tool registry of our own, filled by the host's own packages. Nothing in it is seen by an agent; `write` and `edit`,
// which come with `read`, are never named outside this file's packages: callers ask for `read`, `grep` and `glob` alone.

import type { Context, Plugin } from '@deepseek-ai/cordis'
import type { ToolRuntime } from '@deepseek-ai/dsh-tools'
import type {} from '@deepseek-ai/dsh-subprocess'
import { within, type Clock } from '../../clock.ts'
import { errorMessage } from '../../text.ts'
import { ANSWER_CHARS } from './answer.ts'
import { Searches } from './ripgrep.ts'

/** What it is asked for. */
export const READING = ['read', 'grep', 'glob'] as const
export type Reading = typeof READING[number]

export function isReading(name: string): name is Reading {
  return (READING as readonly string[]).includes(name)
}

/** Milliseconds until a registry that is not complete is taken as it is. */
const READY_MS = 5_000
/** More than any search returns: what is shown is decided by us, from the whole result. */
const UNLIMITED = 1_000_000
/** Characters of one line that `read` shows; prose is often one line a paragraph. */
const READ_LINE_CHARS = 2_000
/** Never reached: output is cut before the host sees it. */
const RAW_BYTES = 50_000_000
/** Milliseconds between the polite and the hard end of a search. */
const KILL_MS = 1_000

type Mount = (plugin: Plugin, config?: object) => unknown

/** Picks `count` paths that stand for all. */
export type Sample = (paths: readonly string[], count: number) => readonly string[]

export type Registry =
  | { readonly kind: 'open', readonly tools: ToolRuntime, readonly searches: Searches, readonly sample: Sample }
  | { readonly kind: 'absent', readonly reason: string }

/** By fiber: the sessions of one mount share a registry, which goes with the fiber. */
const REGISTRIES = new WeakMap<object, Promise<Registry>>()

/** The registry of this context's fiber, mounted on first use. Never rejects, and waits {@link READY_MS} at most. */
export function registryOf(ctx: Context, clock: Clock): Promise<Registry> {
  const known = REGISTRIES.get(ctx.fiber)
  if (known !== undefined) return known
  const registry = mount(ctx, clock).catch((error: unknown): Registry => ({ kind: 'absent', reason: errorMessage(error) }))
  REGISTRIES.set(ctx.fiber, registry)
  void registry.then(({ kind }) => { if (kind === 'absent') REGISTRIES.delete(ctx.fiber) })
  return registry
}

async function mount(ctx: Context, clock: Clock): Promise<Registry> {
  // A service that is not there by the time of a review is not waited for.
  if (ctx.get('fs') === undefined) return { kind: 'absent', reason: 'the host has no file service' }
  // Looked for only now: while the advisor has no tools they cost nothing, and a host without them still boots.
  const [{ default: SystemPrompt }, { default: Tools }, files, search] = await Promise.all([
    import('@deepseek-ai/dsh-system-prompt'), import('@deepseek-ai/dsh-tools'),
    import('@deepseek-ai/dsh-tool-fs'), import('@deepseek-ai/dsh-tool-fs-search'),
  ])
  const searches = new Searches(() => ctx.get('subprocess'))
  const realm = ctx.isolate('tools').isolate('systemPrompt').isolate('subprocess')
  let own: Context | undefined
  const changed = new EventTarget()
  const over = new AbortController()
  const mounting = {
    name: 'advisor-tools',
    apply(inner: Context) {
      own = inner
      inner.effect(() => () => {
        REGISTRIES.delete(ctx.fiber)
        over.abort(new Error('the advisor was unloaded'))
      }, 'advisor.tools()')
      inner.provide('subprocess', searches as never)
      inner.on('tools/change', () => { changed.dispatchEvent(new Event('change')) })
      for (const [plugin, config] of [
        [SystemPrompt, { persona: '' }], [Tools, {}],
        [files, { readMaxBytes: ANSWER_CHARS, readMaxLineLength: READ_LINE_CHARS }],
        [search, {
          sampleOverCapGlobResults: true, globMaxResults: UNLIMITED, grepMaxMatches: UNLIMITED,
          rawOutputMaxBytes: RAW_BYTES, graceMs: KILL_MS,
        }],
      ] as readonly (readonly [Plugin, object])[]) (inner.plugin as Mount)(plugin, config)
    },
  }
  ;(realm.plugin as Mount)(mounting)
  const tools = (): ToolRuntime | undefined => own?.get('tools')
  const isComplete = () => READING.every(name => tools()?.get(name) !== undefined)
  await within(READY_MS, over.signal, clock, signal => new Promise((resolve) => {
    const look = () => { if (isComplete() || signal.aborted) resolve() }
    changed.addEventListener('change', look, { signal })
    signal.addEventListener('abort', look, { once: true })
    look()
  }))
  const runtime = tools()
  if (runtime === undefined) throw new Error('the host\'s tool packages did not start')
  return { kind: 'open', tools: runtime, searches, sample: (paths, count) => search.sampleAcrossTopLevel([...paths], count).items }
}
