// One measurement of memory in a process of its own: `node memory-child.ts <sessions|updates> <absent|on>`. Prints JSON.

import type { Agent } from '@deepseek-ai/dsh-agent'
import { appendStep, createInside, openTurn, type Inside, type Presence } from './inside.ts'
import { collectGarbage } from './measure.ts'

export const SESSIONS = 1_000
/** Steps of the one prompt that each session then gets. */
export const STEPS = 5
/** Updates after which the heap is read: often, as a conversation grows and is made small again all the time. */
export const MARKS: readonly number[] = Array.from({ length: 200 }, (_, index) => (index + 1) * 50)

/** Bytes of heap: before the sessions, with them idle, and after a prompt in each. */
export interface SessionHeap { readonly before: number, readonly idle: number, readonly used: number }

/** Bytes of heap at each of {@link MARKS}. */
export type UpdateHeap = readonly number[]

if (import.meta.main) {
  const [kind, presence] = process.argv.slice(2) as ['sessions' | 'updates', Presence]
  console.log(JSON.stringify(kind === 'sessions' ? await sessions(presence) : await updates(presence)))
}

async function sessions(presence: Presence): Promise<SessionHeap> {
  const { inside, whenReviewed } = await createCounted(presence)
  const warm = await inside.agent()
  await work(warm, 1, STEPS)
  const before = heap()
  const agents: Agent[] = []
  for (let index = 0; index < SESSIONS; index += 1) agents.push(await inside.agent())
  await inside.loop.settle()
  const idle = heap()
  for (const agent of agents) await work(agent, 1, STEPS)
  const used = heap()
  await inside.loop.dispose()
  return { before, idle, used }

  async function work(agent: Agent, from: number, to: number) {
    openTurn(agent.session)
    for (let step = from; step <= to; step += 1) await whenReviewed(() => appendStep(agent.session, step, 0))
  }
}

async function updates(presence: Presence): Promise<UpdateHeap> {
  const { inside, whenReviewed } = await createCounted(presence)
  const { session } = await inside.agent()
  openTurn(session)
  const heaps: number[] = []
  let step = 0
  for (const mark of MARKS) {
    while (step < mark) {
      step += 1
      await whenReviewed(() => appendStep(session, step, 0))
    }
    // The double of the host keeps every line of the log; the host keeps the last thousand.
    inside.loop.logs.length = 0
    heaps.push(heap())
  }
  await inside.loop.dispose()
  return heaps
}

/** A host whose reviewer is silent, and a way to append a step and wait until it was reviewed. */
async function createCounted(presence: Presence): Promise<{ inside: Inside, whenReviewed(append: () => void): Promise<void> }> {
  let asked = 0
  const inside = await createInside({
    presence,
    reviewer: () => {
      asked += 1
      return { kind: 'nothing' }
    },
  })
  async function whenReviewed(append: () => void) {
    const before = asked
    append()
    if (presence !== 'on') return
    await inside.loop.until(() => asked > before, 'a review')
    await inside.loop.settle()
  }
  return { inside, whenReviewed }
}

function heap(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
