// What this plugin asks of the host around it: is it headless, has everything been mounted, what is a row called.

import { AsyncLocalStorage } from 'node:async_hooks'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { expandHome } from './paths.ts'
import { printable } from './text.ts'

/** The host's service that only a headless run has. */
const HEADLESS_SERVICE = 'headlessStartup'

/** Lines kept for a headless run that has not declared itself yet: the host's rows mount side by side, and ours may be first. */
const EARLY_LINES = 20

/** dsh-TUI's one-line notice, where that front end runs. */
interface Toasts {
  show(text: string, options: { color: 'warning' | 'error', timeoutMs: number }): boolean
}

/** The longest that dsh-TUI leaves a toast, in milliseconds. */
const TOAST_MS = 12_000

/** The part of the host's loader that is used; a host without one has mounted everything already. */
interface Loader {
  await(): Promise<void>
  locate(fiber: unknown): string | undefined
}

/** The host as this plugin sees it. */
export interface Host {
  /** A one-shot run, whose process ends with the answer. */
  readonly headless: boolean
  /** Say one thing to the user: on stderr in a headless run, elsewhere as a toast where there is one, and in the log. Never on stdout. */
  tell(text: string): void
  /** Show something to a user at a screen; it stands elsewhere too, so it may be missed. */
  show(text: string, color: 'warning' | 'error'): void
  /** Keep the record of a fault of ours that was contained. */
  report(error: unknown): void
  /** For the host's log. */
  debug(line: string): void
  /** Let work go on by itself; its failure is reported. */
  background(work: Promise<unknown>): void
  /** Run something once all rows of the host are mounted, unless this plugin is gone by then. */
  whenSettled(work: () => void): void
  /** Name of the row that owns this plugin. */
  readonly row: string
}

/** Look at the host from a plugin's context. */
export function hostOf(ctx: Context): Host {
  let early: string[] = []
  // Remembered: at the end of a run the service goes before we have said everything.
  let seen = false
  const isHeadless = () => seen ||= ctx.get(HEADLESS_SERVICE) !== undefined
  const loader = () => ctx.get('loader') as Loader | undefined
  ctx.inject([HEADLESS_SERVICE], () => {
    seen = true
    for (const text of early) toStderr(text)
    early = []
  })
  let gone = false
  ctx.effect(() => () => { gone = true }, 'advisor.host()')
  const report = (error: unknown) => { ctx.logger.error(error) }
  // dsh-TUI refuses calls that come out of another plugin's asynchronous chain.
  const inOwnScope = AsyncLocalStorage.snapshot()
  const show = (text: string, color: 'warning' | 'error') => {
    try {
      inOwnScope(() => { (ctx.get('tuiToast') as Toasts | undefined)?.show(`advisor: ${printable(text)}`, { color, timeoutMs: TOAST_MS }) })
    } catch (error) {
      report(error)
    }
  }
  return {
    get headless() { return isHeadless() },
    tell(text) {
      if (isHeadless()) return toStderr(text)
      ctx.logger.warn(`advisor: ${text}`)
      show(text, 'warning')
      early = [...early, text].slice(-EARLY_LINES)
    },
    show,
    report,
    debug(line) { ctx.logger.debug(`advisor: ${line}`) },
    background(work) { work.catch(report) },
    whenSettled(work) {
      // A host that fails to load says so itself.
      Promise.resolve(loader()?.await()).catch(() => {}).then(() => { if (!gone) work() }).catch(report)
    },
    get row() { return loader()?.locate(ctx.fiber) ?? 'advisor' },
  }
}

/** The folder of the host's own files, absolute: `$DSH_HOME`, or `.dsh` in the user's home. As the host itself resolves it. */
export function dshHome(env: Readonly<Record<string, string | undefined>>): string {
  return resolve(expandHome(env.DSH_HOME?.trim() ? env.DSH_HOME : '~/.dsh', homedir()))
}

/** Lines on their way to stderr, which one listener watches over: many at once would look like a leak of listeners. */
let writing = 0
const ignore = () => {}

/** A stderr that is closed or full must not cost the run its answer. */
function toStderr(text: string): void {
  if (writing++ === 0) process.stderr.on('error', ignore)
  const done = () => { if (--writing === 0) process.stderr.off('error', ignore) }
  try {
    // The error of a failed write is emitted behind its callback.
    process.stderr.write(`dsh-advisor: ${printable(text)}\n`, () => { setImmediate(done) })
  } catch {
    done()
  }
}

/** Path of a session's own log, where the host keeps it in a file. */
export function sessionLog(ctx: Context, { session }: Agent): string | undefined {
  const store = ctx.get('sessionPersistence') as SessionStore | undefined
  return store?.locate(session.header)?.path
}

/** The part of the host's session store that is used; one in a database locates nothing. */
interface SessionStore {
  locate(header: Agent['session']['header']): { readonly path: string } | undefined
}
