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
