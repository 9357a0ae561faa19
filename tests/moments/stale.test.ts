/** Notes that grow old before the primary reads them: their age is told, and their reviewer is asked whether they still hold. */
import { expect, test } from 'vitest'
import { advise, adviseCall, call, calls, maxTokens, text } from '../support/adapter-replies.ts'
import type { Reply } from '../support/adapter-replies.ts'
import { userTexts } from '../support/loop.ts'
import { added, advisories, look, notes, shown, startScene } from '../support/loop-advised.ts'
import type { Scene } from '../support/loop-advised.ts'
import { escape, listed, raise, standing, timesGiven, underWay } from '../support/loop-moments.ts'

const NOTE = 'Zebra: the files in src/old are still imported.'
const QUESTION = /\[the agent has not read these notes of yours yet/

/** In plan mode with one card about the first step; the second step is under way. */
async function withCard(config: object = {}): Promise<Scene> {
  const scene = await startScene({ planMode: true, config })
  await scene.loop.command(scene.agent, '/plan')
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  expect(await standing(scene, NOTE)).toBe('card')
  return scene
}

/** Complete the step under way and answer its review; returns what the reviewer was newly shown. */
async function stepAndReview(scene: Scene, reply: Reply = text('ok')): Promise<string[]> {
  const index = scene.steps.length - 1
  await scene.step(index)
  await scene.loop.settle()
  const review = scene.reviews.length - 1
  const earlier = scene.reviews[review - 1]
  const request = await scene.reviewer.asked(review)
  const texts = added(request, earlier)
  await scene.review(review, reply)
  return texts
}

/** The reviews after the card in which the reviewer was asked about it, counted from 1. */
async function askedAt(scene: Scene, reviews: number): Promise<number[]> {
  const asked: number[] = []
  for (let index = 1; index <= reviews; index += 1) {
    if ((await stepAndReview(scene)).some(value => QUESTION.test(value))) asked.push(index)
  }
  return asked
}

/** Leave plan mode's turn and speak: the request that the user's words make. */
async function speak(scene: Scene) {
  const index = scene.steps.length
  scene.primary.answer(index - 1, text('the plan'))
  await scene.agent.whenIdle()
  void scene.prompt('and now?')
  return scene.primary.asked(index)
}

test.each([[1, [1, 3]], [2, [2, 6]], [3, [3]], [0, []]])(
  'with reconfirmAfter %i a card is asked about in the reviews %j after it', async (reconfirmAfter, expected) => {
    expect(await askedAt(await withCard({ reconfirmAfter }), 6)).toEqual(expected)
  },
)

test('the question stands before the newer delta, in the same conversation, and names the note and its age', async () => {
  const scene = await withCard({ reconfirmAfter: 2 })
  await stepAndReview(scene)
  const texts = await stepAndReview(scene)
  const [id] = (await listed(scene)).map(note => note.id)
  const at = texts.findIndex(value => QUESTION.test(value))
  expect(texts[at]).toContain(`${id}. concern, 2 steps ago: ${NOTE}`)
  expect(at).toBeLessThan(texts.findIndex(value => value.includes('## step')))
  const request = scene.reviews.at(-1)!
  expect(shown(request)).toContain('file-0.txt')
  expect(shown(request)).toContain('file-2.txt')
  expect(request.messages.slice(0, 3)).toEqual(scene.reviews[0]!.messages.slice(0, 3))
})

test('silence means that the note goes out as it stands, with its age', async () => {
  const scene = await withCard({ reconfirmAfter: 2 })
  expect(await askedAt(scene, 3)).toEqual([2])
  const request = await speak(scene)
  expect(notes(request)).toEqual([`concern: ${NOTE}`])
  expect(advisories(request)[0]).toContain('steps_ago="4"')
})

test.each<[string, Reply]>([
  ['an empty note', calls(call('advise', { note: '', replaces: 1 }))],
  ['an empty note with a severity', calls(call('advise', { note: ' ', severity: 'nit', replaces: 1 }))],
  ['a frame', text('{"note": "", "replaces": 1}')],
])('the reviewer withdraws a note by %s, and it never reaches the primary', async (_name, reply) => {
  const scene = await withCard({ reconfirmAfter: 1 })
  await stepAndReview(scene, reply)
  expect(await standing(scene, NOTE)).toBe('withdrawn')
  expect(await listed(scene)).toHaveLength(1)
  expect(await askedAt(scene, 3)).toEqual([])
  expect(notes(await speak(scene))).toEqual([])
})

test('the reviewer revises a note: the new words take its place, at their own severity, and only they are heard', async () => {
  const scene = await withCard({ reconfirmAfter: 1 })
  await stepAndReview(scene, calls(call('advise', { note: 'Zebra: only src/old/a.ts is still imported.', severity: 'blocker', replaces: 1 })))
  expect((await listed(scene)).map(note => note.standing)).toEqual(['withdrawn', 'card'])
  expect(notes(await speak(scene))).toEqual(['blocker: Zebra: only src/old/a.ts is still imported.'])
})

test('a revision in nearly the same words, or at a lower severity, is not taken for a repetition', async () => {
  const scene = await withCard({ reconfirmAfter: 1 })
  await stepAndReview(scene, calls(call('advise', { note: `${NOTE} Still.`, severity: 'nit', replaces: 1 })))
  expect((await listed(scene)).map(note => note.standing)).toEqual(['withdrawn', 'waiting'])
  expect(notes(await scene.step(scene.steps.length - 1))).toEqual([`nit: ${NOTE} Still.`])
})

test('a revision beside a graver finding is not lost to the limit of notes an update', async () => {
  const scene = await withCard({ reconfirmAfter: 1, notesPerUpdate: 1 })
  await stepAndReview(scene, calls(
    call('advise', { note: 'Zebra: only src/old/a.ts is still imported.', severity: 'nit', replaces: 1 }),
    adviseCall('Yak: port 8080 is taken by the proxy.', 'blocker'),
  ))
  const request = await speak(scene)
  expect(notes(request).filter(note => note.includes('Zebra'))).toHaveLength(1)
  expect(notes(request).filter(note => note.includes('Yak'))).toHaveLength(1)
})

test('the reviewer cannot take back what the primary has read, nor what was never there', async () => {
  const scene = await startScene()
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  await scene.step(1)
  await scene.review(1, calls(call('advise', { note: '', replaces: 1 }), call('advise', { note: '', replaces: 77 })))
  expect((await listed(scene)).map(note => note.standing)).toEqual(['delivered'])
})

test('a note that the reviewer takes back while it is queued does not reach the primary', async () => {
  const scene = await startScene()
  await underWay(scene)
  await scene.step(1)
  await scene.review(0, raise(NOTE, 'concern'))
  expect(await standing(scene, NOTE)).toBe('queued')
  await scene.review(1, calls(call('advise', { note: '', replaces: 1 })))
  expect(await standing(scene, NOTE)).toBe('withdrawn')
  expect(notes(await scene.step(2))).toEqual([])
  scene.primary.answer(3, text('done'))
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(4)
  expect(timesGiven(scene.agent, 'Zebra')).toBe(0)
})

test('a note that already stands in a step cannot be taken back any more: it counts as delivered', async () => {
  const scene = await startScene()
  const gate = Promise.withResolvers<void>()
  scene.loop.ctx.on('agent/pre-step', async ({ step }, next) => {
    const decision = await next()
    if (step === 4) await gate.promise
    return decision
  }, { prepend: true })
  await underWay(scene)
  await scene.step(1)
  await scene.review(0, raise(NOTE, 'concern'))
  scene.primary.answer(2, look(2))
  await scene.loop.settle()
  await scene.review(1, calls(call('advise', { note: '', replaces: 1 })))
  gate.resolve()
  expect(notes(await scene.primary.asked(3))).toEqual([`concern: ${NOTE}`])
  expect(await standing(scene, NOTE)).toBe('delivered')
})

test('the question is put again when the call that carried it failed', async () => {
  const scene = await withCard({ reconfirmAfter: 1 })
  await scene.step(1)
  scene.reviewer.answer(1, { kind: 'fail', failure: { code: 'CONTEXT_WINDOW_EXCEEDED', status: 400, message: 'too long' } })
  const again = await scene.reviewer.asked(2)
  expect(shown(again)).toMatch(QUESTION)
})

test('a note that was never old is never asked about', async () => {
  const scene = await startScene({ config: { reconfirmAfter: 1, immuneTurns: 0 } })
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'concern'))
  for (const index of [1, 2, 3]) {
    await scene.step(index)
    const request = await scene.review(index)
    expect(shown(request)).not.toMatch(QUESTION)
  }
})

test('after `/advisor off` and `on` a card that is old enough is still asked about', async () => {
  const scene = await withCard({ reconfirmAfter: 3 })
  for (let index = 0; index < 2; index += 1) await stepAndReview(scene)
  await scene.advisor('off')
  await scene.advisor('on')
  const asked: number[] = []
  for (let index = 1; index <= 4; index += 1) {
    await stepAndReview(scene)
    // The conversation is a new one: what was asked once stands in every later request.
    if (QUESTION.test(shown(scene.reviews.at(-1)!))) asked.push(index)
  }
  expect(asked[0]).toBe(1)
})

test('after `/advisor off` and `on` peace lasts no longer than it would have', async () => {
  const scene = await startScene({ config: { immuneTurns: 2 } })
  void scene.prompt('go')
  for (let index = 0; index < 8; index += 1) {
    await scene.step(index)
    await scene.review(index, index === 7 ? raise(NOTE, 'concern') : text('ok'))
  }
  await scene.step(8)
  await scene.advisor('off')
  await scene.advisor('on')
  for (let index = 0; index < 3; index += 1) await stepAndReview(scene)
  await stepAndReview(scene, raise('Yak: port 8080 is taken by the proxy.', 'concern'))
  expect(await standing(scene, 'Yak')).toBe('queued')
})

test('a note about the answer itself is not called old when the user speaks next', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.review(0, raise(NOTE, 'concern'))
  void scene.prompt('and now?')
  expect(advisories(await scene.primary.asked(1))).toEqual([
    `<advisory severity="concern" guidance="weigh, don't blindly obey">\n[advisor:concern] ${NOTE}\n</advisory>`,
  ])
})

test('the age of a note counts steps, over the end of a turn too', async () => {
  const scene = await startScene()
  await underWay(scene)
  scene.primary.answer(1, text('done'))
  await scene.agent.whenIdle()
  await scene.review(0, raise(NOTE, 'concern'))
  void scene.prompt('and now?')
  expect(advisories(await scene.primary.asked(2))[0]).toContain('steps_ago="1"')
})

test('a blocker about a step that was cut at the output limit wakes the agent without an age', async () => {
  const scene = await startScene()
  const run = scene.prompt('go')
  await scene.primary.asked(0)
  scene.primary.answer(0, maxTokens('This is going to be'))
  await run
  await scene.review(0, advise(NOTE, 'blocker'))
  expect(advisories(await scene.primary.asked(1))[0]).not.toContain('steps_ago')
})

test('a card that the user\'s stop made old says how old it is when they continue', async () => {
  const scene = await startScene()
  await underWay(scene)
  await scene.step(1)
  await scene.review(0, raise(NOTE, 'concern'))
  escape(scene.agent)
  await scene.agent.whenIdle()
  void scene.prompt('continue')
  const request = await scene.primary.asked(3)
  expect(userTexts(request).at(-1)).toMatch(/steps_ago="[12]"/)
})
