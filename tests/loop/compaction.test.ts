/** The primary's past is rewritten under the reviewer: it starts over from what stands now, and still knows the task. */
import { expect, test } from 'vitest'
import ToolResultPruner from '@deepseek-ai/dsh-compaction-tool-result-pruner'
import { advise, fail, text } from '../support/adapter-replies.ts'
import { eventTypes, userTexts } from '../support/loop.ts'
import { advisories, notes, shown, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'

const LONG = 'a long answer '.repeat(200)

/** Two finished turns, each reviewed; the reviewer spoke once. */
async function twoTurns(options: Parameters<typeof startScene>[0] = {}): Promise<Scene> {
  const scene = await startScene({ compaction: true, ...options })
  const run = scene.prompt('Read b.txt')
  await scene.step(0)
  await scene.review(0, advise('Wrong file.', 'concern'))
  scene.primary.answer(1, text(LONG))
  await run
  await scene.review(1)
  const second = scene.prompt('Then c.txt')
  await scene.primary.asked(2)
  scene.primary.answer(2, text(`second ${LONG}`))
  await second
  await scene.review(2)
  return scene
}

function compact(scene: Scene) {
  return scene.loop.ctx.compaction.compactNow(scene.agent, new AbortController().signal)
}

test('after a compaction the reviewer is shown the summary and what still stands, with the task and its notes', async () => {
  const scene = await twoTurns()
  expect(await compact(scene)).not.toBeNull()
  void scene.prompt('And d.txt')
  await scene.step(3)
  const request = await scene.review(3)
  const value = shown(request)
  expect(userTexts(request)[0]).toContain('**user:** Read b.txt')
  expect(userTexts(request)[0]).toContain('Notes you gave before:\n- concern')
  expect(value).toContain('scripted summary')
  expect(value).toContain('**agent:** second a long')
  expect(value).toContain('**user:** And d.txt')
  expect(value).not.toContain('**agent:** a long')
  expect(request.messages.every(message => message.role === 'user')).toBe(true)
  expect(value.split('scripted summary')).toHaveLength(2)
  expect(value.split('Wrong file.')).toHaveLength(2)
})

test('what is shown again is bounded', async () => {
  const scene = await twoTurns({ config: { maxDeltaChars: 2000 } })
  await compact(scene)
  void scene.prompt('And d.txt')
  await scene.step(3)
  const request = await scene.review(3)
  expect(userTexts(request).slice(1).join('').length).toBeLessThanOrEqual(2000)
  expect(shown(request)).toContain('Read b.txt')
})

test('a compaction by itself causes no note, no step and no second review of the past', async () => {
  const scene = await twoTurns()
  await compact(scene)
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(3)
  expect(scene.reviews).toHaveLength(3)
  expect(scene.loop.requests.compaction).toHaveLength(1)
})

test('a note given before a compaction is not given again after it', async () => {
  const scene = await twoTurns()
  await compact(scene)
  void scene.prompt('And d.txt')
  await scene.step(3)
  await scene.review(3, advise('Wrong file!', 'concern'))
  const request = await scene.step(4)
  expect(advisories(request).filter(value => value.includes('Wrong file!'))).toEqual([])
})

test('a review that was under way during a compaction still speaks, and the next one starts over', async () => {
  const scene = await twoTurns({ config: { immuneTurns: 0 } })
  const run = scene.prompt('And d.txt')
  await scene.primary.asked(3)
  scene.primary.answer(3, text(LONG))
  await run
  await scene.reviewer.asked(3)
  await compact(scene)
  await scene.review(3, advise('The answer leaves out d.txt.', 'concern'))
  void scene.prompt('And e.txt')
  expect(notes(await scene.primary.asked(4))).toContain('concern: The answer leaves out d.txt.')
  await scene.step(4)
  const request = await scene.review(4)
  expect(shown(request)).toContain('scripted summary')
  expect(userTexts(request)[0]).toContain('Read b.txt')
  expect(userTexts(request)[0]).toContain('The answer leaves out d.txt.')
  await scene.step(5)
  const next = await scene.review(5)
  expect(JSON.stringify(next.messages).startsWith(JSON.stringify(request.messages).slice(0, -1))).toBe(true)
})

test('a compaction that fails changes nothing: the conversation goes on where it was', async () => {
  const scene = await twoTurns({ script: { primary: () => text(''), compaction: () => fail({ code: 'SERVER', status: 500 }) } })
  await expect(compact(scene)).rejects.toThrow()
  expect(eventTypes(scene.loop.events(scene.agent))).toContain('compaction/start')
  const earlier = scene.reviews.at(-1)!
  void scene.prompt('And d.txt')
  await scene.step(3)
  const request = await scene.review(3)
  expect(JSON.stringify(request.messages).startsWith(JSON.stringify(earlier.messages).slice(0, -1))).toBe(true)
  expect(request.messages.length).toBe(earlier.messages.length + 2)
})

test('tool results that are pruned are shown again as they stand now, with the call they belong to, the task pinned', async () => {
  const scene = await startScene({ compaction: true, tools: { read: path => `${path}: ${'many words '.repeat(2000)}` } })
  await scene.loop.mount(ToolResultPruner, { thresholdChars: 1000, headChars: 100, tailChars: 100 })
  void scene.prompt('Read b.txt')
  await scene.step(0)
  await scene.review(0, advise('Wrong file.', 'nit'))
  expect(scene.loop.ctx.toolResultPruner.pruneSession(scene.agent.session).pruned).toHaveLength(1)
  await scene.step(1)
  const value = shown(await scene.review(1))
  expect(value).toContain('Read b.txt')
  expect(value).toContain('→ read(file-0.txt)')
  expect(value.match(/file-0\.txt: many words/g)).toHaveLength(1)
  expect(value).toContain('→ read(file-1.txt)')
  expect(value).toContain('Notes you gave before:\n- nit')
})

test('a compaction between the steps of a turn is seen in the same way, and advice still lands', async () => {
  const scene = await startScene({
    compaction: { thresholdRatio: 0.5, retainTokens: 20 },
    models: { primary: { contextWindow: 2000 } },
    tools: { read: path => `${path} ${'x '.repeat(3000)}` },
    config: { immuneTurns: 0 },
  })
  void scene.prompt('Read b.txt')
  await scene.step(0)
  await scene.review(0, advise('Wrong file.', 'concern'))
  const third = await scene.step(1)
  expect(eventTypes(scene.loop.events(scene.agent))).toContain('compaction/summary')
  expect(notes(third)).toEqual(['concern: Wrong file.'])
  await scene.review(1)
  await scene.step(2)
  const request = scene.reviews.at(-1)!
  expect(shown(request)).toContain('Read b.txt')
})
