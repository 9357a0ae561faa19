// Stands for the provider's prefix cache: how much of a prompt an earlier prompt already paid for.

/** Remembers prompts for as long as it lives, as providers do for longer than any test runs. */
export class PrefixCache {
  #prompts: Buffer[] = []

  /** Returns the bytes that `prompt` shares, from its start, with the best earlier one, and remembers it. */
  admit(prompt: string): number {
    const bytes = Buffer.from(prompt)
    const shared = this.#prompts.map(earlier => commonPrefix(earlier, bytes))
    this.#prompts.push(bytes)
    return Math.max(0, ...shared)
  }
}

/** Length of the longest common prefix. Halving compares in native code: a loop over bytes is too slow for long conversations. */
export function commonPrefix(a: Buffer, b: Buffer): number {
  let low = 0
  let high = Math.min(a.length, b.length)
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (a.compare(b, low, middle, low, middle) === 0) low = middle
    else high = middle - 1
  }
  return low
}
