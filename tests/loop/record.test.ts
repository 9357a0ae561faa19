/** The journal in the real loop: what is written of each review, and that a disk in trouble costs lines and nothing else. */
import { rmSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { SessionId } from '@deepseek-ai/dsh-session'
import * as advisor from '../../src/index.ts'
import { advise, adviseCall, answer, call, fail, reasoned, text, tool } from '../support/adapter-replies.ts'
import { createLoop, PROVIDER } from '../support/loop.ts'
import type { Loop } from '../support/loop.ts'
import { holdTime, notes, REVIEWER, startLoop, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'
import { journal, journalsOf, readLines, recordOf, reviews, reviewsIn } from '../support/loop-record.ts'
import { entry, roster, startRound } from '../support/loop-roster.ts'

/** What happens before a file of the plugin's own is opened; the host's own disk is the real one. */
const disk = vi.hoisted(() => ({ beforeOpen: async (_path: string): Promise<void> => {} }))
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const open: typeof real.open = async (...args) => {
    await disk.beforeOpen(String(args[0]))
    return real.open(...args)
  }
  return { ...real, open }
})
beforeEach(() => { disk.beforeOpen = async () => {} })

const PRICES = { [`${PROVIDER}/reviewer`]: { input: 1, output: 2, cacheRead: 0.1, currency: 'USD' } }
const usage = { inputTokens: 1000, outputTokens: 50, cacheReadTokens: 300, cacheWriteTokens: 20, reasoningTokens: 7 }
const COST = (1000 + 50 * 2 + 300 * 0.1 + 20 * 1) / 1e6

/** A session that is kept in a file, as a host keeps it. */
const kept = { persistence: true, config: { prices: PRICES } } as const

/** Two steps and the answer, each reviewed. */
async function threeReviews(scene: Scene): Promise<void> {
  const run = scene.prompt('go')
  for (const index of [0, 1]) {
    await scene.step(index)
    await scene.review(index)
  }
  scene.primary.answer(2, text('done'))
  await run
  await scene.review(2)
}

describe('a review', () => {
  test('is one line with what was shown, looked up, replied and noted, its usage, cost, model and time', async () => {
    const scene = await startScene({ ...kept, fs: true })
    await writeFile(join(scene.loop.cwd, 'a.txt'), 'alphabetical\n')
    const run = scene.prompt('Read a.txt')
    await scene.step(0)
    await scene.reviewer.asked(0)
    scene.reviewer.answer(0, answer({ reasoning: 'Is it there?', calls: [call('read', { file_path: 'a.txt' })], usage }))
    await scene.review(1, answer({ calls: [adviseCall('`a.txt` is empty.', 'concern', { quote: 'alphabetical', path: 'a.txt' })], usage }))
    const [line, ...others] = await reviews(scene.loop, scene.agent, 1)
    expect(others).toEqual([])
    expect(line).toEqual({
      v: 1, run: expect.stringMatching(/^[0-9a-f]{12}$/), at: expect.any(Number) as number, kind: 'review', end: 'advice',
      totals: expect.objectContaining({ counts: { calls: 2, reviews: 1, silent: 0, noVerdict: 0, failed: 0, dropped: 0, quarantined: 0, lookups: 1 } }) as object,
      updates: [1, 1],
      shown: [`Working folder: ${scene.loop.cwd}`, '## step 1.1\n**user:** Read a.txt', '→ read(file-0.txt)\n[tool result]\ncontent of file-0.txt\n[working]'],
      replies: [
        { text: '', reasoning: 'Is it there?', calls: [{ name: 'read', arguments: '{"file_path":"a.txt"}', answer: expect.stringContaining('alpha') as string }] },
        { text: '', calls: [expect.objectContaining({ name: 'advise' })] },
      ],
      notes: [{ id: 1, severity: 'concern', text: '`a.txt` is empty.', evidence: { quote: 'alphabetical', path: 'a.txt' } }],
      model: 'mock/reviewer', usage: { input: 2000, output: 100, cacheRead: 600, cacheWrite: 40, reasoning: 14 },
      cost: { amount: expect.closeTo(2 * COST, 12) as number, currency: 'USD' }, ms: expect.any(Number) as number,
    })
    scene.primary.answer(1, text('done'))
    await run
  })

  test('stands in the session\'s own folder, for the user alone; without one, in the home', async () => {
    const scene = await startScene(kept)
    await threeReviews(scene)
    await reviews(scene.loop, scene.agent, 3)
    const folder = recordOf(scene.loop, scene.agent)
    expect(folder).toMatch(/[/\\]sessions[/\\].*[/\\]s1[/\\]advisor$/)
    expect([folder, join(folder, '__advisor.jsonl')].map(path => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
    const other = await startScene({ reviewer: () => text('ok'), primary: () => text('done') })
    await other.prompt('go')
    await other.loop.until(() => journalsOf(other.loop, other.agent).length === 1)
    expect(recordOf(other.loop, other.agent)).toBe(join(other.loop.home, 'advisor', 's1'))
  })

  test('that was silence, prose, a failure or given up says so, and what the provider told of its usage', async () => {
    const scene = await startScene({ config: { prices: PRICES } })
    const time = holdTime()
    void scene.prompt('go')
    await scene.step(0)
    await scene.review(0, text('ok', { usage: false }))
    await scene.step(1)
    await scene.review(1, text('All is well with this, I would say.'))
    await scene.step(2)
    await scene.review(2, fail({ code: 'SERVER', status: 500, message: 'no' }))
    await time.pass(1_000)
    await scene.review(3, reasoned('Hm.', ''))
    await scene.step(3)
    await scene.reviewer.asked(4)
    await time.pass(1_234)
    await scene.advisor('off')
    expect((await reviews(scene.loop, scene.agent, 5)).map(({ end, failure, usage, ms }) => [end, failure, usage === 'unknown' ? usage : usage?.input, ms])).toEqual([
      ['silent', undefined, 'unknown', 0], ['no-verdict', undefined, 100, 0], ['failed', { code: 'SERVER', message: 'no' }, 0, 0],
      ['silent', undefined, 100, 0], ['aborted', undefined, 'unknown', 1_234],
    ])
  })

  test('that is tried again writes what it showed once, also when more was to be shown by then', async () => {
    const scene = await startScene()
    const time = holdTime()
    void scene.prompt('go')
    await scene.step(0)
    const busy = fail({ code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 10_000 })
    await scene.review(0, busy)
    await time.pass(10_000)
    await scene.review(1, busy)
    await scene.step(1)
    await time.pass(10_000)
    await scene.review(2)
    const lines = await reviews(scene.loop, scene.agent, 3)
    expect(lines.map(({ again, shown, end, updates }) => [again, shown?.length, end, updates])).toEqual([
      [undefined, 3, 'failed', [1, 1]], [3, 0, 'failed', [1, 1]], [3, 1, 'silent', [1, 2]],
    ])
    expect(lines.map(({ shown = [] }) => shown.join('\n').includes('file-0.txt'))).toEqual([true, false, false])
  })
})

test('where a note went, what the agent did about it and what the user thinks of it follow as lines', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.review(0, advise('`src/a.ts` is empty.', 'concern'))
  await scene.step(1, tool('edit', { file_path: 'src/a.ts' }))
  await scene.review(1)
  await scene.step(2, tool('edit', { file_path: 'src/a.ts' }))
  scene.primary.answer(3, text('done'))
  await run
  await scene.advisor('good 1')
  await scene.advisor('bad 1')
  await scene.loop.until(() => journal(scene.loop, scene.agent).at(-1)?.verdict === 'bad')
  expect(journal(scene.loop, scene.agent).filter(({ kind }) => kind !== 'review').map(({ kind, note, fate, verdict }) => [kind, note, fate ?? verdict])).toEqual([
    ['fate', 1, 'delivered at step 1.3'], ['verdict', 1, 'touched'], ['verdict', 1, 'good'], ['verdict', 1, 'bad'],
  ])
})

test('each advisor of a roster has a journal of its own', async () => {
  const round = await startRound(['arch', 'ops'], roster(entry('Arch'), entry('Ops')))
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise('Port 8080 is taken.', 'nit'))
  await round.review('ops', 0)
  for (const slug of ['arch', 'ops']) await reviews(round.loop, round.agent, 1, slug)
  expect(['arch', 'ops', ''].map(slug => reviewsIn(journal(round.loop, round.agent, slug)).map(({ model, notes }) => [model, notes?.length]))).toEqual([
    [['mock/arch', 1]], [['mock/ops', 0]], [],
  ])
})

describe('a disk', () => {
  test('that hangs holds up neither a note, nor the agent, nor the end by more than two seconds', async () => {
    disk.beforeOpen = () => new Promise(() => {})
    const scene = await startScene(kept)
    const time = holdTime()
    const run = scene.prompt('go')
    await scene.step(0)
    await scene.review(0, advise('Wrong file.', 'concern'))
    expect(notes(await scene.step(1))).toEqual(['concern: Wrong file.'])
    await scene.review(1)
    scene.primary.answer(2, text('done'))
    await run
    await scene.review(2)
    let gone = false
    void scene.fiber.dispose().then(() => { gone = true })
    await time.pass(1_900)
    expect(gone).toBe(false)
    await time.pass(2_200)
    expect(gone).toBe(true)
    expect(journalsOf(scene.loop, scene.agent)).toEqual([])
  })

  test('that takes nothing is one line to the user for all journals and the sums of the day, and the reviews go on', async () => {
    disk.beforeOpen = path => path.endsWith('.jsonl') ? Promise.reject(Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' })) : Promise.resolve()
    const round = await startRound(['arch', 'ops'], roster(entry('Arch'), entry('Ops')), kept)
    const run = round.scene.prompt('go')
    for (const index of [0, 1, 2]) {
      await round.scene.step(index)
      await round.review('arch', index)
      await round.review('ops', index)
    }
    round.scene.primary.answer(3, text('done'))
    await run
    await round.review('arch', 3)
    await round.review('ops', 3)
    expect(round.scene.told).toEqual([expect.stringMatching(/cannot be written \(EROFS: read-only file system\): reviews go on without it$/)])
    expect(await round.scene.advisor('usage')).toContain('This session: 8 calls, 8 reviews')
  })

  test('that comes back has all that was done meanwhile', async () => {
    let full = true
    disk.beforeOpen = () => full ? Promise.reject(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })) : Promise.resolve()
    const scene = await startScene(kept)
    const time = holdTime()
    void scene.prompt('go')
    await scene.step(0)
    await scene.review(0)
    await scene.step(1)
    await scene.review(1)
    expect(journal(scene.loop, scene.agent)).toEqual([])
    full = false
    await time.pass(60_000)
    await scene.step(2)
    await scene.review(2)
    expect((await reviews(scene.loop, scene.agent, 3)).map(({ updates }) => updates)).toEqual([[1, 1], [2, 2], [3, 3]])
    expect(scene.told).toHaveLength(1)
  })

  test('with a file where the folder should be is one line, and the reviews go on', async () => {
    const scene = await startScene({
      prepare: async (loop) => {
        await mkdir(join(loop.home, 'advisor'), { recursive: true })
        await writeFile(join(loop.home, 'advisor', 's1'), 'not a folder')
      },
    })
    await threeReviews(scene)
    expect(scene.told).toEqual([expect.stringMatching(/__advisor\.jsonl cannot be written \((ENOTDIR|EEXIST).*\): reviews go on without it$/)])
    expect((await scene.status()).Reviews).toMatch(/^3 /)
  })
})

test.each(['the journal', 'its folder', 'the whole session'])('%s may be taken away while it runs: what is done after is written down, with the sums of all', async (what) => {
  const scene = await startScene(kept)
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.review(0)
  await reviews(scene.loop, scene.agent, 1)
  await scene.loop.ctx.sessions.flush(scene.agent.session)
  const folder = recordOf(scene.loop, scene.agent)
  rmSync({ 'the journal': join(folder, '__advisor.jsonl'), 'its folder': folder, 'the whole session': join(folder, '..') }[what]!, { recursive: true })
  await scene.step(1)
  await scene.review(1)
  scene.primary.answer(2, text('done'))
  await run
  await scene.review(2)
  const lines = await reviews(scene.loop, scene.agent, 2)
  expect(lines.map(({ updates }) => updates)).toEqual([[2, 2], [3, 3]])
  expect(lines.at(-1)?.totals.counts.reviews).toBe(3)
  expect(scene.told).toEqual([])
})

describe('the sums of a session', () => {
  /** Mount the plugin and let so many prompts be reviewed. */
  async function visit(loop: Loop, prompts = 1): Promise<void> {
    await loop.mount(advisor, { ...REVIEWER, prices: PRICES })
    const agent = await loop.agent({ id: 'main' })
    await loop.settle()
    for (let prompt = 1; prompt <= prompts; prompt += 1) {
      await loop.prompt(agent, 'go')
      await loop.until(() => reviewsIn(journal(loop, agent)).length >= prompt && loop.requests.reviewer.length === prompt)
    }
  }
  const always = { primary: () => text('done'), reviewer: () => text('ok', { usage }) }
  const usageOf = async (loop: Loop, id: string) => (await loop.command(loop.ctx.agents.get(SessionId(id))!, '/advisor usage'))?.text?.split('\n') ?? []

  test('are there again when the plugin is mounted a second time, and go on', async () => {
    const scene = await startScene({ ...kept, ...always, primary: () => text('done') })
    await scene.prompt('go')
    await reviews(scene.loop, scene.agent, 1)
    await scene.fiber.dispose()
    await scene.loop.mount(advisor, { ...REVIEWER, prices: PRICES })
    await scene.loop.settle()
    expect((await usageOf(scene.loop, 's1'))[0]).toBe('This session: 1 call, 1 review, 0 notes; tokens 1,000 in, 50 out (7 reasoning), 300 cached, 20 written to the cache; cost 0.0012 USD')
    await scene.prompt('and now?')
    await reviews(scene.loop, scene.agent, 2)
    expect((await usageOf(scene.loop, 's1'))[0]).toBe('This session: 2 calls, 2 reviews, 0 notes; tokens 2,000 in, 100 out (14 reasoning), 600 cached, 40 written to the cache; cost 0.0023 USD')
  })

  test('are there again in a new process that resumes it, while a fork starts at zero', async () => {
    const first = await startLoop({ persistence: true, script: always })
    await visit(first)
    await first.ctx.sessions.flush(first.ctx.agents.get(SessionId('main'))!.session)
    await first.close('main')

    const second = await createLoop({ persistence: true, commands: true, script: always, home: first.home })
    onTestFinished(() => second.dispose())
    await second.mount(advisor, { ...REVIEWER, prices: PRICES })
    const resumed = await second.resume('main')
    await second.prompt(resumed, 'go on')
    await reviews(second, resumed, 2)
    expect((await usageOf(second, 'main'))[0]).toMatch(/^This session: 2 calls, 2 reviews/)
    const fork = await second.fork(resumed.session)
    expect(await usageOf(second, fork.id)).toEqual([
      'This session: 0 calls, 0 reviews, 0 notes; tokens 0 in, 0 out, 0 cached; cost nothing',
      expect.stringMatching(/^Today, all sessions: 2 calls, 2 reviews/),
    ])
    expect(new Set((await reviews(second, 'main', 2)).map(({ run }) => run)).size).toBe(2)
  })

  test('of two processes on one session add up in both, with no line lost or torn', async () => {
    const one = await startLoop({ script: always })
    const other = await createLoop({ commands: true, script: always, home: one.home })
    onTestFinished(() => other.dispose())
    await Promise.all([visit(one, 3), visit(other, 5)])
    expect(await reviews(one, 'main', 8)).toHaveLength(8)
    for (const loop of [one, other]) expect((await usageOf(loop, 'main'))[0]).toMatch(/^This session: 8 calls, 8 reviews/)
  })

  test('are on the disk when a session that closed a moment ago goes down with the host', async () => {
    const scene = await startScene({ ...kept, script: { primary: () => text('done') } })
    const run = scene.prompt('go')
    await scene.step(0)
    await scene.reviewer.asked(0)
    void run.catch(() => {})
    void scene.loop.close(scene.agent)
    await scene.fiber.dispose()
    expect(journal(scene.loop, 's1').map(({ kind, end }) => [kind, end])).toEqual([['review', 'aborted']])
    expect(readLines(join(scene.loop.home, 'advisor', 'usage.jsonl')).at(-1)?.totals.models['mock/reviewer']?.calls).toBe(1)
  })
})

test('a clock that jumps forth and back loses no line and makes no time less than none', async () => {
  const scene = await startScene(kept)
  const time = holdTime()
  void scene.prompt('go')
  const DAY = 86_400_000
  for (const [index, jump] of [0, 400 * DAY, -800 * DAY, 3 * DAY, -1_000].entries()) {
    await scene.step(index)
    await scene.reviewer.asked(index)
    vi.setSystemTime(Date.now() + jump)
    await scene.review(index, text('ok', { usage }))
    await time.pass(1)
  }
  const lines = await reviews(scene.loop, scene.agent, 5)
  expect(lines.map(({ updates }) => updates?.[0])).toEqual([1, 2, 3, 4, 5])
  expect(lines.every(({ ms = -1 }) => ms >= 0)).toBe(true)
  expect(lines.at(-1)?.totals.counts.reviews).toBe(5)
  const said = (await scene.advisor('usage')).split('\n')
  expect(said[0]).toContain('5 calls, 5 reviews')
  expect(said.at(-1)).toMatch(/^Today, all sessions: [12] calls?, [12] reviews?/)
})
