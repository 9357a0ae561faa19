/** A reviewer that never stops talking cannot keep an agent running that has finished, nor lose its first answer. */
import { expect, test, vi } from 'vitest'
import { advise, text } from '../support/adapter-replies.ts'
import type { Script } from '../support/adapter-replies.ts'
import { look, notes, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'

/** Sentences that share neither word nor name. */
const WORDS = [
  'Backups vanish whenever rotation kicks in.', 'Nobody validated signatures from upstream mirrors.', 'Port 8080 collides across replicas.',
  'Cyrillic filenames crash archive extraction.', 'Leap years break invoice scheduling.', 'Permissions became world writable yesterday.',
  'Deadlock looms between both mutexes.', 'Quadratic parsing chokes large payloads.', 'Stale caches serve deleted users.',
  'Migrations drop indexes silently.', 'Retry storms hammer payment gateways.', 'Passwords land inside plaintext logs.',
]

const nag: Script = (_request, index) => advise(`${WORDS[index % WORDS.length]} (${'x'.repeat(index)})`, 'blocker')

/** Steps of each turn before its answer. */
const STEPS = 3

/** One step at a time, the reviewer always done before the next. */
async function play(scene: Scene): Promise<void> {
  const run = scene.prompt('go')
  for (let index = 0; index < 60; index += 1) {
    await scene.loop.settle()
    if (scene.agent.status === 'idle') break
    await scene.loop.until(() => scene.steps.length > index || scene.agent.status === 'idle')
    scene.primary.answer(index, index < STEPS ? look(index) : text(`answer ${index}`))
  }
  await run
  await scene.loop.settle()
}

test.each([0, 1, 3])('with reopen %i, differently worded blockers on every update buy no more than that many answers', async (reopen) => {
  const scene = await startScene({ reviewer: nag, config: { immuneTurns: 0, reopen } })
  await play(scene)
  expect(scene.agent.status).toBe('idle')
  expect(scene.steps).toHaveLength(STEPS + 1 + reopen)
  expect(scene.loop.lastText(scene.agent)).toBe(`answer ${STEPS + reopen}`)
  expect(scene.agent.inbox.hasPending).toBe(false)
})

test.each([0, 1, 3])('with reopen %i, the same holds for advice that arrives while an answer is streamed', async (reopen) => {
  const scene = await startScene({ reviewer: nag, config: { immuneTurns: 0, reopen } })
  const run = scene.prompt('go')
  const steps = 1 + STEPS + reopen
  for (let index = 0; index < steps; index += 1) {
    await scene.primary.asked(index)
    await scene.loop.settle()
    scene.primary.answer(index, index < STEPS ? look(index) : text(`answer ${index}`))
  }
  await run
  await scene.loop.settle()
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(steps)
  expect(scene.agent.status).toBe('idle')
})

test.each([0, 1, 3])('with reopen %i, several notes an update change nothing about it', async (reopen) => {
  const several: Script = (_request, index) => ({
    kind: 'answer', calls: [0, 1, 2].map(n => ({
      name: 'advise', args: { note: `${WORDS[(index * 3 + n) % WORDS.length]} (${'y'.repeat(index)})`, severity: n === 0 ? 'concern' : 'blocker' },
    })),
  })
  const scene = await startScene({ reviewer: several, config: { immuneTurns: 0, reopen, notesPerUpdate: 8 } })
  await play(scene)
  expect(scene.steps).toHaveLength(STEPS + 1 + reopen)
})

test.each(['concern', 'nit'])('a %s after the answer reopens nothing, whatever is allowed', async (severity) => {
  const scene = await startScene({
    reviewer: (_request, index) => advise(`${WORDS[index % WORDS.length]}`, severity), config: { immuneTurns: 0, reopen: 5 },
  })
  await play(scene)
  expect(scene.steps).toHaveLength(STEPS + 1)
})

test('each prompt of the user has its own allowance', async () => {
  const scene = await startScene({ config: { immuneTurns: 0, reopen: 1 } })
  const run = scene.prompt('one')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('first'))
  await run
  await scene.review(0, advise(WORDS[0]!, 'blocker'))
  await scene.primary.asked(1)
  scene.primary.answer(1, text('second'))
  await scene.agent.whenIdle()
  await scene.review(1, advise(WORDS[1]!, 'blocker'))
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(2)

  const next = scene.prompt('two')
  const request = await scene.primary.asked(2)
  expect(notes(request)).toEqual([`blocker: ${WORDS[0]}`, `blocker: ${WORDS[1]}`])
  scene.primary.answer(2, text('third'))
  await next
  await scene.review(2, advise(WORDS[2]!, 'blocker'))
  expect(notes(await scene.primary.asked(3)).at(-1)).toBe(`blocker: ${WORDS[2]}`)
  scene.primary.answer(3, text('fourth'))
  await scene.agent.whenIdle()
  await scene.review(3, advise(WORDS[3]!, 'blocker'))
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(4)
})

test('the notes that no longer bought an answer are not lost: they stand before the user\'s next message, once', async () => {
  const scene = await startScene({ reviewer: nag, config: { immuneTurns: 0, reopen: 1 } })
  await play(scene)
  expect((await scene.status()).Notes).toContain('kept for the user\'s next message')
  const count = scene.steps.length
  void scene.prompt('thanks')
  const request = await scene.primary.asked(count)
  const all = notes(request)
  expect(new Set(all).size).toBe(all.length)
  for (let index = 0; index < count; index += 1) expect(all.some(note => note.includes(WORDS[index]!))).toBe(true)
})

test('an agent that works on forever is still advised: the limit is for what is finished', async () => {
  const scene = await startScene({ reviewer: nag, config: { immuneTurns: 0, reopen: 0 } })
  void scene.prompt('go')
  for (let index = 0; index < 6; index += 1) {
    await scene.step(index)
    await scene.loop.settle()
  }
  expect(notes(await scene.step(6))).toHaveLength(6)
})

test('on a headless run an answer that advice reopened stands on stderr, and after the end nothing is reopened', async () => {
  const lines: string[] = []
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((value) => {
    lines.push(String(value))
    return true
  })
  try {
    const scene = await startScene({ headless: true, config: { immuneTurns: 0, reopen: 3 } })
    const run = scene.prompt('go')
    await scene.step(0)
    scene.primary.answer(1, text('the first answer'))
    await scene.review(0, advise(WORDS[0]!, 'blocker'))
    await run
    await scene.review(1, advise(WORDS[1]!, 'blocker'))
    await scene.agent.whenIdle()
    expect(scene.steps.length).toBeLessThanOrEqual(3)
    if (scene.steps.length > 2) expect(lines.join('')).toContain('the first answer')
  } finally {
    write.mockRestore()
  }
})
