// One tool call with an end that holds even if the tool ignores its signal.

import type { Clock } from '../../clock.ts'
import { broken, failed, type ToolAnswer } from './answer.ts'

/** Milliseconds a tool has to answer after its signal has aborted. */
const GRACE_MS = 2_000

/** Run `work` to its end, for `ms` at most, or until `outer` aborts. Never rejects. */
export async function withDeadline(
  ms: number, clock: Clock, outer: AbortSignal, work: (signal: AbortSignal) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  if (outer.aborted) return failed('not run', 'the review is over')
  const expired = failed('cut', `stopped after ${ms / 1000} s without a result`)
  const inner = new AbortController()
  const over = new AbortController()
  const aborted = new Promise<ToolAnswer>((resolve) => {
    outer.addEventListener('abort', () => {
      inner.abort(new Error('the review is over'))
      resolve(failed('cut', 'the review is over'))
    }, { once: true, signal: over.signal })
  })
  const late = clock.sleep(ms, over.signal).then(async () => {
    inner.abort(new Error('the call took too long'))
    await clock.sleep(GRACE_MS, over.signal)
    return expired
  })
  const done = work(inner.signal).catch(broken).then(answer => (
    inner.signal.aborted && answer.isError ? expired : answer
  ))
  try {
    return await Promise.race([done, aborted, late])
  } finally {
    over.abort()
  }
}
