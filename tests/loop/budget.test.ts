/** What a session may spend: asked before each call, told once, granted by the user or by the settings, shared with subagents. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { SessionId } from '@deepseek-ai/dsh-session'
import { settingsNamespace } from '@deepseek-ai/dsh-settings'
import * as advisor from '../../src/index.ts'
import { advise, answer, call, text } from '../support/adapter-replies.ts'
import type { Reply } from '../support/adapter-replies.ts'
import { createLoop, PROVIDER } from '../support/loop.ts'
import { holdTime, look, notes, REVIEWER, shown, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'
import { subagent } from '../support/loop-moments.ts'
import { reviews } from '../support/loop-record.ts'
import { entry, roster, startRound } from '../support/loop-roster.ts'

/** A reply that was billed so many tokens. */
const billed = (tokens: number): Reply => text('ok', { usage: { inputTokens: tokens - 10, outputTokens: 10 } })
const PRICES = { [`${PROVIDER}/reviewer`]: { input: 100, output: 0, currency: 'CNY' } }

/** So many steps, each reviewed at this price, until nothing more is asked. */
async function steps(scene: Scene, from: number, count: number, tokens: number): Promise<void> {
  for (let index = from; index < from + count; index += 1) {
    await scene.step(index)
    if (scene.reviews.length > index) await scene.review(index, billed(tokens))
  }
}

test('a budget of tokens ends the calls before it is passed; the state says so and the user is told once', async () => {
  const scene = await startScene({ config: { budget: { tokens: 8_500 } } })
  const run = scene.prompt('go')
  await steps(scene, 0, 5, 4_000)
  expect(scene.reviews).toHaveLength(2)
  const [, spent, reason] = /^budget_exhausted \((8,000 of 8,500 tokens of its budget are spent, and the next call may take ([\d,]+))\)$/.exec((await scene.status()).Advisor) ?? []
  expect(reason).toBeDefined()
  expect((await scene.status()).Pending).toBe('3 updates')
  expect(scene.told).toEqual([`advisor: budget_exhausted: ${spent}; \`/advisor on\` grants as much again`])
  scene.primary.answer(5, text('done'))
  await run
  await scene.loop.settle()
  expect(scene.loop.lastText(scene.agent)).toBe('done')
  expect(scene.told).toHaveLength(1)
})

test('a budget of money is held against what was billed at the price of the model', async () => {
  const scene = await startScene({ config: { budget: { cost: 1 }, prices: PRICES } })
  void scene.prompt('go')
  await steps(scene, 0, 4, 4_010)
  expect(scene.reviews).toHaveLength(2)
  expect((await scene.status()).Advisor).toMatch(/^budget_exhausted \(0\.8 of 1 CNY of its budget are spent, and the next call may take 0\.\d+\)$/)
})

test('a first call that is too large for the budget is not made at all', async () => {
  const scene = await startScene({ config: { budget: { tokens: 500 } } })
  void scene.prompt('go')
  await scene.step(0)
  expect(scene.reviews).toHaveLength(0)
  expect((await scene.status()).Advisor).toMatch(/^budget_exhausted \(0 of 500 tokens/)
})

test('a price that nobody knows is said once, and the reviews go on', async () => {
  const scene = await startScene({ config: { budget: { cost: 0.01 } } })
  void scene.prompt('go')
  await steps(scene, 0, 3, 40_000)
  expect(scene.reviews).toHaveLength(3)
  expect(scene.told).toEqual(['advisor: the price of the model is not known: `budget.cost` cannot be held against it (`prices` sets one)'])
})

test('a review that looks something up is held against it before each call; what it said by then counts and is written down', async () => {
  const scene = await startScene({ fs: true, config: { budget: { tokens: 6_300 } } })
  void scene.prompt('go')
  await scene.step(0)
  await scene.reviewer.asked(0)
  scene.reviewer.answer(0, answer({
    calls: [call('advise', { note: 'Wrong file.', severity: 'concern' }), call('read', { file_path: 'a.txt' })], usage: { inputTokens: 6_000, outputTokens: 100 },
  }))
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  expect((await scene.status()).Advisor).toMatch(/^budget_exhausted/)
  expect(notes(await scene.step(1))).toEqual(['concern: Wrong file.'])
  const [line] = await reviews(scene.loop, scene.agent, 1)
  expect(line).toMatchObject({ end: 'aborted', failure: { code: 'BUDGET' }, notes: [{ text: 'Wrong file.' }], usage: { input: 6_000 } })
})

describe('`/advisor on`', () => {
  test('grants one more budget, from which it goes on with what was left unread, and is told again when that is spent', async () => {
    const scene = await startScene({ config: { budget: { tokens: 4_500 } } })
    void scene.prompt('Read b.txt')
    await steps(scene, 0, 3, 4_000)
    expect(scene.reviews).toHaveLength(1)
    expect(await scene.advisor('on')).toBe('Advisor on for this session: mock/reviewer (running).')
    expect(shown(await scene.review(1, billed(4_000)))).toMatch(/file-1\.txt[\s\S]*file-2\.txt/)
    await scene.step(3)
    expect(scene.reviews).toHaveLength(2)
    expect((await scene.status()).Advisor).toMatch(/^budget_exhausted \(8,000 of 8,500 tokens/)
    expect(scene.told).toHaveLength(2)
  })

  test('grants nothing that was not asked for', async () => {
    const scene = await startScene({ config: { budget: { tokens: 4_500 } } })
    void scene.prompt('go')
    for (const _ of [1, 2, 3]) await scene.advisor('on')
    await steps(scene, 0, 3, 4_000)
    expect(scene.reviews).toHaveLength(1)
    expect((await scene.status()).Advisor).toMatch(/^budget_exhausted \(4,000 of 4,500 tokens/)
  })

  test('after `off` grants as well', async () => {
    const scene = await startScene({ config: { budget: { tokens: 4_500 } } })
    void scene.prompt('go')
    await steps(scene, 0, 2, 4_000)
    await scene.advisor('off')
    expect(await scene.advisor('on')).toContain('(running)')
    await scene.step(2)
    await scene.reviewer.asked(1)
  })
})

test('a larger budget in the settings goes on by itself, a smaller one does not', async () => {
  const scene = await startScene({ settings: { yaml: 'advisor:\n  budget:\n    tokens: 4500\n' } })
  const set = (budget: object) => scene.loop.ctx.settings.update(settingsNamespace('advisor'), { budget } as never)
  void scene.prompt('go')
  await steps(scene, 0, 2, 4_000)
  expect((await scene.status()).Advisor).toMatch(/^budget_exhausted/)
  await set({ tokens: 3_000 })
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  expect((await scene.status()).Advisor).toMatch(/^budget_exhausted/)
  await set({ tokens: 100_000 })
  expect(shown(await scene.review(1))).toContain('file-1.txt')
  expect((await scene.status()).Advisor).toBe('running')
  expect(scene.told).toHaveLength(1)
})

test('two advisors have one budget, and one line says that it is spent', async () => {
  const round = await startRound(['arch', 'ops'], roster(entry('Arch'), entry('Ops')), { config: { budget: { tokens: 8_500 } } })
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, billed(4_000))
  await round.review('ops', 0, billed(4_000))
  await round.scene.step(1)
  await round.scene.step(2)
  expect([round.reviews('arch').length, round.reviews('ops').length]).toEqual([1, 1])
  for (const name of ['Arch', 'Ops']) expect(await round.line(name)).toMatch(/^budget_exhausted \(8,000 of 8,500 tokens/)
  expect(round.scene.told).toHaveLength(1)
  await round.scene.advisor('on')
  await Promise.all([round.hand('arch').asked(1), round.hand('ops').asked(1)])
})

describe('subagents', () => {
  test('draw from the same budget, without a line of their own, and go on with it when it is granted', async () => {
    const scene = await startScene({ primary: () => text('done'), config: { subagents: true, budget: { tokens: 8_500 } } })
    const child = await subagent(scene.agent)
    await scene.prompt('go')
    await scene.review(0, billed(4_000))
    await scene.loop.prompt(child, 'the task of the child')
    await scene.review(1, billed(4_000))
    await scene.prompt('go on')
    await scene.loop.prompt(child, 'the rest')
    await scene.loop.settle()
    expect(scene.reviews).toHaveLength(2)
    for (const agent of [scene.agent, child]) expect((await scene.status(agent)).Advisor).toMatch(/^budget_exhausted \(8,000 of 8,500 tokens/)
    expect(scene.told).toHaveLength(1)
    expect(await scene.advisor('usage')).toContain('\nIts subagents: 1 call, 1 review, 0 notes; tokens 3,990 in, 10 out, 0 cached; cost unknown\nBudget: 8,000 of 8,500 tokens spent\n')

    await scene.advisor('on')
    await scene.loop.until(() => scene.reviews.length === 4)
    expect([2, 3].map(index => shown(scene.reviews[index]).includes('the rest')).toSorted()).toEqual([false, true])
  })

  test('that are gone have spent what they spent', async () => {
    const scene = await startScene({ primary: () => text('done'), config: { subagents: true, budget: { tokens: 8_500 } } })
    for (const index of [0, 1]) {
      const child = await subagent(scene.agent, { id: `child-${index}` })
      await scene.loop.prompt(child, 'go')
      await scene.review(index, billed(4_000))
      await scene.loop.close(child)
    }
    await scene.prompt('go')
    await scene.loop.settle()
    expect(scene.reviews).toHaveLength(2)
    expect((await scene.status()).Advisor).toMatch(/^budget_exhausted \(8,000 of 8,500 tokens/)
  })
})

test('a session that is resumed has spent what it had spent, before its first call', async () => {
  const config = { ...REVIEWER, budget: { tokens: 8_500 } }
  const scene = await startScene({ persistence: true, primary: () => text('done'), config })
  await scene.prompt('go')
  await scene.review(0, billed(8_000))
  await reviews(scene.loop, scene.agent, 1)
  await scene.loop.ctx.sessions.flush(scene.agent.session)

  const next = await createLoop({ persistence: true, commands: true, home: scene.loop.home, script: { primary: () => text('done'), reviewer: () => billed(1_000) } })
  onTestFinished(() => next.dispose())
  await next.mount(advisor, config)
  const agent = await next.resume('s1')
  await next.prompt(agent, 'go on')
  await next.settle()
  expect(next.requests.reviewer).toHaveLength(0)
  const status = async () => (await next.command(next.ctx.agents.get(SessionId('s1'))!, '/advisor status'))?.text
  await next.until(() => next.logs.some(line => line.text.includes('budget_exhausted')))
  expect(await status()).toMatch(/^Advisor: budget_exhausted \(8,000 of 8,500 tokens/)
  await next.command(agent, '/advisor on')
  await next.until(() => next.requests.reviewer.length === 1)
})

test('a run whose budget is spent ends at once, and says what nobody reviewed', async () => {
  const scene = await startScene({ headless: true, config: { budget: { tokens: 500 } } })
  const time = holdTime()
  let over = false
  void scene.prompt('go').then(() => { over = true })
  await scene.step(0, look(0))
  scene.primary.answer(1, text('done'))
  await time.pass(1)
  expect(over).toBe(true)
})

test('advisors that review side by side do not spend the same tokens: a call waits for those under way and is judged by what they took', async () => {
  const names = ['one', 'two', 'three', 'four']
  const round = await startRound(names, roster(...names.map(name => entry(name))), { config: { budget: { tokens: 3_500 } } })
  void round.scene.prompt('go')
  await round.scene.step(0)
  const asked = () => names.reduce((sum, name) => sum + round.reviews(name).length, 0)
  expect(asked()).toBeGreaterThan(0)
  expect(asked()).toBeLessThan(4)
  for (let turn = 0; turn < 4; turn += 1) {
    for (const name of names) round.hand(name).answer(0, billed(1_100))
    await round.loop.settle()
  }
  expect(asked() * 1_100).toBeLessThanOrEqual(3_500)
  const lines = await Promise.all(names.map(name => round.line(name)))
  expect(lines.filter(line => line.startsWith('budget_exhausted'))).toHaveLength(4 - asked())
  expect(round.scene.told.filter(line => line.includes('budget_exhausted'))).toHaveLength(1)
})

test('a call that waits for others under way is given up with its advisor', async () => {
  const round = await startRound(['one', 'two'], roster(entry('one'), entry('two')), { config: { budget: { tokens: 2_000 } } })
  void round.scene.prompt('go')
  await round.scene.step(0)
  expect([round.reviews('one').length, round.reviews('two').length]).toEqual([1, 0])
  expect(await round.scene.advisor('off')).toBe('Advisor off for this session.')
  await round.loop.settle()
  expect(round.reviews('two')).toHaveLength(0)
})
