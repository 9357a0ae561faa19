/** The same advice at every moment around the end of a turn, one microtask after the other: never lost, never twice, never a step too many. */
import { expect, test } from 'vitest'
import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import { advise, gateOf, hold, text } from '../support/adapter-replies.ts'
import type { Gate } from '../support/adapter-replies.ts'
import { userTexts } from '../support/loop.ts'
import { look, notes, rejections, startScene } from '../support/loop-advised.ts'

/** Microtasks between the answer and the advice; the agent is idle long before the last. */
const MOMENTS = 60

/** A finding that shares no word with any other. */
function finding(index: number): string {
  const root = [...String(index)].map(digit => 'bdfgklmprt'[Number(digit)]).join('o')
  return ['alia', 'emus', 'ixon', 'unda', 'orta'].map(end => root + end).join(' ')
}

/** Whether a review is about the first step of a prompt. */
function isAboutPrompt(request: GenerateOptions): boolean {
  return userTexts(request).slice(-3).some(value => value.includes('**user:**'))
}

test.each([['nit', 2], ['concern', 2], ['blocker', 3]] as const)('a %s around the end of a turn', async (severity, steps) => {
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
    scene.primary.answer(first + 1, text('done'))
    for (let count = 0; count < moment; count += 1) await null
    held[moment]!.release()
    await run
    await scene.loop.settle()
    await scene.agent.whenIdle()
    await scene.loop.settle()
    expect(scene.agent.inbox.hasPending).toBe(false)
    expect(scene.steps.length - first, `steps with the advice ${moment} microtasks after the answer`).toBe(steps)
    // A step that did not happen has its reply left over: use it up.
    if (steps === 2) await scene.prompt('thanks')
    await scene.loop.settle()
  }
  const all = notes(scene.steps.at(-1))
  expect(all).toEqual(Array.from({ length: MOMENTS }, (_, index) => `${severity}: ${finding(index)}`))
  expect(broken).toEqual([])
})
