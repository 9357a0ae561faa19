import { describe, expect, it } from 'vitest'
import { answered, type ToolAnswer } from '../../src/review/tools/answer.ts'
import { withDeadline } from '../../src/review/tools/deadline.ts'
import { HandClock, turns } from './support/clock.ts'

/** A call that is under way, with the signal it was given. */
function start(work: (signal: AbortSignal) => Promise<ToolAnswer>, outer = new AbortController()) {
  const clock = new HandClock()
  let answer: ToolAnswer | undefined
  void withDeadline(10_000, clock, outer.signal, work).then((value) => { answer = value })
  return { clock, outer, get answer() { return answer } }
}

const never = () => new Promise<never>(() => {})
/** Ends as the host's tools do: with an error, soon after its signal. */
const obedient = (signal: AbortSignal) => new Promise<ToolAnswer>((_resolve, reject) => {
  signal.addEventListener('abort', () => reject(new Error('aborted')))
})

describe('a call', () => {
  it('answers when its tool does, and leaves no timer', async () => {
    const call = start(async () => answered('yes'))
    await turns()
    expect(call.answer).toEqual({ text: 'yes', isError: false })
    expect(call.clock.pending).toEqual([])
  })

  it('answers also when its tool throws', async () => {
    const call = start(async () => { throw new Error('broken pipe') })
    await turns()
    expect(call.answer).toEqual({ text: '[failed: broken pipe]', isError: true })
  })

  it('is told at its deadline to end', async () => {
    const call = start(obedient)
    await call.clock.advance(9_999)
    expect(call.answer).toBeUndefined()
    await call.clock.advance(1)
    expect(call.answer).toEqual({ text: '[cut: stopped after 10 s without a result]', isError: true })
    expect(call.clock.pending).toEqual([])
  })

  it('ends a little later if the tool ignores its signal', async () => {
    const call = start(never)
    await call.clock.advance(10_000)
    expect(call.answer).toBeUndefined()
    await call.clock.advance(2_000)
    expect(call.answer?.text).toBe('[cut: stopped after 10 s without a result]')
    expect(call.clock.pending).toEqual([])
  })

  it('keeps what a tool still had to say in that time', async () => {
    const call = start(signal => new Promise((resolve) => { signal.addEventListener('abort', () => resolve(answered('half'))) }))
    await call.clock.advance(10_000)
    expect(call.answer).toEqual(answered('half'))
  })

  it('ends at once with the review, whatever the tool does', async () => {
    const call = start(never)
    call.outer.abort()
    await turns()
    expect(call.answer?.text).toBe('[cut: the review is over]')
    expect(call.clock.pending).toEqual([])
  })

  it('does not begin after the review', async () => {
    const outer = new AbortController()
    outer.abort()
    let begun = false
    const call = start(async () => { begun = true; return answered('') }, outer)
    await turns()
    expect(call.answer?.text).toBe('[not run: the review is over]')
    expect(begun).toBe(false)
  })
})
