/** Around the end of a turn: what may reopen an answer, how often, and that no instant of it swallows a note. */
import { expect, test } from 'vitest'
import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import { hold, gateOf, maxTokens, text } from '../support/adapter-replies.ts'
import type { Reply, Script } from '../support/adapter-replies.ts'
import type { Loop } from '../support/loop.ts'
import { look, notes, startScene } from '../support/loop-advised.ts'
import { breakOff, context, escape, listed, raise, SEVERITIES, standing, timesGiven, turns, underWay } from '../support/loop-moments.ts'
import type { Severity } from '../support/loop-moments.ts'

const NOTE = 'Zebra: the files in src/old are still imported.'

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) await Promise.resolve()
}

/** On an agent of its own: the answer is let go, and so many ticks later, or earlier, the review of the step before it. */
async function race(loop: Loop, held: Held, delay: number, severity: Severity) {
  const agent = await loop.agent()
  const before = loop.requests.primary.length
  held.answer = hold(text('done'))
  held.review = hold(raise(NOTE, severity))
  const run = loop.prompt(agent, 'go')
  await Promise.all([gateOf(held.answer).reached, gateOf(held.review).reached])
  await loop.settle()
  const [first, second] = delay < 0 ? [held.review, held.answer] : [held.answer, held.review]
  gateOf(first).release()
  await ticks(Math.abs(delay))
  gateOf(second).release()
  await run
  await loop.settle()
  await agent.whenIdle()
  const steps = loop.requests.primary.length - before
  const given = timesGiven(agent, 'Zebra')
  await loop.prompt(agent, 'thanks')
  return { steps, given, later: timesGiven(agent, 'Zebra') - given }
}

interface Held {
  answer: Reply
  review: Reply
}

/** A first step, an answer that is held, and its first review held; all that follows at once. */
async function startRaces(): Promise<{ loop: Loop, held: Held }> {
  const held: Held = { answer: text(''), review: text('') }
  const asked = new Map<string, number>()
  function turnOf({ sessionId }: GenerateOptions): number {
    const count = asked.get(String(sessionId)) ?? 0
    asked.set(String(sessionId), count + 1)
    return count
  }
  const { loop } = await startScene({
    config: { immuneTurns: 0 },
    primary: request => [look(0), held.answer][turnOf(request)] ?? text('done again'),
    reviewer: request => turnOf(request) === 0 ? held.review : text('ok'),
  })
  return { loop, held }
}

test.each(SEVERITIES)('a %s that comes any number of ticks around the end of the turn is said once, and only a blocker reopens', async (severity) => {
  const { loop, held } = await startRaces()
  const expected = severity === 'blocker' ? { steps: 3, given: 1, later: 0 } : { steps: 2, given: 0, later: 1 }
  for (let delay = -60; delay < 20; delay += 1) expect(await race(loop, held, delay, severity), `${delay} ticks`).toEqual(expected)
}, 20_000)

const STOPS = [0, 1, 2, 3, 4, 6, 8, 12].flatMap(delay => (['before', 'after'] as const).map(side => [delay, side] as const))

test.each(STOPS)('a blocker %i ticks %s the user\'s stop does not start the agent again', async (delay, side) => {
  const scene = await startScene()
  await underWay(scene)
  const speak = (): void => scene.reviewer.answer(0, raise(NOTE, 'blocker'))
  if (side === 'before') speak()
  else escape(scene.agent)
  await ticks(delay)
  if (side === 'before') escape(scene.agent)
  else speak()
  await scene.agent.whenIdle()
  await scene.loop.settle()
  expect(scene.agent.status).toBe('idle')
  expect(turns(scene.agent)).toBe(1)
  expect(scene.steps).toHaveLength(2)
  expect(await standing(scene, NOTE)).toBe('card')
})

test('a concern raised while the answer runs into the output limit goes on: the work is not finished', async () => {
  const scene = await startScene()
  const answer = hold(maxTokens('This is going to be'), { at: 'finish' })
  void scene.prompt('go')
  await scene.step(0)
  await scene.reviewer.asked(0)
  scene.primary.answer(1, answer)
  await gateOf(answer).reached
  await scene.review(0, raise(NOTE, 'concern'))
  gateOf(answer).release()
  await scene.loop.settle()
  expect(notes(scene.steps[2])).toEqual([`concern: ${NOTE}`])
})

test('a steer that the answer overtook bought nothing, so it does not silence the blocker that follows', async () => {
  const scene = await startScene({ config: { immuneTurns: 10 } })
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  expect(await standing(scene, NOTE)).toBe('queued')
  scene.primary.answer(1, text('done'))
  await scene.agent.whenIdle()
  expect(await standing(scene, NOTE)).toBe('card')
  await scene.review(1, raise('Yak: port 8080 is taken by the proxy.', 'blocker'))
  expect(notes(scene.steps[2])).toEqual(['blocker: Yak: port 8080 is taken by the proxy.'])
})

test('a steer that the user\'s stop took back does not silence what comes after their next words', async () => {
  const scene = await startScene({ config: { immuneTurns: 10 } })
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  escape(scene.agent)
  await scene.agent.whenIdle()
  void scene.prompt('continue')
  await scene.step(2)
  await scene.review(1, raise('Yak: port 8080 is taken by the proxy.', 'concern'))
  expect(await standing(scene, 'Yak')).toBe('queued')
})

/** A finding that shares no word with any other. */
const nag: Script = (_request, index) => {
  const root = [index % 10, Math.floor(index / 10)].map(digit => 'bdfgklmprt'[digit]).join('o')
  return raise(['alia', 'emus', 'ixon'].map(end => root + end).join(' '), 'blocker')
}

test.each([1, 2])('what other plugins leave in the queue at every rest does not lift the limit of %i reopened answers', async (reopen) => {
  const scene = await startScene({ reviewer: nag, config: { immuneTurns: 0, reopen }, primary: (_request, index) => text(`answer ${index}`) })
  let left = 20
  scene.loop.ctx.on('agent/status', ({ agent, status }) => {
    if (status === 'idle' && left-- > 0) agent.inject(context(`job ${left} has ended`))
  })
  await scene.prompt('go')
  for (let round = 0; round < 12; round += 1) {
    await scene.loop.settle()
    await scene.agent.whenIdle()
  }
  expect(scene.steps.length).toBeLessThanOrEqual(1 + reopen)
})

test('a plugin that breaks every turn off and a reviewer that always objects do not keep an agent going', async () => {
  const scene = await startScene({ reviewer: nag, config: { immuneTurns: 0, reopen: 2 } })
  void scene.prompt('go')
  for (let index = 0; index < 8; index += 1) {
    await scene.loop.settle()
    if (scene.agent.status === 'idle') break
    await scene.step(scene.steps.length - 1)
    await scene.loop.settle()
    breakOff(scene.agent)
    await scene.loop.settle()
  }
  expect(scene.agent.status).toBe('idle')
  expect(turns(scene.agent)).toBeLessThanOrEqual(3)
})

test('notes that arrive together after the answer reopen it once, the lesser ones with the blocker or with the user\'s words', async () => {
  const scene = await startScene({ config: { immuneTurns: 0, notesPerUpdate: 3, reopen: 5 } })
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.review(0, {
    kind: 'answer',
    calls: [['Vole: rename `x`.', 'nit'], [NOTE, 'blocker'], ['Yak: port 8080 is taken.', 'blocker']]
      .map(([note, severity]) => ({ name: 'advise', args: { note, severity } })),
  })
  const request = await scene.primary.asked(1)
  expect(notes(request)).toEqual([`blocker: ${NOTE}`, 'blocker: Yak: port 8080 is taken.'])
  scene.primary.answer(1, text('done again'))
  await scene.agent.whenIdle()
  expect(turns(scene.agent)).toBe(2)
  expect((await listed(scene)).map(note => note.standing).sort()).toEqual(['card', 'delivered', 'delivered'])
})

test('a concern that is queued when another plugin breaks the work off takes it up again, as one raised a moment later would', async () => {
  const scene = await startScene()
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  expect(await standing(scene, NOTE)).toBe('queued')
  breakOff(scene.agent)
  await scene.loop.settle()
  expect(turns(scene.agent)).toBe(2)
  expect(notes(scene.steps[2])).toEqual([`concern: ${NOTE}`])
})
