/** The routing table, row by row and column by column, on the real loop: where a note stands, what it costs, what it wakes. */
import { expect, test } from 'vitest'
import { maxTokens, text } from '../support/adapter-replies.ts'
import { look, notes, startScene } from '../support/loop-advised.ts'
import type { Scene, SceneOptions } from '../support/loop-advised.ts'
import {
  breakOff, escape, goHeadless, goalRound, raise, SEVERITIES, standing, timesGiven, turns, underWay,
} from '../support/loop-moments.ts'
import type { Severity } from '../support/loop-moments.ts'

type Channel = 'aside' | 'steer' | 'card'

/** The state stands when this returns; the result names the review that is held. */
type Arrange = (scene: Scene) => Promise<number>

interface Row {
  readonly state: string
  readonly arrange: Arrange
  readonly nit: Channel
  readonly concern: Channel
  readonly blocker: Channel
  readonly options?: SceneOptions
}

const CARDS = { nit: 'card', concern: 'card', blocker: 'card' } as const
const ASIDES = { nit: 'aside', concern: 'aside', blocker: 'aside' } as const
const PLANNING = { nit: 'aside', concern: 'card', blocker: 'card' } as const
const UNFINISHED = { nit: 'card', concern: 'steer', blocker: 'steer' } as const

/** Start with one step done and the second under way; the review of the first is held. */
async function running(scene: Scene): Promise<number> {
  await underWay(scene)
  return 0
}

async function stopped(scene: Scene): Promise<number> {
  await underWay(scene)
  escape(scene.agent)
  await scene.agent.whenIdle()
  return 0
}

async function planning(scene: Scene): Promise<number> {
  await scene.loop.command(scene.agent, '/plan')
  return running(scene)
}

/** The answer is given, and its review is held. */
async function finished(scene: Scene): Promise<number> {
  await underWay(scene)
  await scene.review(0)
  scene.primary.answer(1, text('done'))
  await scene.reviewer.asked(1)
  await scene.loop.settle()
  return 1
}

/** A blocker has interrupted, and stands in the step that is under way. */
async function interrupted(scene: Scene): Promise<number> {
  await underWay(scene)
  await scene.review(0, raise('This deletes the backups.', 'blocker'))
  await scene.step(1)
  await scene.reviewer.asked(1)
  return 1
}

/** A goal's round is in its second step. */
async function pursuing(scene: Scene): Promise<number> {
  scene.agent.followup(goalRound(1))
  await scene.step(0)
  await scene.reviewer.asked(0)
  return 0
}

async function thenStopped(scene: Scene, arrange: Arrange): Promise<number> {
  const held = await arrange(scene)
  escape(scene.agent)
  await scene.agent.whenIdle()
  return held
}

/** The answer follows at once; the review that was held stays so. */
async function thenFinished(scene: Scene, arrange: Arrange): Promise<number> {
  const held = await arrange(scene)
  scene.primary.answer(scene.steps.length - 1, text('done'))
  await scene.loop.until(() => scene.agent.status === 'idle')
  return held
}

function headless(arrange: Arrange): Arrange {
  return (scene) => {
    goHeadless(scene.loop)
    return arrange(scene)
  }
}

const NO_PEACE = { config: { immuneTurns: 0 } }
const LONG_PEACE = { config: { immuneTurns: 10 } }

const ROWS: readonly Row[] = [
  { state: 'the user has stopped the run', arrange: stopped, ...CARDS },
  {
    // The host's own checks take its missing end of the turn for a broken log.
    state: 'the user has stopped the run before the first byte of an answer', options: { invariants: false }, ...CARDS,
    arrange: async (scene) => {
      await underWay(scene)
      scene.primary.answer(1, { kind: 'hang', taint: true })
      await scene.loop.settle()
      escape(scene.agent)
      await scene.agent.whenIdle()
      return 0
    },
  },
  { state: 'the user has stopped a plan', options: { planMode: true }, arrange: scene => thenStopped(scene, planning), ...CARDS },
  { state: 'the user has stopped while notes could not interrupt', arrange: scene => thenStopped(scene, interrupted), ...CARDS },
  { state: 'the user has stopped a round of a goal', arrange: scene => thenStopped(scene, pursuing), ...CARDS },
  { state: 'plan mode is on', options: { planMode: true }, arrange: planning, ...PLANNING },
  {
    state: 'a plan was presented', options: { planMode: true, ...NO_PEACE }, ...PLANNING,
    arrange: scene => thenFinished(scene, planning),
  },
  { state: 'a headless run gave its answer', options: NO_PEACE, arrange: headless(finished), ...CARDS },
  {
    state: 'a headless run ended while notes could not interrupt', options: LONG_PEACE, ...CARDS,
    arrange: headless(scene => thenFinished(scene, interrupted)),
  },
  { state: 'a headless run is in the middle of its work', arrange: headless(running), nit: 'aside', concern: 'steer', blocker: 'steer' },
  { state: 'a steer has just gone out', arrange: interrupted, ...ASIDES },
  { state: 'a steer has just gone out and the answer followed', options: LONG_PEACE, arrange: scene => thenFinished(scene, interrupted), ...ASIDES },
  { state: 'the primary is running', arrange: running, nit: 'aside', concern: 'steer', blocker: 'steer' },
  { state: 'the answer stands', arrange: finished, nit: 'card', concern: 'card', blocker: 'steer' },
  {
    state: 'the answer hit the output limit', ...UNFINISHED,
    arrange: async (scene) => {
      await underWay(scene)
      scene.primary.answer(1, maxTokens('This is going to be'))
      await scene.loop.until(() => scene.agent.status === 'idle')
      return 0
    },
  },
  {
    state: 'another plugin broke the work off', ...UNFINISHED,
    arrange: async (scene) => {
      await underWay(scene)
      breakOff(scene.agent)
      await scene.loop.until(() => scene.agent.status === 'idle')
      return 0
    },
  },
  { state: 'a goal is pursued', arrange: pursuing, ...ASIDES },
  { state: 'a round of a goal is over', arrange: scene => thenFinished(scene, pursuing), ...ASIDES },
]

const CASES = ROWS.flatMap(row => SEVERITIES.map(severity => [row.state, severity, row[severity], row] as const))

const NOTE = 'Zebra: `retry()` never stops.'

test.each(CASES)('while %s, a %s becomes: %s', async (_state, severity, channel, row) => {
  const scene = await startScene(row.options)
  const held = await row.arrange(scene)
  const before = { steps: scene.steps.length, turns: turns(scene.agent), status: scene.agent.status }
  await scene.review(held, raise(NOTE, severity))

  const woken = channel === 'steer' && before.status === 'idle'
  if (woken) await scene.primary.asked(before.steps)
  expect(scene.steps).toHaveLength(before.steps + (woken ? 1 : 0))
  expect(turns(scene.agent)).toBe(before.turns + (woken ? 1 : 0))
  expect(await standing(scene, NOTE)).toBe(woken ? 'delivered' : ({ aside: 'waiting', steer: 'queued', card: 'card' } as const)[channel])
  expect(scene.agent.inbox.hasPending).toBe(channel === 'steer' && !woken)

  for (let later = held + 1; later < 12; later += 1) scene.reviewer.answer(later, text('ok'))
  const next = await nextStep(scene, woken, before.steps)
  expect(notes(next).includes(`${severity}: ${NOTE}`)).toBe(channel !== 'card' || before.status === 'idle')
  await finish(scene)
  if (before.status === 'idle') expect(timesGiven(scene.agent, NOTE)).toBe(1)
  await hear(scene, severity)
})

/** The request in which a note that is not kept for the user has to stand. */
async function nextStep(scene: Scene, woken: boolean, index: number) {
  if (woken) return scene.steps[index]
  if (scene.agent.status === 'running') return scene.step(index - 1, look(index))
  void scene.prompt('and now?')
  return scene.primary.asked(index)
}

async function finish(scene: Scene): Promise<void> {
  scene.primary.answer(scene.steps.length - 1, text('finished'))
  await scene.agent.whenIdle()
}

/** With the next words of the user the note has stood in the session, and it stands there once. */
async function hear(scene: Scene, severity: Severity): Promise<void> {
  const index = scene.steps.length
  const run = scene.prompt('thanks')
  const request = await scene.primary.asked(index)
  expect(notes(request).filter(note => note === `${severity}: ${NOTE}`)).toHaveLength(1)
  scene.primary.answer(index, text('welcome'))
  await run
  expect(await standing(scene, NOTE)).toBe('delivered')
  expect(timesGiven(scene.agent, NOTE)).toBe(1)
}
