// Time is given in, so that no test waits for it to pass.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /**
   * Wait, or stop waiting when the signal aborts. Resolves in both cases.
   * A pending sleep keeps the process alive: whoever sleeps has to abort when disposed.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/**
 * Let something wait for at most `ms`, or until the outer signal aborts. Never rejects unless `wait` does.
 * @param wait - has to end soon after its signal aborts.
 * @returns how the wait ended.
 */
export async function within(
  ms: number, outer: AbortSignal, clock: Clock, wait: (signal: AbortSignal) => Promise<void>,
): Promise<'done' | 'late' | 'aborted'> {
  const over = new AbortController()
  const onAbort = () => over.abort(new Error('given up'))
  outer.addEventListener('abort', onAbort, { once: true })
  if (outer.aborted) onAbort()
  let late = false
  void clock.sleep(ms, over.signal).then(() => {
    late = !over.signal.aborted
    over.abort(new Error('waited long enough'))
  })
  await wait(over.signal)
  over.abort(new Error('done'))
  outer.removeEventListener('abort', onAbort)
  return late ? 'late' : outer.aborted ? 'aborted' : 'done'
}

/** Wait for something, or until the signal aborts. Rejects only as `work` does. */
export async function orAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise: given, resolve } = Promise.withResolvers<void>()
  const giveUp = () => { resolve() }
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    await Promise.race([work, given])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** The day by the machine's own calendar, as `2026-12-01`. */
export function localDay(at: number): string {
  const date = new Date(at)
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(part => String(part).padStart(2, '0')).join('-')
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  }),
}
