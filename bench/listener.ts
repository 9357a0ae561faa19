// The cost of listening: 50,000 `assistant/chunk` events through a real session, with the advisor on, off, absent, and
// with a listener that reads the session's event list at each event.

import type { Context, Fiber } from '@deepseek-ai/cordis'
import type { Session, SessionEvent } from '@deepseek-ai/dsh-session'
import type { BudgetRow } from './budget.ts'
import { appendChunk, createInside, openTurn, type Presence } from './inside.ts'
import { collectGarbage, cpuNow } from './measure.ts'
import { number, printNote, printTable, ratio } from './table.ts'

const EVENTS = 50_000
const REPEATS = 5

type Callback = (session: Session, event: SessionEvent) => unknown

interface Timing {
  /** Milliseconds of processor time for all events, append included. */
  readonly total: number
  /** Listeners on `session/event` besides the host's own. */
  readonly listeners: number
  /** Nanoseconds of those listeners alone for one event, cordis' wrapper around each included. NaN where it says nothing. */
  readonly alone: number
}

const readsTheList: Callback = session => session.events.length
const doesNothing: Callback = () => {}

/** What listens in each row; the naive listener is quadratic and gets one run. */
const CASES = {
  'absent': () => timed('absent'),
  'off': () => timed('off'),
  'on': () => timed('on'),
  'an empty listener': () => timed('absent', doesNothing),
  'a naive listener, reads session.events': () => timed('absent', readsTheList),
}
const NAIVE = 'a naive listener, reads session.events'

export async function listener(): Promise<readonly BudgetRow[]> {
  await timed('on')
  const runs = new Map<string, Timing[]>()
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const [name, run] of Object.entries(CASES)) {
      if (name !== NAIVE || repeat === 0) runs.set(name, [...runs.get(name) ?? [], await run()])
    }
  }
  const of = (name: keyof typeof CASES, pick: (timing: Timing) => number) => Math.min(...(runs.get(name) ?? []).map(pick))
  // The best of the repeats: collections and a shared cache only ever add.
  const absent = of('absent', run => run.total)
  const rows = (Object.keys(CASES) as (keyof typeof CASES)[]).map((name) => {
    const [total, alone] = [of(name, run => run.total), of(name, run => run.alone)]
    const inAll = number(alone * EVENTS / 1e6, 1)
    return [name, of(name, run => run.listeners), number(total, 1), ratio(total, absent), number(alone), inAll]
  })
  printTable(`${number(EVENTS)} events of type assistant/chunk, processor time, best of ${REPEATS} runs`,
    ['advisor', 'listeners', 'append and publish, ms', 'ratio', 'listener alone, ns an event', 'alone, ms in all'], rows)
  printNote('an empty listener shows the host\'s part: cordis wraps every listener in a proxy')
  const [on, empty] = [of('on', run => run.alone), of('an empty listener', run => run.alone)]
  return [
    {
      what: 'event listener, advisor on', bound: 'under 1 µs an event',
      measured:
        `${number(Math.max(0, on - empty) / 1000, 2)} µs more than an empty one (${number(on / 1000, 2)} µs with the host's wrapper)`,
      met: on - empty < 1000,
    },
    {
      what: 'event listener, advisor off', bound: 'nothing at all',
      measured: `${of('off', run => run.listeners)} listeners`, met: of('off', run => run.listeners) === 0,
    },
  ]
}

async function timed(presence: Presence, extra?: Callback): Promise<Timing> {
  await using inside = await createInside({ presence })
  const { ctx } = inside.loop
  const { session } = await inside.agent()
  const before = callbacksOf(ctx)
  if (extra !== undefined) ctx.on('session/event', extra)
  openTurn(session)
  collectGarbage()
  const start = cpuNow()
  for (let index = 0; index < EVENTS; index += 1) appendChunk(session, 1)
  const total = cpuNow() - start
  const callbacks = extra === undefined ? callbacksOf(ctx, inside.plugin)
    : callbacksOf(ctx).filter(callback => !before.includes(callback))
  if (extra === readsTheList) return { total, listeners: callbacks.length, alone: NaN }
  const chunks = session.events.filter(event => event.type === 'assistant/chunk')
  const again = cpuNow()
  for (const event of chunks) for (const callback of callbacks) callback(session, event)
  const alone = (cpuNow() - again) * 1e6 / EVENTS
  return { total, listeners: callbacks.length, alone: callbacks.length === 0 ? NaN : alone }
}

/** The `session/event` listeners, all of them or those of a fiber and of what is below it. */
function callbacksOf(ctx: Context, ...of: readonly (Fiber | undefined)[]): Callback[] {
  const hooks = [...ctx.events._hooks['session/event'] ?? []]
  return hooks.filter(hook => of.every(fiber => isWithin(hook.ctx.fiber, fiber))).map(hook => hook.callback as Callback)
}

function isWithin(fiber: Fiber, of: Fiber | undefined): boolean {
  if (of === undefined) return false
  for (let at = fiber; ; at = at.parent.fiber) {
    if (at.uid === of.uid) return true
    if (at.parent.fiber === at) return false
  }
}
