// After a real steer the primary is left in peace for a while: notes still reach it, but cannot interrupt.

/** What has completed so far, in both units that peace can be counted in. */
export interface Completed {
  readonly updates: number
  readonly turns: number
}

export class Immunity {
  private since: Completed | undefined

  /** @param completed - what had completed when the steer went out. */
  arm(completed: Completed): void {
    this.since = completed
  }

  /** Whether fewer than `length` units have completed since; 0 = no peace at all. */
  holds(completed: Completed, unit: keyof Completed, length: number): boolean {
    return this.since !== undefined && completed[unit] - this.since[unit] < length
  }
}
