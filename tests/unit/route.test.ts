import { describe, expect, test } from 'vitest'
import { route, type Activity, type Channel, type RouteState } from '../../src/deliver/route.ts'
import { SEVERITIES, type Severity } from '../../src/severity.ts'

/** The table of the design, row by row: when it fits, and the way of a nit, a concern and a blocker. */
const TABLE: readonly [string, (state: RouteState) => boolean, readonly [Channel, Channel, Channel]][] = [
  ['the user stopped the run', state => state.stopped, ['card', 'card', 'card']],
  ['plan mode', state => state.planMode, ['aside', 'card', 'card']],
  ['headless, after the final prompt', state => state.headlessOver, ['card', 'card', 'card']],
  ['immunity', state => state.immune, ['aside', 'aside', 'aside']],
  ['the primary is running', state => state.activity === 'running', ['aside', 'steer', 'steer']],
  ['idle after a finished answer', state => state.activity === 'finished', ['card', 'card', 'steer']],
  ['idle in the middle of work', state => state.activity === 'unfinished', ['card', 'steer', 'steer']],
]

const ACTIVITIES: readonly Activity[] = ['running', 'finished', 'unfinished']
const BOTH = [false, true] as const

/** Every state there is. */
const STATES: readonly RouteState[] = BOTH.flatMap(stopped => BOTH.flatMap(planMode => BOTH.flatMap(headlessOver => BOTH.flatMap(
  immune => ACTIVITIES.flatMap(activity => BOTH.map(mayReopen => ({ stopped, planMode, headlessOver, immune, activity, mayReopen }))),
))))

const REST: RouteState = { stopped: false, planMode: false, headlessOver: false, immune: false, activity: 'running', mayReopen: true }

/** The channel by the table. What may not be woken again gets cards where the table says to steer. */
function expected(severity: Severity, state: RouteState): Channel {
  const [, , channels] = TABLE.find(([, fits]) => fits(state))!
  const channel = channels[SEVERITIES.indexOf(severity)]!
  return channel === 'steer' && state.activity !== 'running' && !state.mayReopen ? 'card' : channel
}

test('every state and every severity goes the way of the first row that fits', () => {
  expect(STATES).toHaveLength(96)
  for (const state of STATES) {
    for (const severity of SEVERITIES) {
      expect(route(severity, state).kind, `${severity} in ${JSON.stringify(state)}`).toBe(expected(severity, state))
    }
  }
})

describe.each(TABLE)('%s', (name, fits, channels) => {
  test('a nit, a concern and a blocker', () => {
    const activities: Record<string, Partial<RouteState>> = {
      'the user stopped the run': { stopped: true }, 'plan mode': { planMode: true }, 'immunity': { immune: true },
      'headless, after the final prompt': { headlessOver: true, activity: 'finished' },
      'idle after a finished answer': { activity: 'finished' }, 'idle in the middle of work': { activity: 'unfinished' },
    }
    const state = { ...REST, ...activities[name] }
    expect(fits(state)).toBe(true)
    expect(SEVERITIES.map(severity => route(severity, state).kind)).toEqual(channels)
  })
})

test('a nit never wakes and never interrupts', () => {
  for (const state of STATES) expect(route('nit', state).kind).not.toBe('steer')
})

test('nothing starts an agent that was stopped or is over, and nothing interrupts one that is immune or plans', () => {
  for (const state of STATES.filter(({ stopped, headlessOver, immune, planMode }) => stopped || headlessOver || immune || planMode)) {
    for (const severity of SEVERITIES) expect(route(severity, state).kind).not.toBe('steer')
  }
})

test('what the primary ended is not opened again beyond the limit, whatever the severity', () => {
  for (const state of STATES.filter(({ activity, mayReopen }) => activity !== 'running' && !mayReopen)) {
    for (const severity of SEVERITIES) expect(route(severity, state).kind).not.toBe('steer')
  }
})

test('every decision has its reason in words', () => {
  for (const state of STATES) for (const severity of SEVERITIES) expect(route(severity, state).reason).toMatch(/\w/)
})
