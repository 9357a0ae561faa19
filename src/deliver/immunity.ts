// After a real steer the primary is left in peace for a while: notes still reach it, but cannot interrupt.

export class Immunity {
  /** Unit count at which interrupting is allowed again. */
  private until = 0

  /**
   * A steer really went out.
   * @param count - units completed so far: updates, or turns when reviews are per turn.
   * @param length - units that have to complete; 0 = none.
   */
  arm(count: number, length: number): void {
    this.until = count + length
  }

  holds(count: number): boolean {
    return count < this.until
  }
}
