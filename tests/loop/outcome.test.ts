/** What the notes were worth: what the agent did about them, read from its steps, and what the user thinks of them. */
import { describe, expect, test } from 'vitest'
import { advise, adviseCall, calls, call, text, tool } from '../support/adapter-replies.ts'
import type { Reply } from '../support/adapter-replies.ts'
import { startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'
import { journal } from '../support/loop-record.ts'
import { entry, roster, startRound } from '../support/loop-roster.ts'

/** A note on the first step, delivered with the third. */
async function delivered(note: string | Reply): Promise<{ scene: Scene, run: Promise<void> }> {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.review(0, typeof note === 'string' ? advise(note, 'concern') : note)
  await scene.step(1)
  return { scene, run }
}

/** The rows of `/advisor usage` on what notes were worth. */
async function rates(scene: Scene): Promise<string[]> {
  return (await scene.advisor('usage')).split('\n').filter(line => /^(\w+, )?(nit|concern|blocker): /.test(line))
}

const NOTE = '`src/old/main.ts` still imports `parseAll`.'

describe('a note that the agent has read', () => {
  test.each<[string, Reply]>([
    ['the file it names', tool('edit', { file_path: 'src/old/main.ts' })],
    ['a name that it quotes', tool('bash', { command: 'grep -rn parseAll .' })],
    ['the file, with the folder it works in before it', tool('edit', { file_path: '/repo/shop/src/old/main.ts' })],
    ['it in the second of two calls', calls(call('read', { file_path: 'x.txt' }), call('edit', { file_path: 'src/old/main.ts' }))],
  ])('is acted on when the next step touches %s', async (_, reply) => {
    const { scene } = await delivered(NOTE)
    expect(await rates(scene)).toEqual(['concern: 1 note, none followed to its end yet'])
    await scene.step(2, reply)
    expect(await rates(scene)).toEqual(['concern: 1 note, 1 of 1 acted on'])
  })

  test('is acted on also a few steps later, and once', async () => {
    const { scene } = await delivered(NOTE)
    await scene.step(2)
    await scene.step(3)
    for (const index of [4, 5]) await scene.step(index, tool('edit', { file_path: 'src/old/main.ts' }))
    expect(await rates(scene)).toEqual(['concern: 1 note, 1 of 1 acted on'])
  })

  test('is ignored when the agent answers without having touched it', async () => {
    const { scene, run } = await delivered(NOTE)
    await scene.step(2)
    scene.primary.answer(3, text('done'))
    await run
    expect(await rates(scene)).toEqual(['concern: 1 note, 0 of 1 acted on'])
  })

  test('is ignored when many steps have not touched it', async () => {
    const { scene } = await delivered(NOTE)
    for (const index of [2, 3, 4, 5, 6, 7, 8]) await scene.step(index)
    expect(await rates(scene)).toEqual(['concern: 1 note, 0 of 1 acted on'])
  })

  test('is neither when the user stops the agent', async () => {
    const { scene, run } = await delivered(NOTE)
    await scene.primary.asked(2)
    scene.agent.cancel({ kind: 'user' })
    await run
    expect(await rates(scene)).toEqual(['concern: 1 note, none followed to its end yet'])
  })

  test('is neither when it names nothing that could be found', async () => {
    const { scene, run } = await delivered('You are going in circles.')
    await scene.step(2)
    scene.primary.answer(3, text('done'))
    await run
    expect(await rates(scene)).toEqual(['concern: 1 note, none followed to its end yet'])
  })
})

test('what the agent did before it had the note is not counted', async () => {
  const scene = await startScene()
  void scene.prompt('go')
  await scene.step(0)
  await scene.review(0, advise(NOTE, 'concern'))
  await scene.step(1, tool('edit', { file_path: 'src/old/main.ts' }))
  expect(await rates(scene)).toEqual(['concern: 1 note, none followed to its end yet'])
})

test('the file of the evidence is what a note is about, also when its text names none', async () => {
  const { scene } = await delivered(advise('The port is taken.', 'concern', { quote: 'content of file-0.txt', path: 'conf/ports.yml' }))
  await scene.step(2, tool('edit', { file_path: 'conf/ports.yml' }))
  expect(await rates(scene)).toEqual(['concern: 1 note, 1 of 1 acted on'])
})

test('each advisor has its rates by severity, the gravest first; a note of both counts for both', async () => {
  const round = await startRound(['arch', 'ops'], roster(entry('Arch'), entry('Ops')), { config: { immuneTurns: 0, notesPerUpdate: 2 } })
  const { scene } = round
  void scene.prompt('go')
  await scene.step(0)
  await round.review('arch', 0, calls(adviseCall(NOTE, 'concern'), adviseCall('`zeta.ts` is unused.', 'nit')))
  await round.review('ops', 0, advise('Again: `src/old/main.ts` imports `parseAll`, still.', 'concern'))
  await scene.step(1)
  await scene.step(2, tool('edit', { file_path: 'src/old/main.ts' }))
  for (const index of [3, 4, 5, 6, 7, 8]) await scene.step(index)
  await scene.advisor('good 1')
  expect(await rates(scene)).toEqual([
    'Arch, concern: 1 note, 1 of 1 acted on; the user found 1 good and 0 bad',
    'Arch, nit: 1 note, 0 of 1 acted on',
    'Ops, concern: 1 note, 1 of 1 acted on; the user found 1 good and 0 bad',
  ])
})

describe('the user', () => {
  test('may say what a note was worth, and think better of it', async () => {
    const { scene } = await delivered('You are going in circles.')
    expect(await scene.advisor('good 1')).toBe('Note 1 counts as good; `/advisor usage` shows the rates.')
    await scene.advisor('good #1')
    expect(await rates(scene)).toEqual(['concern: 1 note, none followed to its end yet; the user found 1 good and 0 bad'])
    expect(await scene.advisor('bad #1')).toBe('Note #1 counts as bad; `/advisor usage` shows the rates.')
    expect(await rates(scene)).toEqual(['concern: 1 note, none followed to its end yet; the user found 0 good and 1 bad'])
    await scene.loop.until(() => journal(scene.loop, scene.agent).at(-1)?.verdict === 'bad')
    const { good, bad } = journal(scene.loop, scene.agent).at(-1)!.totals.outcomes.concern
    expect([good, bad]).toEqual([0, 1])
  })

  test('may say it of a note that was put away', async () => {
    const { scene } = await delivered('You are going in circles.')
    await scene.advisor('dismiss 1')
    expect(await scene.advisor('bad 1')).toContain('counts as bad')
  })

  test.each([
    ['good', '/advisor good needs the number of a note; got "".'], ['bad one', '/advisor bad needs the number of a note; got "one".'],
    ['good 7', 'There is no note 7; `/advisor notes` lists them.'], ['bad 0', 'There is no note 0; `/advisor notes` lists them.'],
    ['good 1 2', '/advisor good needs the number of a note; got "1 2".'],
  ])('is told what `/advisor %s` lacks', async (words, answer) => {
    const { scene } = await delivered('You are going in circles.')
    const result = await scene.loop.command(scene.agent, `/advisor ${words}`)
    expect(result).toEqual({ kind: 'error', text: answer })
    expect(await rates(scene)).toEqual(['concern: 1 note, none followed to its end yet'])
  })
})
