/** Several advisors on one session: side by side, one message, one wake, and each with its own trouble. */
import { expect, test } from 'vitest'
import { advise, fail, text, tool } from '../support/adapter-replies.ts'
import { advisories, notes, shown } from '../support/loop-advised.ts'
import { entry, roster, startRound } from '../support/loop-roster.ts'

const OLD = 'The files in src/old are still imported by main.ts.'
const PORT = 'Port 8080 is taken by the proxy.'
const TWO = roster(entry('Arch', { instructions: 'Watch the layers.' }), entry('Ops', { instructions: 'Watch the ports.' }))

test('they review the same step side by side, each with its own instructions and conversation', async () => {
  const round = await startRound(['arch', 'ops'], TWO)
  void round.scene.prompt('go')
  await round.scene.step(0)
  const [arch, ops] = [await round.hand('arch').asked(0), await round.hand('ops').asked(0)]
  expect(arch.system).toContain('Watch the layers.')
  expect(arch.system).not.toContain('Watch the ports.')
  expect(ops.system).toContain('Watch the ports.')
  expect(shown(arch)).toContain('file-0.txt')
  expect(shown(ops)).toContain('file-0.txt')
  expect(arch.sessionId).not.toBe(ops.sessionId)
})

test('what all advisors share stands before what is one advisor\'s own', async () => {
  const round = await startRound(['arch', 'ops'], TWO)
  void round.scene.prompt('go')
  await round.scene.step(0)
  const [arch, ops] = [await round.hand('arch').asked(0), await round.hand('ops').asked(0)]
  const [a, b] = [arch.system!, ops.system!]
  const common = [...a].findIndex((char, index) => char !== b[index])
  expect(a.slice(0, common)).toContain('call `advise`')
  expect(a.slice(common)).not.toContain('**user:**')
})

test('notes of both for one step are one message at the next step, each with its name', async () => {
  const round = await startRound(['arch', 'ops'], TWO, { config: { immuneTurns: 0 } })
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'concern'))
  await round.review('ops', 0, advise(PORT, 'blocker'))
  const texts = advisories(await round.scene.step(1))
  expect(texts).toHaveLength(1)
  expect(texts[0]).toContain('<advisory advisor="Arch" severity="concern"')
  expect(texts[0]).toContain('<advisory advisor="Ops" severity="blocker"')
})

test('the same finding of both is one note that names both, with the graver severity', async () => {
  const round = await startRound(['arch', 'ops'], TWO, { config: { immuneTurns: 0 } })
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'nit'))
  await round.review('ops', 0, advise('Again: main.ts still imports the files in src/old!', 'concern'))
  const texts = advisories(await round.scene.step(1))
  expect(texts).toHaveLength(1)
  expect(texts[0]!.match(/<advisory/g)).toHaveLength(1)
  expect(texts[0]).toContain('advisor="Arch, Ops" severity="concern"')
  expect((await round.scene.advisor('notes')).split('\n')).toHaveLength(1)
})

test('once it was delivered, the same finding of the other is a repeat', async () => {
  const round = await startRound(['arch', 'ops'], TWO, { config: { immuneTurns: 0 } })
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'concern'))
  expect(notes(await round.scene.step(1))).toEqual([`concern: ${OLD}`])
  await round.review('ops', 0, advise(OLD, 'concern'))
  expect(notes(await round.scene.step(2))).toEqual([`concern: ${OLD}`])
})

test('blockers of both about the answer wake the agent once, in one message', async () => {
  const round = await startRound(['arch', 'ops'], TWO, { config: { immuneTurns: 0, reopen: 5 } })
  void round.scene.prompt('go')
  await round.scene.primary.asked(0)
  round.scene.primary.answer(0, text('done'))
  await round.loop.settle()
  await round.review('arch', 0, advise(OLD, 'blocker'))
  expect(round.scene.steps).toHaveLength(1)
  await round.review('ops', 0, advise(PORT, 'blocker'))
  const second = await round.scene.primary.asked(1)
  expect(advisories(second)).toHaveLength(1)
  expect(notes(second).toSorted()).toEqual([`blocker: ${OLD}`, `blocker: ${PORT}`].toSorted())
  round.scene.primary.answer(1, text('done again'))
  await round.loop.settle()
  expect(round.scene.steps).toHaveLength(2)
})

test('a blocker waits no longer for another reviewer once that one has failed', async () => {
  const round = await startRound(['arch', 'ops'], TWO, { config: { immuneTurns: 0 } })
  void round.scene.prompt('go')
  await round.scene.primary.asked(0)
  round.scene.primary.answer(0, text('done'))
  await round.loop.settle()
  await round.review('arch', 0, advise(OLD, 'blocker'))
  expect(round.scene.steps).toHaveLength(1)
  await round.review('ops', 0, fail({ code: 'AUTH', status: 401 }))
  expect(notes(await round.scene.primary.asked(1))).toEqual([`blocker: ${OLD}`])
})

test('one that fails for good says so under its name, and the other goes on', async () => {
  const round = await startRound(['arch', 'ops'], TWO)
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, fail({ code: 'AUTH', status: 401, message: 'no such key' }))
  await round.review('ops', 0, advise(PORT, 'concern'))
  expect(notes(await round.scene.step(1))).toEqual([`concern: ${PORT}`])
  expect(await round.line('Arch')).toMatch(/^halted/)
  expect(await round.line('Ops')).toMatch(/^running/)
  expect(round.scene.told.filter(line => line.includes('Arch: halted'))).toHaveLength(1)
  await round.hand('ops').asked(1)
  expect(round.reviews('arch')).toHaveLength(1)
})

test('one whose provider is missing is no_model, the other reviews, and it starts by itself when the provider appears', async () => {
  const round = await startRound(['arch', 'ops'], roster(entry('Arch', { model: 'later/arch' }), entry('Ops')))
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('ops', 0)
  expect(await round.line('Arch')).toMatch(/^no_model/)
  expect(round.reviews('arch')).toHaveLength(0)
  const adapter = round.loop.adapter
  round.loop.ctx.llm.registerAdapter(['later'], adapter)
  expect(shown(await round.hand('arch').asked(0))).toContain('file-0.txt')
  expect(await round.line('Arch')).toMatch(/^running/)
})

test('an advisor added between two steps takes part in the next review, and one that is paused does not', async () => {
  const round = await startRound(['arch', 'ops'], roster(entry('Arch')))
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0)
  await round.edit(roster(entry('Arch', { enabled: false }), entry('Ops')))
  await round.scene.step(1)
  expect(shown(await round.hand('ops').asked(0))).toContain('file-1.txt')
  expect(round.reviews('arch')).toHaveLength(1)
  expect(await round.line('Arch')).toMatch(/^off/)
})

test('a file whose every advisor is paused stays watched', async () => {
  const round = await startRound(['arch'], roster(entry('Arch', { enabled: false })))
  void round.scene.prompt('go')
  await round.scene.step(0)
  expect(round.reviews('arch')).toHaveLength(0)
  await round.edit(roster(entry('Arch')))
  await round.scene.step(1)
  expect(shown(await round.hand('arch').asked(0))).toContain('file-1.txt')
})

test('each has its own cadence, ceiling and number of notes', async () => {
  const round = await startRound(['arch', 'ops'], roster(entry('Arch', { reviewEvery: 2 }), entry('Ops', { maxSeverity: 'nit', notesPerUpdate: 1 })))
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('ops', 0, advise(PORT, 'blocker'))
  expect(round.reviews('arch')).toHaveLength(0)
  const second = await round.scene.step(1)
  expect(notes(second)).toEqual([`nit: ${PORT}`])
  const both = await round.hand('arch').asked(0)
  expect(shown(both)).toContain('file-0.txt')
  expect(shown(both)).toContain('file-1.txt')
})

test('catch-up waits for all of them', async () => {
  const round = await startRound(['arch', 'ops'], TWO, { config: { syncBacklog: 1 } })
  void round.scene.prompt('go')
  await round.scene.primary.asked(0)
  round.scene.primary.answer(0, tool('read', { file_path: 'file-0.txt' }))
  await round.review('arch', 0)
  expect(round.scene.steps).toHaveLength(1)
  await round.review('ops', 0)
  expect(await round.scene.primary.asked(1)).toBeDefined()
})

test('a dismissed note is told to the advisor that gave it, and to no other', async () => {
  const round = await startRound(['arch', 'ops'], TWO)
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('arch', 0, advise(OLD, 'nit'))
  await round.review('ops', 0)
  await round.scene.advisor('dismiss 1')
  await round.scene.step(1)
  expect(shown(await round.hand('arch').asked(1))).toContain('[the user dismissed your note')
  expect(shown(await round.hand('ops').asked(1))).not.toContain('dismissed')
})

test('one can be switched off and on by name in this session', async () => {
  const round = await startRound(['arch', 'ops'], TWO)
  expect(await round.scene.advisor('off arch')).toBe('Arch off for this session.')
  void round.scene.prompt('go')
  await round.scene.step(0)
  await round.review('ops', 0)
  expect(round.reviews('arch')).toHaveLength(0)
  expect(await round.scene.advisor('on Arch')).toBe('Arch on for this session.')
  await round.scene.step(1)
  expect(shown(await round.hand('arch').asked(0))).toContain('file-1.txt')
})

test('a subagent has its own look at the files of its own folder', async () => {
  const round = await startRound(['arch', 'ops'], roster(entry('Arch', { agents: ['main'] }), entry('Ops')), { config: { subagents: true } })
  const child = await round.loop.agent({ parent: round.agent })
  void round.loop.prompt(child, 'go')
  await round.scene.step(0)
  await round.hand('ops').asked(0)
  expect(round.reviews('arch')).toHaveLength(0)
})
