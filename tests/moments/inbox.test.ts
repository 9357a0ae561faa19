/** `/advisor notes`, `dismiss`, `mute`: the user sees where every note stands, and what they put away stays away. */
import { expect, test } from 'vitest'
import { adviseCall, call, calls, frame, text } from '../support/adapter-replies.ts'
import type { Reply } from '../support/adapter-replies.ts'
import { added, holdTime, notes, shown, startScene } from '../support/loop-advised.ts'
import type { Scene, SceneOptions } from '../support/loop-advised.ts'
import { escape, listed, raise, standing, timesGiven, underWay } from '../support/loop-moments.ts'

const NOTE = 'The files in src/old are still imported by main.ts.'

/** One card; the agent rests, and the next update is review 1 at the earliest. */
async function withCard(options: SceneOptions = {}): Promise<Scene> {
  const scene = await startScene(options)
  await underWay(scene)
  escape(scene.agent)
  await scene.agent.whenIdle()
  await scene.review(0, raise(NOTE, 'concern'))
  return scene
}

test('without notes it says so', async () => {
  const scene = await startScene()
  expect(await scene.advisor('notes')).toBe('No notes in this session.')
})

test('notes are listed with number, severity, age and state, oldest first', async () => {
  const time = holdTime()
  const scene = await startScene({ config: { immuneTurns: 1, reconfirmAfter: 0 } })
  await underWay(scene)
  await scene.review(0, raise('Zebra:\nfirst.', 'concern'))
  await time.pass(5_000)
  await scene.step(1)
  await scene.review(1, raise('Yak: second.', 'nit'))
  await time.pass(90_000)
  await scene.step(2)
  await scene.review(2, raise('Wombat: third.', 'blocker'))
  await time.pass(2 * 3_600_000)
  expect(await scene.advisor('notes')).toBe([
    '#1 concern, 2 h ago, delivered at step 1.3: Zebra: first.',
    '#2 nit, 2 h ago, delivered at step 1.4: Yak: second.',
    '#3 blocker, 2 h ago, on its way: Wombat: third.',
  ].join('\n'))
})

test('each state has its words', async () => {
  const time = holdTime()
  const scene = await startScene({ config: { immuneTurns: 0, notesPerUpdate: 8 } })
  await underWay(scene)
  await scene.review(0, calls(
    adviseCall('Zebra: see zebra.ts.', 'concern'), adviseCall('Yak: see yak.ts.', 'nit'), adviseCall('Wombat: see wombat.ts.', 'nit'),
    adviseCall('Vole: see vole.ts.', 'nit'),
  ))
  await scene.advisor('dismiss 2')
  await time.pass(30_000)
  expect((await listed(scene)).map(note => `${note.severity}, ${note.age}, ${note.state}`)).toEqual([
    'concern, 30 s, on its way', 'nit, 30 s, dismissed by the user', 'nit, 30 s, waiting for the next step', 'nit, 30 s, waiting for the next step',
  ])
  await scene.step(1)
  await scene.review(1, calls(adviseCall('Tapir: see tapir.ts.', 'concern'), adviseCall('Skunk: see skunk.ts.', 'nit')))
  await scene.step(2)
  escape(scene.agent)
  await scene.agent.whenIdle()
  await scene.review(2, calls(adviseCall('Quail: see quail.ts.', 'nit'), adviseCall('Panda: see panda.ts.', 'blocker')))
  const states = (await listed(scene)).map(note => note.state)
  expect(states.filter(state => state === 'delivered at step 1.3')).toHaveLength(3)
  expect(states.filter(state => state === 'delivered at step 1.4')).toHaveLength(2)
  expect(states.slice(-2)).toEqual(Array(2).fill('kept for the user\'s next message (the run was stopped)'))
})

test.each(['dismiss 1', 'dismiss #1', 'DISMISS 1', 'dismiss all'])('`%s` puts a card away: it is in no later message', async (words) => {
  const scene = await withCard()
  expect(await scene.advisor(words)).toBe('Dismissed; it will not come back in this session.')
  expect(await standing(scene, NOTE)).toBe('dismissed')
  void scene.prompt('continue')
  expect(notes(await scene.primary.asked(2))).toEqual([])
  expect(timesGiven(scene.agent, 'src/old')).toBe(0)
})

test('`dismiss all` puts away what waits, wherever it waits, and leaves what was read', async () => {
  const scene = await startScene({ config: { immuneTurns: 0, notesPerUpdate: 2 } })
  await underWay(scene)
  await scene.review(0, raise('Zebra: see zebra.ts.', 'concern'))
  await scene.step(1)
  await scene.review(1, calls(adviseCall('Yak: see yak.ts.', 'blocker'), adviseCall('Wombat: see wombat.ts.', 'nit')))
  expect(await scene.advisor('dismiss all')).toBe('2 notes dismissed; they will not come back in this session.')
  expect((await listed(scene)).map(note => note.standing)).toEqual(['delivered', 'dismissed', 'dismissed'])
  expect(notes(await scene.step(2))).toEqual(['concern: Zebra: see zebra.ts.'])
})

test.each([
  ['dismiss', 'needs the number of a note, or all'], ['dismiss x', 'needs the number of a note, or all'],
  ['dismiss -1', 'needs the number'], ['dismiss 1.5', 'needs the number'], ['dismiss 1 2', 'needs the number'], ['dismiss ##1', 'needs the number'],
  ['dismiss 0', 'There is no note 0'], ['dismiss 2', 'There is no note 2'], ['dismiss 99999999999999999999', 'There is no note'],
  ['mute', 'needs the words of a topic'], ['mute   ', 'needs the words of a topic'], ['mute ?!', 'needs the words of a topic'],
  ['notes now', 'does not know "notes now"'], ['unmute this', 'does not know "unmute this"'],
])('`%s` is answered with what is wrong, and changes nothing', async (words, reason) => {
  const scene = await withCard()
  const result = await scene.loop.command(scene.agent, `/advisor ${words}`)
  expect(result?.kind).toBe('error')
  expect(result?.text).toContain(reason)
  expect((await listed(scene)).map(note => note.standing)).toEqual(['card'])
  expect(await scene.advisor('notes')).not.toContain('Muted')
})

test('`dismiss all` with nothing that waits says so', async () => {
  const scene = await startScene()
  expect((await scene.loop.command(scene.agent, '/advisor dismiss all'))?.kind).toBe('error')
})

test('a note that is dismissed while it is queued does not reach the primary, and costs no step', async () => {
  const scene = await startScene()
  await underWay(scene)
  await scene.review(0, raise(NOTE, 'blocker'))
  expect(await standing(scene, NOTE)).toBe('queued')
  await scene.advisor('dismiss 1')
  scene.primary.answer(1, text('done'))
  await scene.agent.whenIdle()
  expect(scene.steps).toHaveLength(2)
  expect(timesGiven(scene.agent, 'src/old')).toBe(0)
  expect(await standing(scene, NOTE)).toBe('dismissed')
})

test('one of two notes in a queued message is dismissed: the other goes out alone', async () => {
  const scene = await startScene({ config: { notesPerUpdate: 2 } })
  await underWay(scene)
  await scene.review(0, calls(adviseCall(NOTE, 'blocker'), adviseCall('Yak: port 8080 is taken by the proxy.', 'concern')))
  await scene.advisor('dismiss 1')
  expect(notes(await scene.step(1))).toEqual(['concern: Yak: port 8080 is taken by the proxy.'])
})

const AGAIN: readonly [string, Reply][] = [
  ['word for word', raise(NOTE, 'concern')],
  ['at a higher severity', raise(NOTE, 'blocker')],
  ['in other words', raise('Again: main.ts still imports the files in src/old!', 'concern')],
  ['in other words at a higher severity', raise('main.ts still imports the files in `src/old`.', 'blocker')],
  ['as a frame', frame(NOTE, 'blocker')],
  ['beside a note that is new', calls(adviseCall(NOTE, 'blocker'), adviseCall('Yak: port 8080 is taken by the proxy.', 'concern'))],
]

test.each(AGAIN)('what the user dismissed does not come back %s', async (_name, reply) => {
  const scene = await withCard({ config: { notesPerUpdate: 2 } })
  await scene.advisor('dismiss 1')
  void scene.prompt('continue')
  await scene.step(2)
  await scene.loop.settle()
  await scene.review(scene.reviews.length - 1, reply)
  expect((await listed(scene)).filter(note => note.text.includes('src/old')).map(note => note.standing)).toEqual(['dismissed'])
  expect(notes(await scene.step(3)).filter(note => note.includes('src/old'))).toEqual([])
})

test('what the user dismissed does not come back as the revision of another note', async () => {
  const scene = await startScene({ planMode: true, config: { reconfirmAfter: 1, notesPerUpdate: 2 } })
  await scene.loop.command(scene.agent, '/plan')
  await underWay(scene)
  await scene.review(0, calls(adviseCall(NOTE, 'concern'), adviseCall('Wombat: see wombat.ts.', 'concern')))
  await scene.advisor('dismiss 1')
  await scene.step(1)
  await scene.review(1, calls(call('advise', { note: NOTE, severity: 'blocker', replaces: 2 })))
  expect((await listed(scene)).filter(note => note.text.includes('src/old')).map(note => note.standing)).toEqual(['dismissed'])
})

test('the reviewer is told what was dismissed, once, with its next update', async () => {
  const scene = await withCard()
  await scene.advisor('dismiss 1')
  void scene.prompt('continue')
  await scene.step(2)
  const request = await scene.review(1)
  const texts = added(request, scene.reviews[0])
  expect(texts.filter(value => value.includes('the user dismissed your note') && value.includes(NOTE))).toHaveLength(1)
  await scene.step(3)
  const next = await scene.review(2)
  expect(added(next, request).join('\n')).not.toContain('dismissed')
})

test('a remark that a failed call carried is told again', async () => {
  const scene = await withCard()
  await scene.advisor('dismiss 1')
  void scene.prompt('continue')
  await scene.step(2)
  await scene.review(1, { kind: 'fail', failure: { code: 'CONTEXT_WINDOW_EXCEEDED', status: 400, message: 'too long' } })
  expect(shown(await scene.reviewer.asked(2))).toContain('dismissed')
})

test('a reviewer that starts afresh knows what was dismissed and what is muted', async () => {
  const scene = await withCard()
  await scene.advisor('dismiss 1')
  await scene.advisor('mute error handling')
  await scene.advisor('off')
  await scene.advisor('on')
  void scene.prompt('continue')
  await scene.step(2)
  const request = await scene.review(scene.reviews.length - 1)
  expect(shown(request)).toContain(`- concern, dismissed by the user: ${NOTE}`)
  expect(shown(request)).toContain('The user wants to hear nothing about: error handling')
})

test('a muted topic is refused whatever the severity, is told to the reviewer, and is heard again after `unmute`', async () => {
  const scene = await startScene({ config: { immuneTurns: 0 } })
  await underWay(scene)
  expect(await scene.advisor('mute Error Handling')).toBe('Muted: Error Handling. `/advisor unmute` takes it back.')
  expect(await scene.advisor('notes')).toContain('Muted: Error Handling')
  await scene.review(0, raise('There is no handling of any error in fetch.ts.', 'blocker'))
  expect(await listed(scene)).toEqual([])
  await scene.step(1)
  const told = await scene.review(1, raise('The error page in view.ts is blank.', 'concern'))
  expect(added(told, scene.reviews[0]).join('\n')).toContain('the user wants to hear nothing about: Error Handling')
  expect((await listed(scene)).map(note => note.text)).toEqual(['The error page in view.ts is blank.'])

  expect(await scene.advisor('unmute')).toBe('Topics heard again: 1.')
  await scene.step(2)
  const heard = await scene.review(2, raise('There is no handling of any error in fetch.ts.', 'concern'))
  expect(added(heard, told).join('\n')).toContain('hear about everything again')
  expect(notes(await scene.step(3)).at(-1)).toBe('concern: There is no handling of any error in fetch.ts.')
  expect(await scene.advisor('unmute')).toBe('Topics heard again: 0.')
})

test('the inbox belongs to its session', async () => {
  const scene = await withCard()
  const other = await scene.loop.agent()
  expect(await scene.advisor('notes', other)).toBe('No notes in this session.')
  await scene.advisor('mute imports', other)
  expect(await scene.advisor('notes')).not.toContain('Muted')
})
