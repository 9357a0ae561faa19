// Investigation calls whose results stand in the conversation: the same result of the same call is not shown twice.

import { createHash } from 'node:crypto'
import { fitText, textTokens } from './upkeep.ts'

/** What the reviewer is told in place of a result it already has. */
export const UNCHANGED = '[unchanged since your earlier call]'

/** Tokens that a result costs beside its text: the message around it, and what is said of a cut. */
const BESIDE_RESULT = 24

/** Shorter results cost no more than that. */
const WORTH_NAMING = 80

export interface AskedCall {
  readonly name: string
  readonly arguments: string
}

export class KnownCalls {
  /** Fingerprints of a call → of its last result: arguments may be long. */
  private readonly results = new Map<string, string>()

  /** The result as it is shown: whole, or that it has not changed. */
  answer(call: AskedCall, result: string): string {
    if (result.length < WORTH_NAMING) return result
    const [key, print] = [fingerprint(keyOf(call)), fingerprint(result)]
    if (this.results.get(key) === print) return UNCHANGED
    this.results.set(key, print)
    return result
  }

  /** The same for calls made side by side: each result is cut so that all of them together take `room` tokens. */
  answerAll(calls: readonly AskedCall[], results: readonly string[], room: number): string[] {
    let left = room - results.length * BESIDE_RESULT
    return results.map((result, index) => {
      const answer = this.answer(calls[index]!, fitText(result, left / (results.length - index)))
      left -= textTokens(answer)
      return answer
    })
  }

  /** The results no longer stand in the conversation. */
  clear(): void {
    this.results.clear()
  }
}

/** One call, whatever the order and the spacing of its arguments. */
export function keyOf({ name, arguments: json }: AskedCall): string {
  try {
    const args: unknown = JSON.parse(json)
    if (typeof args === 'object' && args !== null) return `${name} ${JSON.stringify(Object.entries(args).sort(([a], [b]) => a < b ? -1 : 1))}`
  } catch {
    // Compared as it was written.
  }
  return `${name} ${json}`
}

function fingerprint(text: string): string {
  return createHash('sha1').update(text).digest('base64')
}
