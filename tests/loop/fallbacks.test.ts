/** Other models when one fails for good or for quota: in order, each once for a failure, and back to the first in time. */
import { describe, expect, test, vi } from 'vitest'
import { advise, fail, text } from '../support/adapter-replies.ts'
import type { Reply, Script } from '../support/adapter-replies.ts'
import { holdTime, notes, shown, startScene } from '../support/loop-advised.ts'
import type { Scene, SceneOptions } from '../support/loop-advised.ts'
import { goHeadless } from '../support/loop-moments.ts'
import { reviews } from '../support/loop-record.ts'

const MINUTE = 60_000
const quota = fail({ code: 'QUOTA', status: 402, message: 'no money' })
const limit = (ms: number): Reply => fail({ code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: ms, message: 'too much' })
const auth = fail({ code: 'AUTH', status: 401, message: 'bad key' })
const QUOTA = 'QUOTA (HTTP 402): no money'
const LIMIT = 'RATE_LIMIT (HTTP 429): too much'
const AUTH = 'AUTH (HTTP 401): bad key'

interface Models {
  readonly reviewer: Script
  readonly second?: Script
  readonly third?: Script
}

/** A scene with fallbacks to `second` and `third`, unless others are named. */
function start({ reviewer, second = () => text('ok'), third = () => text('ok') }: Models, options: SceneOptions = {}): Promise<Scene> {
  return startScene({
    ...options, reviewer, script: { primary: () => text('?'), second, third },
    config: { fallbacks: ['mock/second', 'mock/third'], ...options.config },
  })
}

const always = (reply: Reply): Script => () => reply
const once = (reply: Reply): Script => (_request, index) => index === 0 ? reply : text('ok')
const asked = (scene: Scene) => ['reviewer', 'second', 'third'].map(model => scene.loop.requests[model]?.length ?? 0)
const told = (scene: Scene) => scene.told.map(line => line.replace('advisor: ', ''))
const model = async (scene: Scene) => (await scene.status()).Model

test('a model without quota is followed by the next, with the same batch, in one line; the status says which and why', async () => {
  const scene = await start({ reviewer: always(quota), second: (_request, index) => index === 0 ? advise('Wrong file.', 'concern') : text('ok') })
  void scene.prompt('Read b.txt')
  await scene.step(0)
  expect(asked(scene)).toEqual([1, 1, 0])
  expect(shown(scene.loop.requests.second?.[0])).toBe(shown(scene.reviews[0]))
  expect(notes(await scene.step(1))).toEqual(['concern: Wrong file.'])
  expect(told(scene)).toEqual([`mock/reviewer failed (${QUOTA}); going on with mock/second`])
  expect((await scene.status()).Advisor).toBe('running')
  expect(await model(scene)).toBe(`mock/second for now, since mock/reviewer failed (${QUOTA})`)
  await scene.step(2)
  expect(asked(scene)).toEqual([1, 3, 0])
  expect((await reviews(scene.loop, scene.agent, 4)).map(({ model, end }) => [model, end])).toEqual([
    ['mock/reviewer', 'failed'], ['mock/second', 'advice'], ['mock/second', 'silent'], ['mock/second', 'silent'],
  ])
})

test('the effort that a fallback names is sent to it, and that of the settings to one that names none', async () => {
  const scene = await start({ reviewer: always(quota), second: always(auth) }, {
    config: { effort: 'medium', fallbacks: ['mock/second:high', 'mock/third'] },
    models: Object.fromEntries(['second', 'third'].map(name => [name, { efforts: ['medium', 'high'] }])),
  })
  void scene.prompt('go')
  await scene.step(0)
  expect(['second', 'third'].map(name => scene.loop.requests[name]?.[0]?.reasoningEffort)).toEqual(['high', 'medium'])
})

describe('when all fail', () => {
  test('each was asked once, in order, and the state and its reason name them all', async () => {
    const scene = await start({ reviewer: always(auth), second: always(auth), third: always(auth) })
    void scene.prompt('go')
    await scene.step(0)
    await scene.step(1)
    expect(asked(scene)).toEqual([1, 1, 1])
    expect((await scene.status()).Advisor).toBe(`halted (mock/reviewer: ${AUTH}; mock/second: ${AUTH}; mock/third: ${AUTH})`)
    expect(await model(scene)).toBe('mock/reviewer, effort low')
    expect(told(scene)).toEqual([
      `mock/reviewer failed (${AUTH}); going on with mock/second`, `mock/second failed (${AUTH}); going on with mock/third`,
      `halted: mock/reviewer: ${AUTH}; mock/second: ${AUTH}; mock/third: ${AUTH}; \`/advisor on\` tries again`,
    ])
  })

  test('`/advisor on` begins with the first again, and shows what was left unread', async () => {
    const scene = await start({ reviewer: once(quota), second: always(auth), third: always(auth) })
    void scene.prompt('go')
    await scene.step(0)
    await scene.step(1)
    expect(asked(scene)).toEqual([1, 1, 1])
    expect(await scene.advisor('on')).toBe('Advisor on for this session: mock/reviewer (running).')
    await scene.loop.settle()
    expect(asked(scene)).toEqual([2, 1, 1])
    expect(shown(scene.reviews[1])).toMatch(/file-0\.txt[\s\S]*file-1\.txt/)
  })

  test('and one of them is to be well again at a time, the first update after that begins anew', async () => {
    const scene = await start({ reviewer: always(auth), second: once(limit(10 * MINUTE)), third: always(limit(20 * MINUTE)) })
    const time = holdTime()
    void scene.prompt('go')
    await scene.step(0)
    expect((await scene.status()).Advisor).toBe(`quota_exhausted (mock/reviewer: ${AUTH}; mock/second: ${LIMIT}; mock/third: ${LIMIT})`)
    await time.pass(10 * MINUTE - 1_000)
    await scene.step(1)
    expect(asked(scene)).toEqual([1, 1, 1])
    await time.pass(1_000)
    await scene.step(2)
    expect(asked(scene)).toEqual([2, 2, 1])
    expect((await scene.status()).Advisor).toBe('running')
    expect(await model(scene)).toContain('mock/second for now')
  })
})

describe('the first model', () => {
  test('is asked again at the time its provider named, in one line', async () => {
    const scene = await start({ reviewer: once(limit(5 * MINUTE)) })
    const time = holdTime()
    void scene.prompt('go')
    await scene.step(0)
    await time.pass(5 * MINUTE - 1_000)
    await scene.step(1)
    expect(asked(scene)).toEqual([1, 2, 0])
    await time.pass(1_000)
    expect(await model(scene)).toBe('mock/reviewer, effort low')
    expect(told(scene)).toHaveLength(1)
    await scene.step(2)
    expect(asked(scene)).toEqual([2, 2, 0])
    expect(shown(scene.reviews[1])).toContain('file-2.txt')
    await scene.step(3)
    expect(asked(scene)).toEqual([3, 2, 0])
    expect(told(scene)).toEqual([`mock/reviewer failed (${LIMIT}); going on with mock/second`, 'back to mock/reviewer'])
  })

  test('is asked again after half an hour when nobody named a time, and left once more when it still fails', async () => {
    const scene = await start({ reviewer: always(auth) })
    const time = holdTime()
    void scene.prompt('go')
    await scene.step(0)
    await time.pass(30 * MINUTE - 1_000)
    await scene.step(1)
    expect(asked(scene)).toEqual([1, 2, 0])
    await time.pass(1_000)
    await scene.step(2)
    expect(asked(scene)).toEqual([2, 3, 0])
    const line = `mock/reviewer failed (${AUTH}); going on with mock/second`
    expect(told(scene)).toEqual([line, 'back to mock/reviewer', line])
  })

  test('is asked again when the clock is set back, too', async () => {
    const scene = await start({ reviewer: once(quota) })
    const time = holdTime()
    void scene.prompt('go')
    await scene.step(0)
    vi.setSystemTime(Date.now() - 86_400_000)
    await scene.step(1)
    expect(asked(scene)).toEqual([2, 1, 0])
  })

  test('is asked again as soon as the user says so', async () => {
    const scene = await start({ reviewer: once(quota) })
    void scene.prompt('go')
    await scene.step(0)
    await scene.advisor('on')
    await scene.step(1)
    expect(asked(scene)).toEqual([2, 1, 0])
    expect(await model(scene)).toBe('mock/reviewer, effort low')
  })
})

describe('a fallback', () => {
  test('whose provider this host does not have is passed over in the same line', async () => {
    const scene = await start({ reviewer: always(quota) }, { config: { fallbacks: ['nowhere/x', 'mock/third'] } })
    void scene.prompt('go')
    await scene.step(0)
    expect(asked(scene)).toEqual([1, 0, 1])
    expect(told(scene)).toEqual([`mock/reviewer failed (${QUOTA}); going on with mock/third; nowhere/x is not in this host`])
  })

  test('whose model its provider does not know is left for the next', async () => {
    const scene = await start({ reviewer: always(quota) }, { config: { fallbacks: ['mock/unknown', 'mock/third'] } })
    void scene.prompt('go')
    await scene.step(0)
    expect(asked(scene)).toEqual([1, 0, 1])
    expect(told(scene)[1]).toMatch(/^mock\/unknown failed \(UNKNOWN_MODEL.*\); going on with mock\/third$/)
  })

  test('that is the only one and missing leaves the state that the failure has, and says that it is missing', async () => {
    const scene = await start({ reviewer: always(quota) }, { config: { fallbacks: ['nowhere/x'] } })
    void scene.prompt('go')
    await scene.step(0)
    expect((await scene.status()).Advisor).toBe(`quota_exhausted (${QUOTA}; nowhere/x: not in this host)`)
    expect(told(scene)).toEqual([`quota_exhausted: ${QUOTA}; nowhere/x: not in this host; \`/advisor on\` tries again`])
  })

  test('is not asked when the model only fails for a moment', async () => {
    const server = fail({ code: 'SERVER', status: 500 })
    const scene = await start({ reviewer: (_request, index) => index < 2 ? server : index === 2 ? limit(1_000) : text('ok') })
    const time = holdTime()
    void scene.prompt('go')
    await scene.step(0)
    await time.pass(5_000)
    await scene.step(1)
    await time.pass(5_000)
    expect(asked(scene)).toEqual([4, 0, 0])
  })

  test('has the last review of a headless run, when the model has none', async () => {
    const scene = await start({ reviewer: always(quota), second: always(advise('Wrong file.', 'blocker')) })
    const stderr = goHeadless(scene.loop)
    void scene.prompt('go')
    await scene.primary.asked(0)
    scene.primary.answer(0, text('done'))
    await scene.agent.whenIdle()
    await scene.loop.settle()
    expect(asked(scene)).toEqual([1, 1, 0])
    expect(stderr.text).toContain('Wrong file.')
    expect(stderr.text).not.toContain('not reviewed')
  })

  test('that fails as well lets a headless run end at once', async () => {
    const scene = await start({ reviewer: always(quota), second: always(auth), third: always(quota) })
    const stderr = goHeadless(scene.loop)
    const time = holdTime()
    let over = false
    void scene.prompt('go').then(() => { over = true })
    await scene.primary.asked(0)
    scene.primary.answer(0, text('done'))
    await time.pass(0)
    expect(over).toBe(true)
    expect(asked(scene)).toEqual([1, 1, 1])
    expect(stderr.text).toContain('quota_exhausted: ')
  })
})
