/** At a screen of dsh-TUI the user is shown what waits for them, and trouble that lasts. */
import { expect, test } from 'vitest'
import { advise, fail } from '../support/adapter-replies.ts'
import { startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'

interface Toast { text: string, color: string }

function withToasts(scene: Scene, show?: () => never): Toast[] {
  const toasts: Toast[] = []
  scene.loop.ctx.provide('tuiToast', {
    show: (text: string, { color }: { color: string }) => {
      show?.()
      return toasts.push({ text, color }) > 0
    },
  })
  return toasts
}

async function answered(scene: Scene): Promise<void> {
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, { kind: 'answer', text: 'done' })
  await run
}

test('a concern that becomes a card is shown at once, a nit is not', async () => {
  const scene = await startScene()
  const toasts = withToasts(scene)
  await answered(scene)
  await scene.review(0, advise('The answer leaves\nout b.txt.', 'concern'))
  expect(toasts).toEqual([{ text: 'advisor: [concern] The answer leaves out b.txt.', color: 'warning' }])
  void scene.prompt('and now?')
  await scene.primary.asked(1)
  scene.primary.answer(1, { kind: 'answer', text: 'done' })
  await scene.agent.whenIdle()
  await scene.review(1, advise('`x` is unused.', 'nit'))
  expect(toasts).toHaveLength(1)
})

test('trouble that lasts is shown once', async () => {
  const scene = await startScene()
  const toasts = withToasts(scene)
  await answered(scene)
  await scene.review(0, fail({ code: 'AUTH', status: 401, message: 'no such key' }))
  await scene.loop.settle()
  expect(toasts.map(({ text }) => text)).toEqual([expect.stringContaining('halted: AUTH (HTTP 401): no such key')])
})

test('a screen that throws costs nothing: the note is a card all the same', async () => {
  const scene = await startScene()
  withToasts(scene, () => { throw new Error('stale activation') })
  await answered(scene)
  await scene.review(0, advise('The answer leaves out b.txt.', 'concern'))
  expect(await scene.advisor('notes')).toContain('b.txt')
})
