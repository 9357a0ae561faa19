/** What has stopped stays stopped until somebody says otherwise, and a refused revision loses nothing. */
import { expect, test } from 'vitest'
import { call, calls, fail } from '../support/adapter-replies.ts'
import { startScene } from '../support/loop-advised.ts'
import { raise, standing, underWay } from '../support/loop-moments.ts'

const NOTE = 'Zebra: the files in src/old are still imported.'

test('a reviewer that was refused for its key is not asked again for a new adapter or a new agent', async () => {
  const scene = await startScene()
  await underWay(scene)
  await scene.review(0, fail({ code: 'AUTH', status: 401 }))
  await scene.loop.settle()
  expect(await scene.advisor('status')).toContain('halted')
  scene.loop.ctx.emit('llm/adapters-updated')
  await scene.loop.agent()
  await scene.step(1)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  expect(await scene.advisor('status')).toContain('halted')
})

test('a revision that is refused leaves the note it would have replaced', async () => {
  const scene = await startScene({ planMode: true, config: { reconfirmAfter: 1 } })
  await scene.loop.command(scene.agent, '/plan')
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  await scene.advisor('mute ports')
  await scene.step(1)
  await scene.review(1, calls(call('advise', { note: 'Yak: ports are taken.', severity: 'concern', replaces: 1 })))
  expect(await standing(scene, NOTE)).toBe('card')
})
