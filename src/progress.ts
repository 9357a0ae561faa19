// Waiting for somebody else's progress without polling.

export class Progress {
  private readonly watchers = new Set<() => void>()

  /** Something moved: everybody who waits looks again. */
  made(): void {
    for (const look of this.watchers) look()
  }

  /** Resolves once `isOver` holds after a move, or the signal aborts. Never rejects. */
  async until(isOver: () => boolean, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !isOver()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const look = () => { resolve() }
      this.watchers.add(look)
      signal.addEventListener('abort', look, { once: true })
      await promise
      this.watchers.delete(look)
      signal.removeEventListener('abort', look)
    }
  }
}
