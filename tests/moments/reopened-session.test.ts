/** A session that is closed and opened again in the same host knows what it knew. */
import { expect, test } from 'vitest'
import { calls, adviseCall, text } from '../support/adapter-replies.ts'
import { shown, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'

const CONCERN = 'Zebra: the files in src/old are still imported.'

/** One delivered concern, and a nit that no step took. */
async function withHistory(): Promise<Scene> {
  const scene = await startScene({ persistence: true, commands: true, config: { notesPerUpdate: 2 } })
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.review(0, calls(adviseCall(CONCERN, 'concern')))
  await scene.step(1)
  scene.primary.answer(2, text('done'))
  await run
  await scene.review(1, calls(adviseCall('Vole: rename `x` to `index`.', 'nit')))
  return scene
}

test('a note that was delivered before is told to the next reviewer and not given again, also beside one that was left', async () => {
  const scene = await withHistory()
  const agent = await scene.loop.resume(scene.agent.id)
  void scene.loop.prompt(agent, 'and now?')
  scene.primary.answer(3, text('nothing'))
  const index = scene.reviews.length
  const request = await scene.reviewer.asked(index)
  expect(shown(request)).toContain(`- concern, delivered in an earlier run: ${CONCERN}`)
  await scene.review(index, calls(adviseCall(CONCERN, 'concern')))
  expect((await scene.loop.command(agent, '/advisor notes'))?.text).not.toContain('Zebra')
})

test('`/advisor off` and what was muted hold when the session is opened again', async () => {
  const scene = await withHistory()
  await scene.advisor('mute old files')
  await scene.advisor('off')
  const agent = await scene.loop.resume(scene.agent.id)
  const notes = (await scene.loop.command(agent, '/advisor notes'))?.text
  expect(notes).toContain('Muted: old files')
  expect((await scene.loop.command(agent, '/advisor status'))?.text).toContain('Advisor: off')
})
