/** A clock that moves only when the test says so. */
import type { Clock } from '../../../src/clock.ts'

interface Sleeper {
  readonly at: number
  wake(): void
}

export class HandClock implements Clock {
  private time = 0
  private sleepers: Sleeper[] = []

  now(): number {
    return this.time
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const sleeper: Sleeper = { at: this.time + ms, wake: done }
      const sleepers = (): Sleeper[] => this.sleepers
      const keep = (rest: Sleeper[]): void => { this.sleepers = rest }
      function done() {
        keep(sleepers().filter(other => other !== sleeper))
        signal.removeEventListener('abort', done)
        resolve()
      }
      signal.addEventListener('abort', done, { once: true })
      this.sleepers.push(sleeper)
    })
  }

  /** Milliseconds from now at which sleepers would wake, soonest first. */
  get pending(): number[] {
    return this.sleepers.map(sleeper => sleeper.at - this.time).toSorted((a, b) => a - b)
  }

  /** Let time pass: whoever is due wakes, and what follows from it happens. */
  async advance(ms: number): Promise<void> {
    this.time += ms
    for (const sleeper of this.sleepers.filter(({ at }) => at <= this.time)) sleeper.wake()
    await turns()
  }
}

/** Let all promises that can settle do so. */
export async function turns(): Promise<void> {
  await new Promise<void>(resolve => { setImmediate(resolve) })
}
