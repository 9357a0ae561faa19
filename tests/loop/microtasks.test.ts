/**
 * The same advice at every moment around the end of a turn, one microtask after the other: never lost, never twice, never a
 * step too many.
 */
import { expect, test } from 'vitest'
import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import { advise, gateOf, hang, hold, text } from '../support/adapter-replies.ts'
import type { Gate } from '../support/adapter-replies.ts'
import { userTexts } from '../support/loop.ts'
import { look, notes, rejections, startScene } from '../support/loop-advised.ts'

/** Microtasks from the advice to the answer: with none the agent is idle when it is read, with the most it is still at work. */
const MOMENTS = 30

/** A finding that shares no word with any other. */
function finding(index: number): string {
  const root = [...String(index)].map(digit => 'bdfgklmprt'[Number(digit)]).join('o')
  return ['alia', 'emus', 'ixon', 'unda', 'orta'].map(end => root + end).join(' ')
}

/** Whether a review is about the first step of a prompt. */
function isAboutPrompt(request: GenerateOptions): boolean {
  return userTexts(request).slice(-3).some(value => value.includes('**user:** go'))
}

const STEPS = [['nit', 2], ['concern', 2], ['blocker', 3]] as const

test.each(STEPS)('a %s around the end of a turn', { timeout: 20_000 }, async (severity, steps) => {
  const broken = rejections()
  const held: Gate[] = []
  const scene = await startScene({
    config: { immuneTurns: 0, reconfirmAfter: 0 },
    reviewer: (request) => {
      if (!isAboutPrompt(request)) return text('ok')
      const reply = hold(advise(finding(held.length), severity))
      held.push(gateOf(reply))
      return reply
    },
  })
  for (let moment = 0; moment < MOMENTS; moment += 1) {
    const first = scene.steps.length
    const run = scene.prompt('go')
    await scene.step(first, look(moment))
    await scene.loop.until(() => held.length === moment + 1)
    scene.primary.answer(first + 2, text('reopened'))
    held[moment]!.release()
    for (let count = 0; count < moment; count += 1) await null
    scene.primary.answer(first + 1, text('done'))
    await run
    await scene.loop.settle()
    await scene.agent.whenIdle()
    await scene.loop.settle()
    expect(scene.agent.inbox.hasPending).toBe(false)
    expect(scene.steps.length - first, `steps with the advice ${moment} microtasks before the answer`).toBe(steps)
    // A step that did not happen has its reply left over: use it up.
    if (steps === 2) await scene.prompt('thanks')
    await scene.loop.settle()
  }
  const all = notes(scene.steps.at(-1))
  expect(all).toEqual(Array.from({ length: MOMENTS }, (_, index) => `${severity}: ${finding(index)}`))
  expect(broken).toEqual([])
})

test.each([
  ['keeping the queue, in the middle of the answer', true, false],
  ['clearing the queue, in the middle of the answer', false, false],
  ['keeping the queue, before the first byte', true, true],
  ['clearing the queue, before the first byte', false, true],
])('a blocker around a stop %s', { timeout: 20_000 }, async (_name, keepInbox, early) => {
  const broken = rejections()
  const held: Gate[] = []
  const scene = await startScene({
    // The host's own checks would report its turns without an end.
    invariants: false,
    config: { immuneTurns: 0, reconfirmAfter: 0 },
    primary: (_request, index) => [look(index), early ? hang({ taint: true }) : hang({ after: 'I shall' }), text('done')][index % 3]!,
    reviewer: (request) => {
      if (!isAboutPrompt(request)) return text('ok')
      const reply = hold(advise(finding(held.length), 'blocker'))
      held.push(gateOf(reply))
      return reply
    },
  })
  for (let moment = 0; moment < MOMENTS; moment += 1) {
    const first = scene.steps.length
    const run = scene.prompt('go')
    await scene.loop.until(() => scene.steps.length === first + 2 && held.length === moment + 1)
    await scene.loop.settle()
    held[moment]!.release()
    for (let count = 0; count < moment; count += 1) await null
    scene.agent.cancel({ kind: 'user' }, { keepInbox })
    await run
    await scene.loop.settle()
    expect(scene.agent.status, `the agent after a stop ${moment} microtasks after the advice`).toBe('idle')
    expect(scene.steps.length - first).toBe(2)
    await scene.prompt('thanks')
    await scene.loop.settle()
    expect(notes(scene.steps.at(-1))).toHaveLength(moment + 1)
  }
  expect(notes(scene.steps.at(-1))).toEqual(Array.from({ length: MOMENTS }, (_, index) => `blocker: ${finding(index)}`))
  expect(broken).toEqual([])
})
