/** What must hold after any schedule, read from the session's log and from the list of notes. Each check names what it found. */
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import { isAdvice, timesGiven } from './loop-moments.ts'
import { textOf } from './loop.ts'
import type { Schedule } from './schedule.ts'
import type { Outcome } from './schedule-run.ts'

/** Everything that is wrong, in words; empty when all holds. */
export function faults(schedule: Schedule, outcome: Outcome): string[] {
  const events = outcome.scene.loop.events(outcome.scene.agent)
  return [
    ...lostOrDoubled(outcome),
    ...outcome.seen,
    ...woken(events, outcome),
    ...reopened(events, schedule),
    ...outcome.scene.loop.logs.filter(line => line.type === 'error').map(line => `the host logged an error: ${line.text}`),
    ...outcome.timersLeft === 0 ? [] : [`${outcome.timersLeft} timers are left`],
  ]
}

/** No note is lost, none is said twice, and what was put away is not said at all. */
function lostOrDoubled({ scene, notes, raised, dismissed }: Outcome): string[] {
  const found: string[] = []
  const known = new Set(notes.map(note => note.text))
  for (const words of raised) if (!known.has(words)) found.push(`raised but not listed: ${words}`)
  for (const { id, text, state, standing } of notes) {
    const times = timesGiven(scene.agent, text)
    if (times > 1) found.push(`#${id} was said ${times} times (${state})`)
    if (standing === 'delivered' && times === 0) found.push(`#${id} counts as delivered but was never said`)
    if (standing === 'withdrawn' && times > 0) found.push(`#${id} was said although it was withdrawn`)
    if (dismissed.has(text) && times > 0) found.push(`#${id} was said although the user had put it away`)
    if (!['delivered', 'withdrawn', 'dismissed'].includes(standing)) found.push(`#${id} still waits after the user spoke: ${state}`)
  }
  return found
}

/** After a stop no turn begins before somebody else than the advisor says something. */
function woken(events: readonly SessionEvent[], { stops, wakes }: Outcome): string[] {
  return stops.flatMap((stop) => {
    const next = events.findIndex((event, at) => at >= stop && event.type === 'turn/start')
    const caused = next < 0 || wakes.some(wake => wake >= stop && wake < next)
    return caused ? [] : [`the turn that begins at ${next} follows the stop at ${stop} and nobody caused it`]
  })
}

/** Turns and steps that advice alone has caused, since the user last spoke, stay within what is allowed. */
function reopened(events: readonly SessionEvent[], { config, headless }: Schedule): string[] {
  const found: string[] = []
  let count = 0
  let heard = 0
  for (const { at, cause } of steps(events)) {
    // What the user said counts, whether it ever got into a step or not.
    if (cause === 'user' || events.slice(heard, at).some(isSpoken)) count = 0
    heard = at
    if (cause === 'advice') count += 1
    if (cause === 'advice' && headless && isOpening(events, at)) found.push(`advice woke a headless run at ${at}`)
    if (count > config.reopen) found.push(`the step at ${at} is number ${count} of those that advice alone has caused, ${config.reopen} are allowed`)
  }
  return found
}

function isSpoken(event: SessionEvent): boolean {
  return event.type === 'agent/inbox/spliced' && event.data.inserted.some(message => message.source.kind === 'user')
}

interface Step {
  readonly at: number
  /** Advice: it opens a turn or follows an answer, and nothing else would have caused it. Work: the model itself. */
  readonly cause: 'user' | 'advice' | 'other' | 'work'
}

function steps(events: readonly SessionEvent[]): Step[] {
  const found: Step[] = []
  let owes = false
  for (const [at, event] of events.entries()) {
    if (event.type === 'turn/start') owes = false
    if (event.type === 'assistant/message') owes = event.data.message.content.some(block => block.type === 'tool-call')
    if (event.type !== 'step/start') continue
    const end = events.findIndex((later, index) => index > at && later.type === 'step/end')
    const entered = events.slice(at, end < 0 ? undefined : end).flatMap(later => later.type === 'user/message' ? [later.data] : [])
    const others = entered.filter(message => !isAdvice(message))
    // What was only left for the next step causes one in a running turn, but opens none.
    const causing = isOpening(events, at) ? others.filter(message => wakes(textOf(message.content))) : others
    const user = entered.some(message => message.source.kind === 'user')
    found.push({ at, cause: user ? 'user' : owes ? 'work' : causing.length > 0 || others.length === entered.length ? 'other' : 'advice' })
  }
  return found
}

function isOpening(events: readonly SessionEvent[], at: number): boolean {
  const event = events[at]
  return event?.type === 'step/start' && event.data.step === 1
}

/** Whether a message is one that starts an agent at rest. */
function wakes(text: string): boolean {
  return /^(user|plugin) (followup|steer) /.test(text)
}

/** What the primary heard from the user and said itself, for a comparison with the same schedule without a reviewer. */
export function story({ scene }: Outcome): string[] {
  return scene.loop.events(scene.agent).flatMap((event) => {
    if (event.type === 'user/message' && event.data.source.kind === 'user') return [`user: ${textOf(event.data.content)}`]
    if (event.type === 'assistant/message') return [`agent: ${textOf(event.data.message.content)}`]
    return event.type === 'turn/end' ? [`end: ${event.data.reason.kind}`] : []
  })
}

/** Whether some advice went through the agent's own queue, so that the primary may have taken another way. */
export function wasSteered({ scene }: Outcome): boolean {
  return scene.loop.events(scene.agent).some(event => event.type === 'agent/inbox/spliced' && event.data.inserted.some(isAdvice))
}
