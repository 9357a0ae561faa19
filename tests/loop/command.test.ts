/** `/advisor` as the user meets it: type this, read that. */
import { describe, expect, test } from 'vitest'
import { settingsNamespace } from '@deepseek-ai/dsh-settings'
import { advise, adviseCall, answer, fail, text, tool } from '../support/adapter-replies.ts'
import type { Reply } from '../support/adapter-replies.ts'
import { look, notes, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'
import { entry, roster, startRound } from '../support/loop-roster.ts'

const quiet = { primary: () => text('done'), reviewer: () => text('ok') }

test('alone it toggles, and each answer says what holds now', async () => {
  const scene = await startScene(quiet)
  expect(await scene.advisor('')).toBe('Advisor off for this session.')
  expect((await scene.status()).Advisor).toBe('off (switched off in this session)')
  await scene.prompt('go')
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(0)

  expect(await scene.advisor('')).toBe('Advisor on for this session: mock/reviewer (running).')
  await scene.prompt('go on')
  await scene.loop.until(() => scene.reviews.length === 1)
})

test('`on` switches on what the configuration left off, `off` takes it back, and neither is written anywhere', async () => {
  const scene = await startScene({ ...quiet, settings: { yaml: '# mine\n' }, config: { enabled: false } })
  expect((await scene.status()).Advisor).toBe('off (`enabled` is false)')
  expect(await scene.advisor('on')).toBe('Advisor on for this session: mock/reviewer (running).')
  await scene.prompt('go')
  await scene.loop.until(() => scene.reviews.length === 1)
  expect(await scene.advisor('off')).toBe('Advisor off for this session.')
  await scene.prompt('go on')
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)
  expect(scene.loop.ctx.settings.get(settingsNamespace('advisor'))).toMatchObject({ enabled: false })
})

test.each(['check', 'untrust'])('`%s` that runs while the plugin is loaded anew says so', async (words) => {
  const scene = await startScene(quiet)
  const said = scene.advisor(words)
  await scene.fiber.dispose()
  expect(await said).toBe('The advisor was loaded anew while this command ran; give it again.')
})

test('letter case and space around the words do not matter', async () => {
  const scene = await startScene(quiet)
  expect(await scene.advisor('  OFF  ')).toBe('Advisor off for this session.')
  expect(await scene.advisor('On')).toContain('Advisor on for this session')
})

const UNKNOWN = ['help', 'stauts', 'status off', '--verbose']

test.each(UNKNOWN)('an unknown word (%s) is answered with the list of commands and changes nothing', async (words) => {
  const scene = await startScene(quiet)
  const result = await scene.loop.command(scene.agent, `/advisor ${words}`)
  expect(result?.kind).toBe('error')
  for (const word of [words, 'on', 'off', 'status', 'usage']) expect(result?.text).toContain(word)
  expect((await scene.status()).Advisor).toBe('running')
})

test('a session\'s wish is its own: one agent off, the other reviewed', async () => {
  const scene = await startScene(quiet)
  const other = await scene.loop.agent()
  await scene.advisor('off', other)
  await scene.loop.prompt(other, 'go')
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(0)
  await scene.prompt('go')
  await scene.loop.until(() => scene.reviews.length === 1)
  expect((await scene.status()).Advisor).toBe('running')
  expect((await scene.status(other)).Advisor).toBe('off (switched off in this session)')

  await scene.loop.close(other)
  const third = await scene.loop.agent()
  expect((await scene.status(third)).Advisor).toBe('running')
})

test('a toggle while no model is configured takes back what it asked for', async () => {
  const scene = await startScene({ ...quiet, config: { enabled: false, model: '' } })
  expect(await scene.advisor('')).toBe('Advisor on for this session, but it cannot run: no model: set `model`.')
  expect((await scene.status()).Advisor).toBe('disabled (no model: set `model`)')
  expect(await scene.advisor('')).toBe('Advisor off for this session.')
  expect((await scene.status()).Advisor).toBe('off (switched off in this session)')
  expect(await scene.advisor('')).toContain('cannot run')
  expect(await scene.advisor('off')).toBe('Advisor off for this session.')
})

test('status shows every fact: state, model, pending, reviews, notes, the last note and when, tokens', async () => {
  const scene = await startScene({ config: { notesPerUpdate: 1 }, models: { reviewer: { efforts: ['low'] } } })
  expect(await scene.advisor('status')).toBe([
    'Advisor: running',
    'Model: mock/reviewer, effort low',
    'Pending: 0 updates',
    'Reviews: 0 (0 silent, 0 without a verdict), 0 look-ups, 0 replies thrown away, 0 failed calls, 0 updates dropped',
    'Notes: 0',
    'Tokens: 0 in, 0 out, 0 cached',
  ].join('\n'))

  const run = scene.prompt('go')
  await scene.step(0)
  await scene.reviewer.asked(0)
  expect((await scene.status()).Pending).toBe('1 update, reviewing')
  await scene.step(1)
  expect((await scene.status()).Pending).toBe('2 updates, reviewing')
  await scene.review(0, answer({
    calls: [{ name: 'advise', args: { note: 'Wrong file.', severity: 'concern' } }],
    usage: { inputTokens: 1000, outputTokens: 20, cacheReadTokens: 300 },
  }))
  await scene.review(1, text('All is well with this, I would say.'))
  await scene.step(2)
  await scene.review(2)
  const { Reviews, Notes, Tokens, Pending } = await scene.status()
  expect(Reviews).toBe('3 (1 silent, 1 without a verdict), 0 look-ups, 0 replies thrown away, 0 failed calls, 0 updates dropped')
  expect(Notes).toMatch(/^1; last, \d+ s ago: \[concern\] Wrong file\. \(delivered at step 1\.4\)$/)
  expect(Tokens).toBe('1200 in, 40 out, 300 cached')
  expect(Pending).toBe('0 updates')
  scene.primary.answer(3, text('done'))
  await run
})

describe('usage', () => {
  const PRICES = {
    'mock/reviewer': { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 4, currency: 'USD' }, 'mock/second': { input: 14, output: 70, currency: 'CNY' },
  }
  const used = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 5_000, cacheWriteTokens: 200, reasoningTokens: 40 }
  const said = async (scene: Scene) => (await scene.advisor('usage')).split('\n')

  test('of a session in which nothing was done yet', async () => {
    expect(await said(await startScene(quiet))).toEqual([
      'This session: 0 calls, 0 reviews, 0 notes; tokens 0 in, 0 out, 0 cached; cost nothing',
      'Today, all sessions: 0 calls, 0 reviews, 0 notes; tokens 0 in, 0 out, 0 cached; cost nothing',
    ])
  })

  test('of one advisor: tokens by kind, cost, cost per note, the agent for scale, what notes were worth, today', async () => {
    const scene = await startScene({ config: { prices: PRICES, budget: { tokens: 50_000, cost: 2.5 } } })
    const run = scene.prompt('go')
    await scene.step(0)
    await scene.review(0, answer({ calls: [adviseCall('`a.ts` is empty.', 'concern'), adviseCall('One more.', 'nit')], usage: used }))
    await scene.step(1)
    await scene.review(1, text('ok', { usage: used }))
    await scene.step(2, tool('edit', { file_path: 'a.ts' }))
    await scene.review(2, text('ok', { usage: used }))
    await scene.advisor('good 1')
    expect(await said(scene)).toEqual([
      'This session: 3 calls, 3 reviews, 1 note; tokens 3,000 in, 300 out (120 reasoning), 15,000 cached, 600 written to the cache; cost 0.0144 USD',
      '  mock/reviewer: 3 calls; tokens 3,000 in, 300 out (120 reasoning), 15,000 cached, 600 written to the cache; cost 0.0144 USD',
      'Budget: 18,900 of 50,000 tokens and 0.0144 of 2.5 USD spent',
      'Cost per note: 0.0144 USD',
      'The agent itself: 330 tokens; the advisor took 5,727.3 % of that',
      'concern: 1 note, 1 of 1 acted on; the user found 1 good and 0 bad',
      'Today, all sessions: 3 calls, 3 reviews, 1 note; tokens 3,000 in, 300 out (120 reasoning), 15,000 cached, 600 written to the cache; cost 0.0144 USD',
    ])
    scene.primary.answer(3, text('done'))
    await run
  })

  test('of two advisors: each, then all; and the other sessions of the day', async () => {
    const round = await startRound(['arch', 'ops'], roster(entry('Arch'), entry('Ops')), { config: { prices: { 'mock/arch': { input: 1_000, output: 0, currency: 'USD' } } } })
    void round.scene.prompt('go')
    await round.scene.step(0)
    await round.review('arch', 0, advise('Port 8080 is taken by the proxy.', 'nit'))
    await round.review('ops', 0, advise('The files in src/old are still imported.', 'concern'))
    expect(await said(round.scene)).toEqual([
      'Arch: 1 call, 1 review, 1 note; tokens 100 in, 10 out, 0 cached; cost 0.1 USD',
      'Ops: 1 call, 1 review, 1 note; tokens 100 in, 10 out, 0 cached; cost unknown',
      'This session: 2 calls, 2 reviews, 2 notes; tokens 200 in, 20 out, 0 cached; cost 0.1 USD and 1 call of unknown price',
      '  mock/arch: 1 call; tokens 100 in, 10 out, 0 cached; cost 0.1 USD',
      '  mock/ops: 1 call; tokens 100 in, 10 out, 0 cached; cost unknown',
      'Cost per note: 0.05 USD, calls of unknown cost left out',
      'The agent itself: 110 tokens; the advisor took 200 % of that',
      'Arch, nit: 1 note, none followed to its end yet',
      'Ops, concern: 1 note, none followed to its end yet',
      'Today, all sessions: 2 calls, 2 reviews, 2 notes; tokens 200 in, 20 out, 0 cached; cost 0.1 USD and 1 call of unknown price',
    ])
    const other = await round.loop.agent()
    await round.loop.settle()
    expect((await round.scene.advisor('usage', other)).split('\n')).toEqual([
      'Arch: 0 calls, 0 reviews, 0 notes; tokens 0 in, 0 out, 0 cached; cost nothing',
      'Ops: 0 calls, 0 reviews, 0 notes; tokens 0 in, 0 out, 0 cached; cost nothing',
      'This session: 0 calls, 0 reviews, 0 notes; tokens 0 in, 0 out, 0 cached; cost nothing',
      expect.stringMatching(/^Today, all sessions: 2 calls, 2 reviews, 2 notes;/),
    ])
  })

  test('of models whose prices nobody knows is not nothing', async () => {
    const scene = await startScene({ primary: () => text('done') })
    await scene.prompt('go')
    await scene.review(0, advise('Not done at all.', 'nit'))
    expect(await said(scene)).toEqual([
      'This session: 1 call, 1 review, 1 note; tokens 100 in, 10 out, 0 cached; cost unknown',
      '  mock/reviewer: 1 call; tokens 100 in, 10 out, 0 cached; cost unknown',
      'Cost per note: unknown',
      'The agent itself: 110 tokens; the advisor took 100 % of that',
      'nit: 1 note, none followed to its end yet',
      expect.stringMatching(/^Today/),
    ])
  })

  test('of a provider that tells none says so, and of a call that was refused says nothing', async () => {
    const scene = await startScene({ config: { prices: PRICES } })
    void scene.prompt('go')
    await scene.step(0)
    await scene.review(0, text('ok', { usage: false }))
    expect((await said(scene))[0]).toBe('This session: 1 call, 1 review, 0 notes; tokens 0 in, 0 out, 0 cached; cost unknown, 1 call without reported usage')
    await scene.step(1)
    await scene.review(1, text('ok', { usage: used }))
    await scene.step(2)
    await scene.review(2, fail({ code: 'AUTH', status: 401 }))
    expect((await said(scene))[0]).toBe('This session: 3 calls, 2 reviews, 0 notes; tokens 1,000 in, 100 out (40 reasoning), 5,000 cached, 200 written to the cache; cost 0.0048 USD, 1 call without reported usage')
  })

  test('of two currencies adds neither to the other, and shows which model had which', async () => {
    const round = await startRound(['arch', 'ops'], roster(entry('Arch', { model: 'mock/reviewer' }), entry('Ops')), {
      config: { prices: PRICES, fallbacks: ['mock/second'] }, script: { primary: () => text('?'), second: () => text('ok', { usage: used }) },
    })
    void round.scene.prompt('go')
    await round.scene.step(0)
    await round.scene.review(0, answer({ calls: [adviseCall('Port 8080 is taken by the proxy.', 'nit')], usage: used }))
    await round.review('ops', 0, text('ok', { usage: false }))
    await round.scene.step(1)
    await round.scene.review(1, fail({ code: 'QUOTA', status: 402 }))
    await round.review('ops', 1)
    const lines = await said(round.scene)
    expect(lines.slice(0, 3)).toEqual([
      'Arch: 3 calls, 2 reviews, 1 note; tokens 2,000 in, 200 out (80 reasoning), 10,000 cached, 400 written to the cache; cost 0.0048 USD + 0.0938 CNY',
      '  mock/reviewer: 2 calls; tokens 1,000 in, 100 out (40 reasoning), 5,000 cached, 200 written to the cache; cost 0.0048 USD',
      '  mock/second: 1 call; tokens 1,000 in, 100 out (40 reasoning), 5,000 cached, 200 written to the cache; cost 0.0938 CNY',
    ])
    expect(lines).toContain('Cost per note: 0.0048 USD + 0.0938 CNY, calls of unknown cost left out')
  })
})

test.each<[string, string, Reply]>([
  ['quota_exhausted', 'QUOTA', fail({ code: 'QUOTA', status: 402, message: 'no money' })],
  ['halted', 'AUTH', fail({ code: 'AUTH', status: 401, message: 'bad key' })],
])('`on` resumes from %s with what was left unread', async (word, code, failure) => {
  const scene = await startScene()
  const run = scene.prompt('Read b.txt')
  await scene.step(0)
  await scene.review(0, failure)
  expect((await scene.status()).Advisor).toMatch(new RegExp(`^${word} \\(${code} .*`))
  await scene.step(1)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(1)

  expect(await scene.advisor('on')).toBe('Advisor on for this session: mock/reviewer (running).')
  const request = JSON.stringify((await scene.review(1, advise('Wrong file.', 'concern'))).messages)
  expect(request).toContain('Read b.txt')
  expect(request).toContain('file-0.txt')
  expect(request).toContain('file-1.txt')
  expect((await scene.status()).Advisor).toBe('running')
  expect(notes(await scene.step(2))).toEqual(['concern: Wrong file.'])
  scene.primary.answer(3, text('done'))
  await run
})

test('`off` gives up the review in flight; `on` does not review what happened in between', async () => {
  const scene = await startScene()
  const run = scene.prompt('Read b.txt')
  await scene.step(0)
  const given = await scene.reviewer.asked(0)
  await scene.advisor('off')
  expect(given.signal?.aborted).toBe(true)
  await scene.step(1, tool('bash', { command: 'hidden' }))
  await scene.advisor('on')
  await scene.step(2, look(9))
  const request = JSON.stringify((await scene.review(1)).messages)
  expect(request).toContain('Read b.txt')
  expect(request).toContain('file-9.txt')
  expect(request).not.toContain('hidden')
  scene.primary.answer(3, text('done'))
  await run
})

test('a note that is queued when it is switched off is kept, and enters once with the user\'s words after it is on again', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.review(0, advise('Wrong file.', 'concern'))
  await scene.advisor('off')
  expect((await scene.status()).Notes).toMatch(/^1; .*kept for the user's next message \(the advisor was switched off\)/)
  expect(notes(await scene.step(1))).toEqual([])
  await scene.advisor('on')
  scene.agent.cancel({ kind: 'user' })
  await run
  void scene.prompt('continue')
  expect(notes(await scene.primary.asked(3))).toEqual(['concern: Wrong file.'])
  expect((await scene.status()).Notes).toContain('delivered at step 2.1')
})

test('a nit that waits when it is switched off waits until it is on again', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.step(0)
  await scene.review(0, advise('`x` is unused.', 'nit'))
  await scene.advisor('off')
  expect(notes(await scene.step(1))).toEqual([])
  await scene.advisor('on')
  expect(notes(await scene.step(2))).toEqual(['nit: `x` is unused.'])
  scene.primary.answer(3, text('done'))
  await run
})

test('a command of the user is nothing that the reviewer has to look at', async () => {
  const scene = await startScene(quiet)
  await scene.prompt('go')
  await scene.loop.until(() => scene.reviews.length === 1)
  await scene.advisor('status')
  await scene.advisor('status')
  await scene.loop.settle()
  expect((await scene.status()).Pending).toBe('0 updates')
  expect(scene.reviews).toHaveLength(1)
})
