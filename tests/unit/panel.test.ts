// A panel before its first roster is known: updates that come meanwhile are kept, counted and waited for.

import { expect, test } from 'vitest'
import type { Update } from '../../src/observe/fold.ts'
import { Panel } from '../../src/review/panel.ts'
import { defaults } from '../../src/config/schema.ts'

const update = (step: number): Update => ({ number: step, turn: 1, step, boundary: 'step', mutated: false, final: false, entries: [] })

/** A panel whose look at the files ends when the test says so. */
function looking() {
  const look = Promise.withResolvers<void>()
  let isLooking = true
  const panel = new Panel({
    config: () => defaults,
    open: () => { throw new Error('nobody is to review') },
    account: () => { throw new Error('nobody is to review') },
    isLooking: () => isLooking,
    look: () => look.promise,
    looked: () => look.promise,
    tell: () => {},
  })
  return {
    panel,
    end: async () => {
      isLooking = false
      look.resolve()
      await new Promise(resolve => setImmediate(resolve))
    },
  }
}

/** Whether a promise is settled by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false
  void promise.then(() => { done = true })
  await new Promise(resolve => setImmediate(resolve))
  return done
}

test('with nothing to review it is at rest, though files are being looked at', async () => {
  const { panel } = looking()
  expect(panel.reviewing).toBe(false)
  expect(panel.unread).toEqual([])
  expect(await isDone(panel.finish(new AbortController().signal))).toBe(true)
})

test('what was offered during the look is unread, and is waited for until the look has ended', async () => {
  const { panel, end } = looking()
  panel.offer(update(1))
  expect(panel.unread).toEqual(['step 1.1 was'])
  panel.offer(update(2))
  expect(panel.unread).toEqual(['steps 1.1 to 1.2 were'])
  expect(panel.reviewing).toBe(true)
  const { signal } = new AbortController()
  const [finished, below] = [panel.finish(signal), panel.whenBelow(2, signal)]
  expect(await isDone(panel.whenBelow(3, signal))).toBe(true)
  expect(await isDone(Promise.race([finished, below]))).toBe(false)
  await end()
  expect(await isDone(Promise.all([finished, below]))).toBe(true)
  expect(panel.reviewing).toBe(false)
})

test('nobody waits for a look beyond their own bound', async () => {
  const { panel } = looking()
  panel.offer(update(1))
  const bound = new AbortController()
  const waits = Promise.all([panel.finish(bound.signal), panel.whenBelow(1, bound.signal)])
  expect(await isDone(waits)).toBe(false)
  bound.abort()
  expect(await isDone(waits)).toBe(true)
})

test('an advisor without a model is told of once, and makes no reviewer', async () => {
  const told: string[] = []
  const panel = new Panel({
    config: () => defaults,
    open: () => { throw new Error('nobody is to review') },
    account: () => { throw new Error('nobody is to review') },
    isLooking: () => false, look: async () => {}, looked: async () => {},
    tell: line => void told.push(line),
  })
  const advisor = { slug: 'arch', name: 'Arch', enabled: true, agents: undefined, overlay: {}, instructions: '', file: undefined }
  await panel.set([advisor])
  await panel.set([{ ...advisor }])
  expect(told).toEqual(['Arch: no_model: no model: set `provider` and `model`'])
  expect(panel.standings).toMatchObject([{ state: { kind: 'no_model', reason: 'no model: set `provider` and `model`' }, pending: 0, reviewing: false }])
})
