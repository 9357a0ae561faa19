/** What the reviewer is told of the user's wishes, word for word, as it stands in a request on the real loop. */
import { expect, test } from 'vitest'
import { advise, text } from '../support/adapter-replies.ts'
import { userTexts } from '../support/loop.ts'
import { startScene } from '../support/loop-advised.ts'

test('a dismissed note, a muted topic, and everything heard again', async () => {
  const scene = await startScene()
  const run = scene.prompt('Fix a.')
  await scene.step(0)
  await scene.review(0, advise('Step 1 reads the wrong file.', 'nit'))
  await scene.advisor('mute error handling')
  await scene.advisor('unmute')
  await scene.advisor('dismiss 1')
  await scene.step(1)
  const request = await scene.review(1)
  scene.primary.answer(2, text('Done.'))
  scene.reviewer.answer(2, text('ok'))
  await run
  const remarks = userTexts(request).filter(value => value.startsWith('[the user'))
  await expect(`${remarks.join('\n---\n')}\n`).toMatchFileSnapshot('./texts/remarks.md')
})
