/** Several advisors around the ends and edges of a session: one wake for all, nobody forgotten, and each asked about its own. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { advise, adviseCall, call, calls, fail, hang, text } from '../support/adapter-replies.ts'
import { advisories, holdTime, look, notes, shown } from '../support/loop-advised.ts'
import { goHeadless, subagent, timesGiven, turns } from '../support/loop-moments.ts'
import { entry, roster, startRound } from '../support/loop-roster.ts'
import type { Round } from '../support/loop-roster.ts'
import type { SceneOptions } from '../support/loop-advised.ts'

const NAMES = ['arch', 'ops', 'docs']
const THREE = roster(entry('Arch'), entry('Ops'), entry('Docs'))
const OLD = 'The files in src/old are still imported by main.ts.'
const PORT = 'Port 8080 is taken by the proxy.'
const PAGE = 'README.md names a command that is gone.'

/** The agent has given its answer; three reviews of it are under way. */
async function answered(options: SceneOptions = {}): Promise<Round> {
  const round = await startRound(NAMES, THREE, { ...options, config: { immuneTurns: 0, reopen: 5, ...options.config } })
  void round.scene.prompt('go')
  await round.scene.primary.asked(0)
  round.scene.primary.answer(0, text('done'))
  await Promise.all(NAMES.map(name => round.hand(name).asked(0)))
  await round.loop.settle()
  return round
}

test('an idle agent is woken when the last of three has spoken, once, with what all of them said', async () => {
  const round = await answered()
  await round.review('arch', 0, advise(OLD, 'blocker'))
  await round.review('ops', 0, text('ok'))
  expect(round.scene.steps).toHaveLength(1)
  expect(round.agent.inbox.hasPending).toBe(false)
  await round.review('docs', 0, advise(PAGE, 'blocker'))
  expect(notes(await round.scene.primary.asked(1)).toSorted()).toEqual([`blocker: ${OLD}`, `blocker: ${PAGE}`].toSorted())
  expect(advisories(round.scene.steps[1])).toHaveLength(1)
  round.scene.primary.answer(1, text('done'))
  await round.loop.settle()
  expect(turns(round.agent)).toBe(2)
})

test('the last of three has nothing to say: the agent is woken all the same', async () => {
  const round = await answered()
  await round.review('arch', 0, advise(OLD, 'blocker'))
  await round.review('docs', 0)
  expect(round.scene.steps).toHaveLength(1)
  await round.review('ops', 0)
  expect(notes(await round.scene.primary.asked(1))).toEqual([`blocker: ${OLD}`])
})

test('the same blocker of two about the answer is one note in the message that wakes the agent', async () => {
  const round = await answered()
  await round.review('arch', 0, advise(OLD, 'blocker'))
  await round.review('ops', 0, advise('Again: main.ts still imports the files in src/old!', 'blocker'))
  await round.review('docs', 0)
  expect(advisories(await round.scene.primary.asked(1))[0]).toContain('<advisory advisor="Arch, Ops" severity="blocker"')
  expect(timesGiven(round.agent, 'src/old')).toBe(1)
})

test('a blocker that waits for the others is not held against the user: their message takes it along', async () => {
  const round = await answered()
  await round.review('arch', 0, advise(OLD, 'blocker'))
  void round.scene.prompt('and now?')
  expect(notes(await round.scene.primary.asked(1))).toEqual([`blocker: ${OLD}`])
  await round.review('ops', 0)
  await round.review('docs', 0)
  expect(timesGiven(round.agent, 'src/old')).toBe(1)
})

test('a blocker waits for one that hangs no longer than that one\'s own deadline', async () => {
  const time = holdTime()
  const round = await answered({ config: { timeout: 90 } })
  round.hand('ops').answer(0, hang({ ignoreSignal: true }))
  await round.review('docs', 0)
  await round.review('arch', 0, advise(OLD, 'blocker'))
  await time.pass(29_000)
  expect(round.scene.steps).toHaveLength(1)
  await time.pass(62_000)
  expect(notes(await round.scene.primary.asked(1))).toEqual([`blocker: ${OLD}`])
})

test('two notes that sit in the host\'s inbox, given at different times in one step, enter as one message', async () => {
  const round = await startRound(NAMES, THREE, { config: { immuneTurns: 0 } })
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'concern'))
  await round.review('ops', 0, advise(PORT, 'concern'))
  expect(round.agent.inbox.nextStep).toHaveLength(2)
  expect(advisories(await round.scene.step(1))).toHaveLength(1)
  expect(notes(round.scene.steps[2])).toHaveLength(2)
})

test('a queued note that another advisor gives too enters with both names', async () => {
  const round = await startRound(NAMES, THREE, { config: { immuneTurns: 0 } })
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'concern'))
  await round.review('ops', 0, advise(OLD, 'blocker'))
  expect(round.agent.inbox.nextStep).toHaveLength(1)
  expect(advisories(await round.scene.step(1))[0]).toContain('<advisory advisor="Arch, Ops" severity="blocker"')
  expect(await round.scene.advisor('notes')).toMatch(/^#1 blocker, .*: \[Arch, Ops\] The files in src\/old/)
})

test('peace after an interruption is as long as the advisor that speaks next leaves it', async () => {
  const round = await startRound(NAMES, roster(entry('Arch'), entry('Ops', { immuneTurns: 5 }), entry('Docs', { immuneTurns: 0 })))
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'concern'))
  for (const name of ['ops', 'docs']) await round.review(name, 0)
  await round.scene.step(1)
  await round.review('ops', 1, advise(PORT, 'concern'))
  expect(round.agent.inbox.nextStep).toHaveLength(0)
  await round.review('docs', 1, advise(PAGE, 'concern'))
  expect(round.agent.inbox.nextStep).toHaveLength(1)
  expect(notes(await round.scene.step(2))).toHaveLength(3)
})

test('each is asked about its own old notes, and can take back none of the others\'', async () => {
  const round = await startRound(NAMES, THREE, { planMode: true, config: { reconfirmAfter: 1 } })
  await round.loop.command(round.agent, '/plan')
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'concern'))
  await round.review('ops', 0, advise(PORT, 'concern'))
  await round.review('docs', 0)
  await round.scene.step(1)
  const [arch, ops, docs] = await Promise.all(NAMES.map(name => round.hand(name).asked(1)))
  expect(shown(arch)).toContain('1. concern')
  expect(shown(arch)).not.toContain(PORT)
  expect(shown(ops)).toContain('2. concern')
  expect(shown(ops)).not.toContain(OLD)
  expect(shown(docs)).not.toContain('have not read')
  await round.review('ops', 1, calls(call('advise', { note: '', replaces: 1 }), adviseCall('', 'nit', undefined, { replaces: 2 })))
  const listed = (await round.scene.advisor('notes')).split('\n')
  expect(listed[0]).toContain(`kept for the user's next message (plan mode): [Arch] ${OLD}`)
  expect(listed[1]).toContain(`withdrawn by its reviewer: [Ops] ${PORT}`)
})

test('a reviewer that starts afresh is told of its own notes only', async () => {
  const round = await startRound(NAMES, THREE)
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'nit'))
  await round.review('ops', 0, advise(PORT, 'nit'))
  await round.review('docs', 0)
  await round.scene.advisor('off')
  await round.scene.advisor('on')
  await round.scene.step(1)
  const [arch, ops] = await Promise.all(['arch', 'ops'].map(name => round.hand(name).asked(1)))
  expect(shown(arch)).toContain(OLD)
  expect(shown(arch)).not.toContain(PORT)
  expect(shown(ops)).toContain(PORT)
  expect(shown(ops)).not.toContain(OLD)
})

test('a session that is opened again knows who said what, and whom the user switched off', async () => {
  const round = await startRound(NAMES, THREE, { persistence: true })
  const run = round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'concern'))
  await round.review('ops', 0, advise(PORT, 'concern'))
  await round.scene.step(1)
  round.scene.primary.answer(2, text('done'))
  await run
  await round.scene.advisor('off docs')
  const agent = await round.loop.resume(round.agent.id)
  await round.loop.settle()
  void round.loop.prompt(agent, 'and now?')
  round.scene.primary.answer(3, look(3))
  const index = round.reviews('arch').length
  const arch = await round.hand('arch').asked(index)
  expect(shown(arch)).toContain(`- concern, delivered in an earlier run: ${OLD}`)
  expect(shown(arch)).not.toContain(PORT)
  const docs = round.reviews('docs').length
  await round.loop.settle()
  expect(round.reviews('docs')).toHaveLength(docs)
  expect(await round.scene.advisor('status', agent)).toMatch(/^Docs: off \(switched off in this session\)/m)
})

test('the end of a headless run waits for all of them, and what one of them did not review is told under its name', async () => {
  const time = holdTime()
  const round = await startRound(NAMES, THREE, { config: { drain: 20 } })
  const stderr = goHeadless(round.loop)
  void round.scene.prompt('go')
  await round.scene.primary.asked(0)
  round.scene.primary.answer(0, text('done'))
  await Promise.all(NAMES.map(name => round.hand(name).asked(0)))
  await round.review('arch', 0, advise(OLD, 'blocker'))
  await round.review('ops', 0, fail({ code: 'AUTH', status: 401, message: 'no such key' }))
  expect(stderr.text).toContain('dsh-advisor: Ops: halted: AUTH')
  expect(stderr.text).not.toContain('has not seen')
  await time.pass(20_000)
  expect(stderr.text).toContain('dsh-advisor: Docs: step 1.1 was not reviewed: no verdict within 20 s (`drain`)')
  expect(stderr.text).not.toContain('Arch: step')
  expect(stderr.text).toContain(`[blocker, Arch] ${OLD}`)
})

test('a roster may name the only models there are, and a session without one is told so once', async () => {
  const round = await startRound(NAMES, THREE, { config: { provider: '', model: '' } })
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0)
  expect(round.scene.told).toEqual([])
  await round.edit(roster(entry('Arch'), '  - name: Ops'))
  await round.scene.step(1)
  await round.review('arch', 1)
  expect(await round.line('Ops')).toMatch(/^no_model \(no model: set `provider` and `model`\)/)
  await round.scene.step(2)
  await round.review('arch', 2)
  expect(round.scene.told.filter(line => line.includes('Ops: no_model'))).toHaveLength(1)

  await round.edit(roster('  - name: Ops'))
  await round.scene.step(3)
  expect((await round.scene.status()).Advisor).toBe('disabled (no model: set `provider` and `model`)')
  expect(round.scene.told.filter(line => line.includes('disabled'))).toHaveLength(1)
  await round.edit(THREE)
  expect((await round.scene.status()).Advisor).toBe('running')
})

test('an edit keeps the conversation of an advisor that stays, and its new words are in its next request', async () => {
  const round = await startRound(NAMES, roster(entry('Arch', { instructions: 'Watch the layers.' })))
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0)
  await round.edit(roster(entry('Arch', { instructions: 'Watch the imports.', notesPerUpdate: 3 }), entry('Ops')))
  await round.scene.step(1)
  const second = await round.hand('arch').asked(1)
  expect(second.system).toContain('Watch the imports.')
  expect(second.system).toContain('at most 3')
  expect(shown(second)).toContain('file-0.txt')
  expect(shown(second)).toContain('file-1.txt')
  expect(second.sessionId).toBe(round.reviews('arch')[0]?.sessionId)
})

test('trouble in a file is told once, however many sessions read it, and stays in the status', async () => {
  const round = await startRound(NAMES, roster(entry('Arch'), entry('Ops', { tempo: 'high' })))
  await round.loop.agent()
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.scene.step(1)
  expect(round.scene.told.filter(line => line.includes('tempo'))).toHaveLength(1)
  expect((await round.scene.advisor('status')).split('\n').at(-1)).toMatch(/WATCHDOG\.yml:\d+:\d+: .*tempo/)
})

test('a subagent is reviewed by the roster of its own folder', async () => {
  const round = await startRound(NAMES, roster(entry('Arch', { agents: ['main', 'code'] })), { config: { subagents: true } })
  const cwd = join(round.loop.home, 'elsewhere')
  await mkdir(cwd)
  await writeFile(join(cwd, 'WATCHDOG.yml'), 'instructions: Mind the other folder.\nadvisors:\n  - name: Near\n')
  const child = await subagent(round.agent, { id: 'c1', cwd, preset: 'Code' })
  const other = await subagent(round.agent, { id: 'c2', cwd: round.loop.cwd, preset: 'minimal' })
  await round.loop.settle()
  expect(await round.scene.advisor('status', child)).toMatch(/^Near: running; mock\/reviewer/m)
  expect(await round.scene.advisor('status', child)).toMatch(/^Arch: running/m)
  expect(await round.scene.advisor('status', other)).toMatch(/^Advisor: off \(no advisor of the roster reviews this session\)\nArch: off \(`agents` does not name this one\)/)
  void round.loop.prompt(child, 'go')
  await round.scene.step(0)
  const near = await round.scene.reviewer.asked(0)
  expect(near.system).toContain('Mind the other folder.')
  expect(round.reviews('arch')).toHaveLength(1)
  void round.scene.prompt('go')
  await round.scene.step(round.scene.steps.length)
  expect(round.reviews('arch').at(-1)?.system).not.toContain('Mind the other folder.')
  expect(await round.line('Near')).toBe('')
})

test('the status has a line for each, and the totals of all below them', async () => {
  const round = await startRound(NAMES, roster(entry('Arch'), entry('Ops'), entry('Docs', { enabled: false })))
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'concern'))
  const lines = (await round.scene.advisor('status')).split('\n')
  expect(lines[0]).toBe('Advisor: running')
  expect(lines[1]).toMatch(/^Arch: running; mock\/arch, effort low; pending 0 updates; reviews 1 \(0 silent, .*1 note/)
  expect(lines[2]).toMatch(/^Ops: running; mock\/ops, effort low; pending 1 update, reviewing; reviews 0 /)
  expect(lines[3]).toMatch(/^Docs: off \(`enabled` is false\)/)
  expect(lines[4]).toBe('Pending: 1 update, reviewing')
  await round.review('ops', 0, fail({ code: 'AUTH', status: 401 }))
  expect((await round.scene.status()).Advisor).toBe('running (1 of 2 advisors)')
})

test.each(['off nobody', 'on nobody'])('`%s` names those there are', async (words) => {
  const round = await startRound(NAMES, THREE)
  expect(await round.scene.advisor(words)).toBe(`/advisor ${words.split(' ')[0]} does not know an advisor "nobody"; there are Arch, Ops, Docs.`)
})
