/** Sessions with a past: resumed, forked, crashed. The past is not reviewed again; the task and earlier notes are known. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as advisor from '../../src/index.ts'
import { advise, text, tool } from '../support/adapter-replies.ts'
import { userTexts } from '../support/loop.ts'
import { advisories, Hand, notes, REVIEWER, Scene, shown, startLoop, startScene } from '../support/loop-advised.ts'

/** A folder for two hosts, one after the other. */
async function sharedHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'advisor-kept-'))
  onTestFinished(() => rm(home, { recursive: true }))
  return home
}

/** A second host on the files of the first, with the session resumed. */
async function nextHost(home: string, id: string): Promise<Scene> {
  const [primary, reviewer] = [new Hand(), new Hand()]
  const loop = await startLoop({ home, persistence: true, script: { primary: primary.script, reviewer: reviewer.script } })
  const fiber = await loop.mount(advisor, REVIEWER)
  return new Scene(loop, await loop.resume(id), fiber, primary, reviewer)
}

/** Step 1 is reviewed with a concern, which lands in step 3; then the answer. */
async function firstRun(scene: Scene): Promise<void> {
  const run = scene.prompt('Read b.txt')
  await scene.step(0, tool('bash', { command: 'old' }))
  await scene.review(0, advise('The tests in parser.ts were never run.', 'concern'))
  await scene.step(1)
  await scene.review(1)
  scene.primary.answer(2, text('first answer'))
  await run
  await scene.review(2)
}

test('a resumed session starts with the task, its latest message and the notes given before, not with its past', async () => {
  const home = await sharedHome()
  const first = await startScene({ home, persistence: true })
  await firstRun(first)
  await first.loop.dispose()

  const scene = await nextHost(home, first.agent.id)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(0)
  const run = scene.prompt('Now write c.txt')
  await scene.step(0)
  const request = await scene.review(0)
  expect(userTexts(request)).toEqual([
    [
      `Working folder: ${scene.loop.cwd}`, 'The user\'s request:\n**user:** Read b.txt',
      'Notes you gave before:\n- concern, delivered in an earlier run: The tests in parser.ts were never run.',
    ].join('\n\n'),
    '## step 2.1\n**user:** Now write c.txt',
    '→ read(file-0.txt)\n[tool result]\ncontent of file-0.txt\n[working]',
  ])
  expect(shown(request)).not.toMatch(/first answer|bash\(old\)/)
  scene.primary.answer(1, text('done'))
  await run
})

test('a resumed reviewer cannot raise the same thing again, but can raise it higher', async () => {
  const home = await sharedHome()
  const first = await startScene({ home, persistence: true })
  await firstRun(first)
  await first.loop.dispose()

  const scene = await nextHost(home, first.agent.id)
  void scene.prompt('Go on')
  await scene.step(0)
  await scene.review(0, advise('Still: the tests in parser.ts were never run!', 'concern'))
  const third = await scene.step(1)
  expect(advisories(third)).toHaveLength(1)
  await scene.review(1, advise('The tests in parser.ts were never run.', 'blocker'))
  expect(notes(await scene.step(2))).toEqual([
    'concern: The tests in parser.ts were never run.', 'blocker: The tests in parser.ts were never run.',
  ])
})

test('a session resumed in the same host goes on with its reviewer knowing what it said', async () => {
  const scene = await startScene({ persistence: true })
  await firstRun(scene)
  const agent = await scene.loop.resume(scene.agent.id)
  void scene.loop.prompt(agent, 'Go on')
  await scene.step(3)
  const request = await scene.review(3, advise('The tests in parser.ts were never run.', 'concern'))
  expect(userTexts(request)[0]).toContain('Read b.txt')
  expect(userTexts(request)[0]).toContain('The tests in parser.ts were never run.')
  expect(advisories(await scene.step(4))).toHaveLength(1)
})

test('a session that broke off in the middle of a turn is resumed without a review of its past and without waking', async () => {
  const home = await sharedHome()
  const first = await startScene({ home, persistence: true })
  void first.prompt('Read b.txt')
  await first.step(0)
  await first.reviewer.asked(0)
  await first.loop.dispose()

  const scene = await nextHost(home, first.agent.id)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(0)
  expect(scene.steps).toHaveLength(0)
  void scene.prompt('continue')
  await scene.step(0)
  const request = await scene.review(0, advise('Wrong file.', 'concern'))
  expect(shown(request)).toContain('Read b.txt')
  expect(notes(await scene.step(1))).toEqual(['concern: Wrong file.'])
})

/** A process that died with a note in the agent's queue, and the next one, in which the user goes on. */
async function diedWithNoteQueued(): Promise<Scene> {
  const first = await startScene({ persistence: true })
  void first.prompt('Read b.txt')
  await first.step(0)
  await first.review(0, advise('The tests in parser.ts were never run.', 'blocker'))
  expect(first.agent.inbox.nextStep).toHaveLength(1)
  await first.loop.ctx.sessions.flush(first.agent.session)
  const home = await sharedHome()
  await cp(join(first.loop.home, 'sessions'), join(home, 'sessions'), { recursive: true })

  const scene = await nextHost(home, first.agent.id)
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(0)
  void scene.prompt('continue')
  return scene
}

test('a note that was queued when the process died wakes nobody, and arrives with the user\'s next message, once', async () => {
  const scene = await diedWithNoteQueued()
  expect(notes(await scene.primary.asked(0))).toEqual(['blocker: The tests in parser.ts were never run.'])
  await scene.step(0)
  await scene.review(0)
  expect(advisories(await scene.step(1))).toHaveLength(1)
})

test('a note that was queued when the process died is known to the next reviewer', async () => {
  const scene = await diedWithNoteQueued()
  await scene.step(0)
  const request = await scene.review(0)
  expect(userTexts(request)[0]).toContain('Notes you gave before:\n- blocker')
  expect(userTexts(request)[0]).toContain('The tests in parser.ts were never run.')
})

test('a note that was queued when the process died cannot be raised a second time', async () => {
  const scene = await diedWithNoteQueued()
  await scene.step(0)
  await scene.review(0, advise('The tests in parser.ts were never run!', 'blocker'))
  expect(advisories(await scene.step(1))).toHaveLength(1)
})

test('a note that was queued when its session was closed arrives once after the session is opened again', async () => {
  const scene = await startScene({ persistence: true })
  void scene.prompt('Read b.txt')
  await scene.step(0)
  await scene.review(0, advise('The tests in parser.ts were never run.', 'blocker'))
  expect(scene.agent.inbox.nextStep).toHaveLength(1)
  const agent = await scene.loop.resume(scene.agent.id)
  await scene.loop.settle()
  expect(scene.steps).toHaveLength(2)
  void scene.loop.prompt(agent, 'continue')
  expect(notes(await scene.primary.asked(2))).toEqual(['blocker: The tests in parser.ts were never run.'])
  expect(notes(await scene.step(2))).toHaveLength(1)
})

test('a card that no message of the user has taken along is kept when the session is closed and opened again', async () => {
  const scene = await startScene({ persistence: true })
  const run = scene.prompt('Read b.txt')
  await scene.primary.asked(0)
  scene.primary.answer(0, text('done'))
  await run
  await scene.review(0, advise('The answer leaves out b.txt.', 'concern'))
  const agent = await scene.loop.resume(scene.agent.id)
  void scene.loop.prompt(agent, 'Go on')
  expect(notes(await scene.primary.asked(1))).toEqual(['concern: The answer leaves out b.txt.'])
})

test('a fork has its own reviewer, which knows the task and the notes up to the fork, and no more', async () => {
  const scene = await startScene({ persistence: true })
  await firstRun(scene)
  const second = scene.prompt('Second task')
  await scene.primary.asked(3)
  scene.primary.answer(3, text('second answer'))
  await second
  await scene.review(3)

  const child = await scene.loop.fork(scene.agent.session, 0)
  await scene.loop.settle()
  expect(scene.reviews).toHaveLength(4)
  void scene.loop.prompt(child, 'Other way')
  await scene.step(4)
  const request = await scene.review(4, advise('The tests in parser.ts were never run.', 'concern'))
  const value = shown(request)
  expect(value).toContain('Read b.txt')
  expect(value).toContain('The tests in parser.ts were never run.')
  expect(value).toContain('**user:** Other way')
  expect(value).not.toMatch(/Second task|second answer/)
  expect(request.sessionId).not.toBe(scene.reviews[0]!.sessionId)
  expect(advisories(await scene.step(5))).toHaveLength(1)
})

test('once the plugin is gone its sessions open and go on, notes and all', async () => {
  const home = await sharedHome()
  const first = await startScene({ home, persistence: true })
  await firstRun(first)
  await first.loop.dispose()

  const loop = await startLoop({ home, persistence: true, script: { primary: () => text('on my own') } })
  const agent = await loop.resume(first.agent.id)
  await loop.prompt(agent, 'Go on')
  expect(loop.lastText(agent)).toBe('on my own')
  expect(notes(loop.requests.primary[0])).toEqual(['concern: The tests in parser.ts were never run.'])
})
