/** When a review is made, and that whatever one review skipped is seen by the next. */
import { expect, test } from 'vitest'
import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import { advise, call, calls, sequence, text, tool } from '../support/adapter-replies.ts'
import { userTexts } from '../support/loop.ts'
import { added, look, notes, shown, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'

const edit = tool('edit', { file_path: 'a.ts', old_string: 'x', new_string: 'y' })

/** Two looks, one edit, one look, the answer. */
const WORK = [look(0), look(1), edit, look(3), text('done')]

/** Play `WORK` slowly, every review being done before the next step, and return the reviewer's requests. */
async function work(scene: Scene): Promise<readonly GenerateOptions[]> {
  const run = scene.prompt('Fix a.ts')
  for (const [index, reply] of WORK.entries()) {
    await scene.primary.asked(index)
    await scene.loop.settle()
    scene.primary.answer(index, reply)
  }
  await run
  await scene.loop.settle()
  return scene.reviews
}

/** What each review was shown for the first time, as the names of what stands in it. */
function seen(reviews: readonly GenerateOptions[]): string[] {
  return reviews.map((request, index) => {
    const value = added(request, reviews[index - 1]).join('\n')
    return ['file-0', 'file-1', 'edit', 'file-3', 'agent:** done'].filter(word => value.includes(word)).join(' ')
  })
}

const quiet = { reviewer: () => text('ok') }

test('with `step` every step is reviewed', async () => {
  const scene = await startScene(quiet)
  expect(seen(await work(scene))).toEqual(['file-0', 'file-1', 'edit', 'file-3', 'agent:** done'])
})

test('with `mutation` only steps that changed something are, and the end', async () => {
  const scene = await startScene({ ...quiet, config: { reviewAt: 'mutation' } })
  expect(seen(await work(scene))).toEqual(['file-0 file-1 edit', 'file-3 agent:** done'])
})

test('with `turn` one review sees the whole turn', async () => {
  const scene = await startScene({ ...quiet, config: { reviewAt: 'turn' } })
  const reviews = await work(scene)
  expect(seen(reviews)).toEqual(['file-0 file-1 edit file-3 agent:** done'])
  expect(shown(reviews[0])).not.toContain('[working]')
  scene.primary.answer(5, text('again'))
  await scene.prompt('More')
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(2)
})

test('with every second update the others are seen by the next review', async () => {
  const scene = await startScene({ ...quiet, config: { reviewEvery: 2 } })
  expect(seen(await work(scene))).toEqual(['file-0 file-1', 'edit file-3'])
  scene.primary.answer(5, text('and more'))
  await scene.prompt('More')
  await scene.loop.settle()
  expect(shown(scene.reviews[2])).toContain('**agent:** done')
  expect(shown(scene.reviews[2])).toContain('**user:** More')
})

test('with every third mutation the steps between count for nothing and are still shown', async () => {
  const scene = await startScene({
    ...quiet, config: { reviewAt: 'mutation', reviewEvery: 3 },
    primary: sequence(edit, look(1), calls(call('bash', { command: 'one' })), look(3), calls(call('bash', { command: 'two' })), text('done')),
  })
  await scene.prompt('go')
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  expect(userTexts(scene.reviews[0]!).join()).toMatch(/a\.ts.*file-1.*one.*file-3.*two/s)
})

test('a step in which nothing happened that is worth showing asks no model', async () => {
  const scene = await startScene(quiet)
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  scene.primary.answer(1, text('done'))
  await run
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(2)
  expect((await scene.status()).Pending).toBe('0 updates')
})

test('steps that pass while a review is held are seen by exactly one further review, oldest first', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.reviewer.asked(0)
  await scene.step(1)
  await scene.step(2)
  await scene.step(3)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  const first = await scene.review(0)
  const second = await scene.review(1)
  expect(added(second, first)).toEqual([
    '## step 1.2\n→ read(file-1.txt)\n[tool result]\ncontent of file-1.txt',
    '## step 1.3\n→ read(file-2.txt)\n[tool result]\ncontent of file-2.txt',
    '## step 1.4\n→ read(file-3.txt)\n[tool result]\ncontent of file-3.txt\n[working]',
  ])
  scene.primary.answer(4, text('done'))
  await run
  await scene.review(2)
  expect(scene.reviews).toHaveLength(3)
})

/** Let one review be held while 40 further steps pass, then finish it. */
async function overflow(): Promise<{ scene: Scene, request: GenerateOptions }> {
  const scene = await startScene()
  void scene.prompt('Find the fault in parser.ts')
  await scene.step(0)
  await scene.reviewer.asked(0)
  for (let index = 1; index <= 40; index += 1) await scene.step(index)
  expect((await scene.status()).Pending).toBe('33 updates, reviewing')
  await scene.review(0)
  return { scene, request: await scene.review(1) }
}

test('a backlog that runs over gives up the oldest steps, never the task and the newest', async () => {
  const { scene, request } = await overflow()
  const value = shown(request)
  expect(value).toContain('Find the fault in parser.ts')
  for (let index = 1; index <= 8; index += 1) expect(value).not.toContain(`file-${index}.txt`)
  for (let index = 9; index <= 40; index += 1) expect(value).toContain(`file-${index}.txt`)
  expect(scene.reviews).toHaveLength(2)
})

test('a backlog that ran over during a review tells the reviewer how many updates it was not shown', async () => {
  const { request } = await overflow()
  expect(shown(request)).toContain('[8 earlier updates were not shown to you]')
})

test('a backlog that ran over tells the user in the status how many updates were never reviewed', async () => {
  const { scene } = await overflow()
  expect((await scene.status()).Reviews).toMatch(/ 8 updates dropped$/)
})

test('a cadence wider than the backlog is still reached', async () => {
  const scene = await startScene({ ...quiet, config: { reviewEvery: 40 } })
  const run = scene.prompt('go')
  for (let index = 0; index < 40; index += 1) await scene.step(index)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  expect(shown(scene.reviews[0])).toContain('file-0.txt')
  scene.primary.answer(40, text('done'))
  await run
})

test('one delta stays within its bounds: the newest messages are kept, behind a mark, and the task all the same', async () => {
  const scene = await startScene({ ...quiet, config: { reviewAt: 'turn', maxDeltaMessages: 3 } })
  await work(scene)
  const texts = userTexts(scene.reviews[0]!)
  expect(texts.slice(-3)[0]).toMatch(/^… <earlier messages omitted>\n/)
  expect(texts.at(-1)).toContain('**agent:** done')
  expect(shown(scene.reviews[0])).toContain('Fix a.ts')
  expect(shown(scene.reviews[0])).not.toContain('file-0')
})

test('one delta stays within its size, whatever its messages hold', async () => {
  const scene = await startScene({ ...quiet, config: { maxDeltaChars: 1000 }, tools: { read: () => 'y'.repeat(50_000) } })
  await work(scene)
  for (const [index, request] of scene.reviews.entries()) {
    const delta = added(request, scene.reviews[index - 1]).filter(value => !value.startsWith('Working folder'))
    expect(delta.join('').length).toBeLessThanOrEqual(1000)
  }
})

test('the reasoning of the primary is shown only when asked for', async () => {
  for (const includeReasoning of [false, true]) {
    const scene = await startScene({
      ...quiet, config: { includeReasoning }, primary: () => ({ kind: 'answer', reasoning: 'I shall cheat.', text: 'done' }),
    })
    await scene.prompt('go')
    await scene.loop.until(() => scene.reviews.length === 1)
    expect(shown(scene.reviews[0]).includes('I shall cheat.')).toBe(includeReasoning)
  }
})

test('notes of a per-turn review count immunity in turns', async () => {
  const scene = await startScene({ config: { reviewAt: 'turn', immuneTurns: 1, reopen: 5 } })
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.review(0, advise('Nothing was saved.', 'blocker'))
  expect(notes(await scene.primary.asked(1))).toEqual(['blocker: Nothing was saved.'])
  scene.primary.answer(1, text('saved'))
  await scene.loop.until(() => scene.reviews.length === 2)
  await scene.review(1, advise('The other file is still missing.', 'blocker'))
  await scene.primary.asked(2)
  expect(scene.steps).toHaveLength(3)
  scene.primary.answer(2, text('all saved'))
  await scene.agent.whenIdle()
})
