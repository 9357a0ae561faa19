import { beforeEach, describe, expect, test } from 'vitest'
import { Health } from '../../src/review/health.ts'

const ROUTE = 'p/m'
let now: number
let told: { line: string, remedy: string | undefined }[]
let health: Health
beforeEach(() => {
  now = 1_000_000
  told = []
  health = new Health({ clock: { now: () => now }, tell: (line, remedy) => void told.push({ line, remedy }) })
})

/** Updates until the reviewer may try, at most 100. */
function updatesUntilTry(): number {
  for (let updates = 1; updates <= 100; updates += 1) {
    health.onUpdate(ROUTE)
    if (health.mayReview) return updates
  }
  return Infinity
}

test('is well in the beginning', () => {
  expect(health).toMatchObject({ state: { kind: 'running' }, isAtWork: true, mayReview: true, lagging: false, lost: 0 })
})

describe('batches lost in a row', () => {
  test('leave it at work, failing, and the user is told once', () => {
    for (let lost = 1; lost <= 10; lost += 1) {
      health.lose('SERVER: no', ROUTE)
      expect(health).toMatchObject({ state: { kind: 'failing', reason: 'SERVER: no' }, isAtWork: true, lost })
    }
    expect(told).toEqual([{ line: 'failing: SERVER: no; updates go unreviewed until it recovers', remedy: undefined }])
  })

  test('let it try again at every update, then at every 2nd, 4th, … and 32nd', () => {
    const waits = Array.from({ length: 9 }, () => {
      health.lose('no', ROUTE)
      return updatesUntilTry()
    })
    expect(waits).toEqual([1, 1, 2, 4, 8, 16, 32, 32, 32])
  })

  test('are over with the first success', () => {
    for (const _ of [1, 2, 3, 4]) health.lose('no', ROUTE)
    health.succeeded()
    expect(health).toMatchObject({ state: { kind: 'running' }, lost: 0, lagging: false })
  })

  test('with successes between them are one line in ten minutes', () => {
    for (let minute = 0; minute < 25; minute += 1) {
      now = 1_000_000 + minute * 60_000
      health.lose('no', ROUTE)
      expect(health.state.kind).toBe('failing')
      health.succeeded()
    }
    expect(told).toHaveLength(3)
  })

  test('are told again after the user has given it another chance, and when the clock is set back', () => {
    health.lose('no', ROUTE)
    health.resume()
    health.lose('no', ROUTE)
    health.succeeded()
    now -= 3_600_000
    health.lose('no', ROUTE)
    expect(told).toHaveLength(3)
  })
})

describe.each([
  [{ kind: 'halted', reason: 'UNAUTHORIZED: no key' } as const, '`/advisor on` tries again'],
  [{ kind: 'quota_exhausted', reason: 'QUOTA: empty', since: 1_000_000, retryAt: undefined } as const, '`/advisor on` tries again'],
  [{ kind: 'no_model', reason: 'UNKNOWN_MODEL: m' } as const, undefined],
])('stopped: %j', (state, remedy) => {
  beforeEach(() => { health.stop(state, ROUTE) })

  test('is told in one line, and nothing is tried whatever comes', () => {
    expect(told).toHaveLength(1)
    expect(told[0]).toMatchObject({ remedy, line: expect.stringContaining(`${state.kind}: ${state.reason}`) as string })
    for (let updates = 0; updates < 50; updates += 1) health.onUpdate(ROUTE)
    expect(told).toHaveLength(1)
    expect(health).toMatchObject({ state, isAtWork: false, mayReview: false })
  })

  test('gets a new chance with another model only', () => {
    expect(health.isNewChance(ROUTE)).toBe(false)
    expect(health.isNewChance('p/other')).toBe(true)
  })

  test('goes on when told to', () => {
    health.resume()
    expect(health).toMatchObject({ state: { kind: 'running' }, mayReview: true })
  })
})

test('a budget that is spent stops it without a word of its own: the session says so for all', () => {
  health.stop({ kind: 'budget_exhausted', reason: '1,000 of 1,000 tokens of its budget are spent' }, ROUTE)
  expect(health).toMatchObject({ isAtWork: false, mayReview: false, state: { kind: 'budget_exhausted' } })
  expect(told).toEqual([])
})

describe('a new chance', () => {
  test('is none for a reviewer that is well', () => {
    expect(health.isNewChance('p/other')).toBe(false)
  })

  test('is one for a reviewer that is let try only now and then', () => {
    for (const _ of [1, 2, 3]) health.lose('no', ROUTE)
    expect(health.isNewChance(ROUTE)).toBe(false)
    expect(health.isNewChance('p/other')).toBe(true)
    health.resume()
    expect(health).toMatchObject({ mayReview: true, lost: 0 })
  })

  test('is the first model too, when another one that was tried meanwhile is missing', () => {
    health.stop({ kind: 'halted', reason: 'no key' }, ROUTE)
    health.resume()
    health.miss('no provider "q" in this host')
    expect(health.isNewChance(ROUTE)).toBe(true)
  })
})

describe('a limit that the provider says the end of', () => {
  const stop = (retryAt: number | undefined) => health.stop({ kind: 'quota_exhausted', reason: 'QUOTA', since: now, retryAt }, ROUTE)

  test.each([[299_999, false], [300_000, true], [9_000_000, true]])('%i ms later the next update tries: %j', (ms, tries) => {
    stop(now + 300_000)
    now += ms
    expect(health.mayReview).toBe(false)
    health.onUpdate(ROUTE)
    expect(health.mayReview).toBe(tries)
  })

  test('ends when the clock is set back, for its time may never come', () => {
    stop(now + 300_000)
    now -= 1
    health.onUpdate(ROUTE)
    expect(health.mayReview).toBe(true)
  })

  test('is told again when it strikes again', () => {
    stop(now)
    health.onUpdate(ROUTE)
    stop(now)
    expect(told).toHaveLength(2)
  })

  test('without an end lasts, whatever the clock says', () => {
    stop(undefined)
    for (const at of [0, 1e15]) {
      now = at
      health.onUpdate(ROUTE)
    }
    expect(health.mayReview).toBe(false)
  })
})

describe('a model that is missing from the start', () => {
  beforeEach(() => { health.miss('no provider "p" in this host') })

  test('is told when there is something to review, once', () => {
    expect(told).toEqual([])
    health.onUpdate(ROUTE)
    health.onUpdate(ROUTE)
    expect(told).toEqual([{ line: 'no_model: no provider "p" in this host; it starts by itself when the model appears', remedy: undefined }])
  })

  test('is not told again when it is looked for again and still missing', () => {
    health.onUpdate(ROUTE)
    health.resume()
    health.miss('no provider "p" in this host')
    health.onUpdate(ROUTE)
    expect(told).toHaveLength(1)
  })

  test('is told again when it was there in between', () => {
    health.onUpdate(ROUTE)
    health.resume()
    health.onUpdate(ROUTE)
    health.miss('no provider "p" in this host')
    health.onUpdate(ROUTE)
    expect(told).toHaveLength(2)
  })
})

test('replies thrown away are told at the second, and never again', () => {
  health.quarantine('first')
  expect(told).toEqual([])
  for (const reason of ['second', 'third', 'fourth']) health.quarantine(reason)
  expect(told).toEqual([{ line: 'unsafe replies of the reviewer are thrown away: second', remedy: undefined }])
  expect(health.state).toEqual({ kind: 'running' })
})
