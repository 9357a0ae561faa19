/**
 * The failure table, row by row: the word in the status, a bounded number of calls, one line to the user, and a primary
 * that never notices.
 */
import { expect, test } from 'vitest'
import { advise, call, calls, cut, empty, fail, hang, maxTokens, text, throws } from '../support/adapter-replies.ts'
import type { Reply } from '../support/adapter-replies.ts'
import { userTexts } from '../support/loop.ts'
import { holdTime, notes, rejections, shown, startScene } from '../support/loop-advised.ts'
import type { Scene, SceneOptions } from '../support/loop-advised.ts'

/** A reviewer that gives these replies in order, and is silent afterwards. */
function trouble(replies: readonly Reply[], options: SceneOptions = {}): Promise<Scene> {
  return startScene({ ...options, reviewer: (_request, index) => replies[index] ?? text('ok') })
}

/** End the run, and check that the primary did and saw what it would have without the advisor. */
async function finish(scene: Scene, run: Promise<void>): Promise<void> {
  const steps = scene.steps.length
  scene.primary.answer(steps - 1, text('done'))
  await run
  await scene.loop.settle()
  expect(scene.loop.lastText(scene.agent)).toBe('done')
  expect(scene.steps).toHaveLength(steps)
  for (const request of scene.steps) expect(userTexts(request)).toEqual(['go'])
}

async function word(scene: Scene): Promise<string> {
  return (await scene.status()).Advisor.split(' ')[0] ?? ''
}

const server = fail({ code: 'SERVER', status: 500 })

test('a rate limit that names a delay is waited out to the end, the batch kept, without a word', async () => {
  const scene = await trouble([fail({ code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 60_000 }), advise('Wrong file.', 'concern')])
  const time = holdTime()
  void scene.prompt('go')
  await scene.step(0)
  await time.pass(59_900)
  expect(scene.reviews).toHaveLength(1)
  expect(await word(scene)).toBe('running')
  await scene.step(1)
  expect(scene.reviews).toHaveLength(1)
  await time.pass(200)
  expect(scene.reviews).toHaveLength(2)
  expect(shown(scene.reviews[1])).toMatch(/file-0\.txt[\s\S]*file-1\.txt/)
  expect(notes(await scene.step(2))).toEqual(['concern: Wrong file.'])
  expect(scene.told).toEqual([])
})

test('rate limits without a delay are waited out longer and longer, and end in a pause', async () => {
  const scene = await trouble(Array<Reply>(100).fill(fail({ code: 'RATE_LIMIT', status: 429 })))
  const time = holdTime()
  const run = scene.prompt('go')
  await scene.step(0)
  await time.pass(500)
  expect(scene.reviews).toHaveLength(1)
  await time.pass(3_600_000)
  expect(scene.reviews.length).toBeGreaterThan(1)
  expect(scene.reviews.length).toBeLessThanOrEqual(8)
  expect(await word(scene)).toBe('quota_exhausted')
  expect(scene.told).toHaveLength(1)
  await finish(scene, run)
})

test.each<[string, Reply, RegExp]>([
  ['an exhausted quota', fail({ code: 'QUOTA', status: 402, message: 'insufficient balance' }), /insufficient balance/],
  ['a quota told as a rate limit', fail({ code: 'QUOTA', status: 429 }), /QUOTA/],
  ['HTTP 402 under another code', fail({ code: 'HTTP_402', status: 402 }), /402/],
])('%s pauses after one call, keeps the batch and sets no timer', async (_name, reply, reason) => {
  const scene = await trouble([reply])
  const time = holdTime()
  const run = scene.prompt('go')
  const timers = time.timers
  await scene.step(0)
  await scene.step(1)
  await time.pass(86_400_000)
  await scene.step(2)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  expect(time.timers).toBe(timers)
  expect((await scene.status()).Advisor).toMatch(/^quota_exhausted \(/)
  expect((await scene.status()).Advisor).toMatch(reason)
  expect((await scene.status()).Pending).toBe('3 updates')
  expect(scene.told).toHaveLength(1)
  expect(scene.told[0]).toContain('/advisor on')
  await finish(scene, run)
})

test('a limit longer than a minute pauses, and the first update after it tries once', async () => {
  const limit = fail({ code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 300_000 })
  const scene = await trouble([limit, limit])
  const time = holdTime()
  const run = scene.prompt('go')
  await scene.step(0)
  await time.pass(299_000)
  await scene.step(1)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  expect(await word(scene)).toBe('quota_exhausted')
  await time.pass(2_000)
  expect(scene.reviews).toHaveLength(1)
  await scene.step(2)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(2)
  expect(await word(scene)).toBe('quota_exhausted')
  await time.pass(301_000)
  await scene.step(3)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(3)
  expect(shown(scene.reviews[2])).toContain('file-0.txt')
  expect(await word(scene)).toBe('running')
  await finish(scene, run)
})

test.each<[string, Reply]>([
  ['HTTP 500', server],
  ['HTTP 503', fail({ code: 'SERVER', status: 503 })],
  ['a broken connection', fail({ code: 'TRANSPORT' })],
  ['a stream that breaks off with an error', fail({ code: 'TRANSPORT' }, 'I wou')],
  ['a stream cut off without a finish', cut('I wou')],
  ['a stream that ends before it begins', cut()],
  ['an empty reply without usage', empty(false)],
  ['a malformed response', fail({ code: 'MALFORMED_RESPONSE' })],
  ['an adapter that throws', throws(new Error('boom'))],
  ['an adapter that throws what is no error', throws('boom')],
  ['no first byte', hang()],
  ['no first byte from an adapter that ignores its signal', hang({ ignoreSignal: true })],
  ['a reply that stops in the middle', hang({ after: 'I wou' })],
  ['a reply that stops in the middle and ignores its signal', hang({ after: 'I wou', ignoreSignal: true })],
])('%s: one retry, then that batch is dropped, and the next success is running again', async (_name, reply) => {
  const broken = rejections()
  const scene = await trouble([reply, reply])
  const time = holdTime()
  const run = scene.prompt('go')
  await scene.step(0)
  await time.pass(300_000)
  expect(scene.reviews).toHaveLength(2)
  expect(await word(scene)).toBe('failing')
  expect((await scene.status()).Reviews).toMatch(/2 failed calls, 1 update dropped$/)
  expect(scene.told).toHaveLength(1)
  await scene.step(1)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(3)
  expect(shown(scene.reviews[2])).toContain('file-1.txt')
  expect(await word(scene)).toBe('running')
  await finish(scene, run)
  expect(broken).toEqual([])
})

test('one retry that succeeds loses nothing and says nothing', async () => {
  const scene = await trouble([server, advise('Wrong file.', 'concern')])
  const time = holdTime()
  void scene.prompt('go')
  await scene.step(0)
  await time.pass(60_000)
  expect(userTexts(scene.reviews[1]!)).toEqual(userTexts(scene.reviews[0]!))
  expect(notes(await scene.step(1))).toEqual(['concern: Wrong file.'])
  expect(scene.told).toEqual([])
})

test('a call may take as long as configured, and no longer', async () => {
  const scene = await trouble([hang({ after: 'I wou' }), hang({ after: 'I wou' })], { config: { timeout: 5 } })
  const time = holdTime()
  const run = scene.prompt('go')
  await scene.step(0)
  await time.pass(4_900)
  expect(scene.reviews[0]!.signal?.aborted).toBe(false)
  await time.pass(200)
  expect(scene.reviews[0]!.signal?.aborted).toBe(true)
  await time.pass(10_000)
  expect(scene.reviews).toHaveLength(2)
  await finish(scene, run)
})

test('the first byte may take half a minute, and no longer', async () => {
  const scene = await trouble([hang()])
  const time = holdTime()
  const run = scene.prompt('go')
  await scene.step(0)
  await time.pass(29_900)
  expect(scene.reviews[0]!.signal?.aborted).toBe(false)
  await time.pass(200)
  expect(scene.reviews[0]!.signal?.aborted).toBe(true)
  await time.pass(5_000)
  expect(scene.reviews).toHaveLength(2)
  await finish(scene, run)
})

test('a reviewer that fails for good is asked less and less, and the user is told once that it fails, once that nothing else comes of it', async () => {
  const scene = await trouble(Array<Reply>(500).fill(server))
  const time = holdTime()
  const run = scene.prompt('go')
  for (let index = 0; index < 60; index += 1) {
    await scene.step(index)
    await time.pass(5_000)
  }
  expect(scene.reviews.length).toBeLessThanOrEqual(20)
  expect(await word(scene)).toBe('failing')
  expect(scene.told).toEqual([
    expect.stringContaining('failing: SERVER'),
    'advisor: nothing but failures: 10 calls failed and no review came of them; `/advisor check` says what is wrong',
  ])
  expect(await scene.advisor('status')).toMatch(/\nWarning: nothing but failures: \d+ calls failed and no review came of them; `\/advisor check` says what is wrong$/)
  await finish(scene, run)
})

test('three batches lost in a row take the backlog with them', async () => {
  const scene = await trouble(Array<Reply>(500).fill(server))
  const time = holdTime()
  const run = scene.prompt('go')
  for (let index = 0; index < 3; index += 1) {
    await scene.step(index)
    if (index < 2) await time.pass(60_000)
  }
  await scene.loop.until(() => scene.reviews.length === 5)
  await scene.step(3)
  await scene.step(4)
  expect((await scene.status()).Pending).toBe('3 updates, reviewing')
  await time.pass(60_000)
  expect((await scene.status()).Pending).toBe('0 updates')
  expect((await scene.status()).Reviews).toContain('5 updates dropped')
  await finish(scene, run)
})

test.each<[string, Reply]>([
  ['HTTP 401', fail({ code: 'AUTH', status: 401, message: 'bad key' })],
  ['HTTP 403', fail({ code: 'AUTH', status: 403 })],
  ['a missing credential', fail({ code: 'MISSING_CREDENTIAL' })],
  ['an invalid credential', fail({ code: 'INVALID_CREDENTIAL' })],
  ['HTTP 400', fail({ code: 'INVALID_REQUEST', status: 400 })],
  ['HTTP 404, an unknown model on the wire', fail({ code: 'HTTP_404', status: 404, message: 'model not found' })],
  ['an effort the provider refuses', fail({ code: 'UNSUPPORTED_REASONING_EFFORT' })],
])('%s stops the reviewer after one call and one line', async (_name, reply) => {
  const scene = await trouble([reply])
  const time = holdTime()
  const run = scene.prompt('go')
  for (let index = 0; index < 4; index += 1) await scene.step(index)
  await time.pass(3_600_000)
  expect(scene.reviews).toHaveLength(1)
  expect((await scene.status()).Advisor).toMatch(/^halted \(.+\)$/)
  expect(scene.told).toHaveLength(1)
  expect(scene.told[0]).toContain('/advisor on')
  await finish(scene, run)
})

test('a context that is too long even alone costs that batch after two calls, and the reviewer stays running', async () => {
  const overflow = fail({ code: 'CONTEXT_WINDOW_EXCEEDED', status: 400 })
  const scene = await trouble([overflow, overflow])
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(2)
  expect(await word(scene)).toBe('running')
  expect((await scene.status()).Pending).toBe('0 updates')
  await scene.step(1)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(3)
  expect(userTexts(scene.reviews[2]!)[0]).toContain('**user:** go')
  await finish(scene, run)
})

test.each<[string, Reply, string]>([
  ['an empty reply with usage is silence', empty(), '1 (1 silent, 0 without a verdict)'],
  ['`ok` is silence', text('OK.'), '1 (1 silent, 0 without a verdict)'],
  ['prose reaches nobody', text('The agent should look at b.txt instead.'), '1 (0 silent, 1 without a verdict)'],
  ['JSON without a note reaches nobody', text('{"verdict": "bad", "severity": "blocker"}'), '1 (0 silent, 1 without a verdict)'],
  ['an unknown tool reaches nobody', calls(call('edit', { file_path: 'a' })), '1 (0 silent, 1 without a verdict)'],
  ['broken arguments reach nobody', calls(call('advise', '{"note": "Wrong fi')), '1 (0 silent, 1 without a verdict)'],
  ['mistyped arguments reach nobody', calls(call('advise', { note: ['a'], severity: 1 })), '1 (0 silent, 1 without a verdict)'],
  ['a reply cut at the output limit reaches nobody', maxTokens('The agent sho'), '1 (0 silent, 1 without a verdict)'],
  ['filler in the note reaches nobody', advise('No issues found.', 'blocker'), '1 (0 silent, 0 without a verdict)'],
])('%s, is one call, and no failure', async (_name, reply, counts) => {
  const scene = await trouble([reply])
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  expect((await scene.status()).Reviews).toBe(`${counts}, 0 look-ups, 0 replies thrown away, 0 failed calls, 0 updates dropped`)
  expect(await word(scene)).toBe('running')
  expect(scene.told).toEqual([])
  await finish(scene, run)
})
