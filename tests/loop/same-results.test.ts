import { expect, test } from 'vitest'
import { text, tool } from '../support/adapter-replies.ts'
import { userTexts } from '../support/loop.ts'
import { added, startScene } from '../support/loop-advised.ts'

const FILE = 'one line of the file\n'.repeat(20).trimEnd()

test('a result the reviewer has read is named the next time, and shown once in the whole conversation', async () => {
  const scene = await startScene({ tools: { read: () => FILE } })
  void scene.prompt('go')
  for (const index of [0, 1]) {
    await scene.step(index, tool('read', { file_path: 'a.txt' }))
    await scene.review(index, text('ok'))
  }
  const [first, second] = scene.reviews
  expect(userTexts(first!).join('\n')).toContain(FILE)
  expect(added(second!, first!)).toEqual(['## step 1.2\n→ read(a.txt)\n[tool result] the same as at step 1.1\n[working]'])
  scene.primary.answer(2, text('done'))
  await scene.agent.whenIdle()
})
