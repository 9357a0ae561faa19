/** The bounded waits: for a reviewer that lags, for the last reviews of a headless run, and for progress as such. */
import { getEventListeners } from 'node:events'
import { beforeEach, describe, expect, test } from 'vitest'
import { catchUp, catchUpThreshold, CATCH_UP_MS } from '../../src/deliver/catchup.ts'
import { drain, unseenText } from '../../src/deliver/drain.ts'
import type { Note } from '../../src/deliver/note.ts'
import { Progress } from '../../src/progress.ts'
import { HandClock, turns } from './support/clock.ts'

let clock: HandClock
let controller: AbortController
beforeEach(() => {
  clock = new HandClock()
  controller = new AbortController()
})

/** Something to wait for that ends when told, or when its signal aborts. */
class Work {
  private readonly done = Promise.withResolvers<void>()
  asked: number | undefined
  gaveUp = 0

  finish(): void {
    this.done.resolve()
  }

  readonly wait = (signal: AbortSignal): Promise<void> => {
    signal.addEventListener('abort', () => this.done.resolve())
    if (signal.aborted) this.done.resolve()
    return this.done.promise
  }

  whenBelow(threshold: number, signal: AbortSignal): Promise<void> {
    this.asked = threshold
    return this.wait(signal)
  }

  giveUpWaiting(): void {
    this.gaveUp += 1
  }
}

/** Whether a promise has settled by now. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false
  void promise.then(() => { over = true })
  await turns()
  return over
}

test.each([['off', undefined], [1, 1], [3, 3], [5, 5], ['1', 1], ['3', 3], ['5', 5]] as const)(
  'syncBacklog %j waits from %j updates on', (value, threshold) => {
    expect(catchUpThreshold(value)).toBe(threshold)
  })

describe('catching up', () => {
  let work: Work
  beforeEach(() => { work = new Work() })
  const start = () => catchUp(work, 3, clock, controller.signal)

  test('waits as long as the reviewer lags, and leaves nothing behind', async () => {
    const wait = start()
    expect(work.asked).toBe(3)
    expect(await isOver(wait)).toBe(false)
    work.finish()
    await wait
    expect(work.gaveUp).toBe(0)
    expect(clock.pending).toEqual([])
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test('ends after 30 seconds, and says that nobody should wait again', async () => {
    expect(CATCH_UP_MS).toBe(30_000)
    const wait = start()
    await clock.advance(29_999)
    expect(await isOver(wait)).toBe(false)
    await clock.advance(1)
    expect(await isOver(wait)).toBe(true)
    expect(work.gaveUp).toBe(1)
  })

  test('ends at once when the turn is aborted, which is not the reviewer\'s fault', async () => {
    const wait = start()
    controller.abort({ kind: 'user' })
    await wait
    expect(work.gaveUp).toBe(0)
    expect(clock.pending).toEqual([])
  })

  test('does not begin in a turn that is aborted already', async () => {
    controller.abort({ kind: 'user' })
    await start()
    expect(clock.pending).toEqual([])
  })
})

describe('draining', () => {
  let work: Work
  beforeEach(() => { work = new Work() })
  const start = (run: { seconds: number, failed: boolean }) => drain(work.wait, run, clock, controller.signal)

  test('ends with the last review, and cut nothing', async () => {
    const wait = start({ seconds: 600, failed: false })
    work.finish()
    expect(await wait).toBeUndefined()
    expect(clock.pending).toEqual([])
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test.each([
    [{ seconds: 600, failed: false }, 600], [{ seconds: 600, failed: true }, 30],
    [{ seconds: 10, failed: true }, 10], [{ seconds: 0, failed: false }, 0],
  ])('%j is cut after %i seconds', async (run, seconds) => {
    const wait = start(run)
    if (seconds > 0) await clock.advance(seconds * 1_000 - 1)
    expect(await isOver(wait)).toBe(false)
    await clock.advance(1)
    expect(await wait).toBe(seconds)
  })

  test('ends when the run is cancelled, and that is no cut', async () => {
    const wait = start({ seconds: 600, failed: false })
    controller.abort({ kind: 'user' })
    expect(await wait).toBeUndefined()
    expect(clock.pending).toEqual([])
  })
})

test('a run that is cancelled already is not drained at all', async () => {
  controller.abort({ kind: 'user' })
  const work = new Work()
  expect(await drain(work.wait, { seconds: 600, failed: false }, clock, controller.signal)).toBeUndefined()
  expect(clock.pending).toEqual([])
})

describe('what the agent has not seen', () => {
  const note = (text: string, severity: Note['severity']): Note => ({ id: 1, text, severity, advisors: [], update: 1, at: 0 })

  test.each<[Note[], string]>([
    [[], ''],
    [[note('a', 'nit')], '1 note the agent has not seen\n  [nit] a'],
    [
      [note('a', 'nit'), note('b', 'blocker'), note('c', 'concern')],
      '3 notes the agent has not seen, 1 blocker\n  [blocker] b\n  [concern] c\n  [nit] a',
    ],
    [[note('a', 'blocker'), note('b\nc', 'blocker')], '2 notes the agent has not seen, 2 blockers\n  [blocker] a\n  [blocker] b\n    c'],
  ])('%j', (notes, expected) => {
    expect(unseenText(notes)).toBe(expected)
  })
})

describe('progress', () => {
  test('is waited for until it is enough, by everybody who waits', async () => {
    const progress = new Progress()
    let done = 0
    const [one, two] = [1, 2].map(needed => progress.until(() => done >= needed, controller.signal))
    done = 1
    progress.made()
    expect([await isOver(one!), await isOver(two!)]).toEqual([true, false])
    done = 2
    progress.made()
    await two
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test('that is there already is not waited for', async () => {
    await new Progress().until(() => true, controller.signal)
  })

  test('is not waited for after an abort', async () => {
    const wait = new Progress().until(() => false, controller.signal)
    expect(await isOver(wait)).toBe(false)
    controller.abort()
    await wait
    await new Progress().until(() => false, controller.signal)
  })
})
