// What becomes of a finding: a note of its own, one more name on a note of another advisor, a graver note, or nothing.

import { expect, test } from 'vitest'
import type { MessageId } from '@deepseek-ai/dsh-llm'
import type { Finding } from '../../src/finding.ts'
import { EmissionGuard } from '../../src/deliver/guard.ts'
import { Inbox } from '../../src/deliver/inbox.ts'
import { Intake } from '../../src/deliver/intake.ts'
import type { NoteState } from '../../src/deliver/note.ts'
import type { Severity } from '../../src/severity.ts'

const OLD = 'The files in src/old are still imported by main.ts.'
const OLD_AGAIN = 'Again: main.ts still imports the files in src/old!'
const PORT = 'Port 8080 is taken by the proxy.'
const message = 'm1' as MessageId

function intake() {
  const inbox = new Inbox()
  const guard = new EmissionGuard()
  const refused: string[] = []
  const takes = new Intake({
    inbox, guard, now: () => 7, debug: line => void refused.push(line), takeBack: ({ note }, state) => inbox.move(note, state),
  })
  return {
    inbox, refused,
    give(advisor: string | undefined, finding: Partial<Finding>, terms: { maxSeverity?: Severity, notesPerUpdate?: number } = {}, update = 1) {
      return takes.take([{ note: OLD, severity: 'concern', ...finding }], { advisor, update, review: {} }, { maxSeverity: 'blocker', notesPerUpdate: 1, ...terms }).length
    },
    giveAll(advisor: string, notes: readonly Finding[], notesPerUpdate: number) {
      return takes.take(notes, { advisor, update: 1, review: {} }, { maxSeverity: 'blocker', notesPerUpdate }).length
    },
    get notes() { return inbox.list().map(({ note, state }) => `${note.severity} ${note.advisors.join('+')} ${state.kind}: ${note.text}`) },
    move(state: NoteState) { inbox.move(inbox.get(1)!.note, state) },
  }
}

const WAITING: readonly NoteState[] = [
  { kind: 'unrouted' }, { kind: 'card', reason: 'x' }, { kind: 'steered', message }, { kind: 'claimed', message },
]

test.each(WAITING)('the same from a second advisor while the note is $kind is the same note, naming both', (state) => {
  const { give, move, inbox, ...rest } = intake()
  give('A', {})
  move(state)
  expect(give('B', { note: OLD_AGAIN, severity: 'nit' })).toBe(1)
  expect(inbox.list()).toEqual([{ note: { id: 1, text: OLD, severity: 'concern', advisors: ['A', 'B'], update: 1, at: 7 }, state }])
  expect(give('B', {})).toBe(0)
  expect(rest.refused).toHaveLength(1)
})

test('one that waits aside is routed anew: it may interrupt for the second advisor', () => {
  const all = intake()
  all.give('A', {})
  all.move({ kind: 'aside' })
  all.give('B', {})
  expect(all.notes).toEqual([`concern A+B unrouted: ${OLD}`])
})

test.each<NoteState>([
  { kind: 'entering', message }, { kind: 'delivered', turn: 1, step: 1 }, { kind: 'dismissed' },
])('the same from a second advisor once the note is $kind is a repeat', (state) => {
  const all = intake()
  all.give('A', {})
  all.move(state)
  expect(all.give('B', {})).toBe(0)
  expect(all.notes).toEqual([`concern A ${state.kind}: ${OLD}`])
})

test('a delivered note is given again when another advisor finds it graver', () => {
  const all = intake()
  all.give('A', {})
  all.move({ kind: 'delivered', turn: 1, step: 1 })
  expect(all.give('B', { severity: 'blocker' })).toBe(1)
  expect(all.notes).toEqual([`concern A delivered: ${OLD}`, `blocker B unrouted: ${OLD}`])
})

test.each<[NoteState, NoteState['kind']]>([
  [{ kind: 'aside' }, 'unrouted'], [{ kind: 'card', reason: 'x' }, 'unrouted'], [{ kind: 'steered', message }, 'steered'],
])('a waiting note ($kind) that another advisor finds graver is that note, graver, in its words', (state, then) => {
  const all = intake()
  all.give('A', { severity: 'nit' })
  all.move(state)
  expect(all.give('B', { note: OLD_AGAIN, severity: 'blocker' }, {}, 4)).toBe(1)
  expect(all.notes).toEqual([`blocker A+B ${then}: ${OLD_AGAIN}`])
  expect(all.inbox.get(1)?.note.update).toBe(4)
})

test('an advisor that finds its own waiting note graver makes it so', () => {
  const all = intake()
  all.give('A', { severity: 'nit' })
  all.give('A', { severity: 'blocker' })
  expect(all.notes).toEqual([`blocker A unrouted: ${OLD}`])
})

test('the severity that an advisor may give is its own limit, also on a note that it joins', () => {
  const all = intake()
  all.give('A', { severity: 'blocker' }, { maxSeverity: 'nit' })
  all.give('B', { severity: 'blocker' }, { maxSeverity: 'concern' })
  expect(all.notes).toEqual([`concern A+B unrouted: ${OLD}`])
})

test('a name on a note that is there costs nothing of the budget', () => {
  const all = intake()
  all.give('A', {})
  expect(all.giveAll('B', [{ note: OLD, severity: 'concern' }, { note: PORT, severity: 'nit' }, { note: 'Nothing tests the cart.', severity: 'nit' }], 1)).toBe(2)
  expect(all.notes).toEqual([`concern A+B unrouted: ${OLD}`, `nit B unrouted: ${PORT}`])
})

test('an advisor withdraws its own note, and no other\'s', () => {
  const all = intake()
  all.give('A', {})
  all.give('B', { note: '', replaces: 1 })
  expect(all.notes).toEqual([`concern A unrouted: ${OLD}`])
  all.give('A', { note: '', replaces: 1 })
  expect(all.notes).toEqual([`concern A withdrawn: ${OLD}`])
  expect(all.give('B', {})).toBe(1)
})

test('a note that two gave stands as the other\'s when one withdraws it, and goes when both do', () => {
  const all = intake()
  all.give('A', {})
  all.give('B', {})
  all.give('A', { note: '', replaces: 1 })
  expect(all.notes).toEqual([`concern B unrouted: ${OLD}`])
  all.give('B', { note: '', replaces: 1 })
  expect(all.notes).toEqual([`concern B withdrawn: ${OLD}`])
})

test('one of two changes its mind: its new note is its own, and the old one stands as the other\'s', () => {
  const all = intake()
  all.give('A', {})
  all.give('B', {})
  all.give('A', { note: PORT, replaces: 1 })
  expect(all.notes).toEqual([`concern B unrouted: ${OLD}`, `concern A unrouted: ${PORT}`])
})

test('a revision that says what another advisor says joins its note', () => {
  const all = intake()
  all.give('A', {})
  all.give('B', { note: PORT })
  all.give('B', { note: OLD_AGAIN, replaces: 2 })
  expect(all.notes).toEqual([`concern A+B unrouted: ${OLD}`, `concern B withdrawn: ${PORT}`])
})

test('without a roster the same thing is a repeat, as ever', () => {
  const all = intake()
  all.give(undefined, {})
  expect(all.give(undefined, { note: OLD_AGAIN })).toBe(0)
  expect(all.notes).toEqual([`concern  unrouted: ${OLD}`])
})

test('a review that speaks twice has one budget, and its own note said graver costs nothing of it', () => {
  const inbox = new Inbox()
  const takes = new Intake({ inbox, guard: new EmissionGuard(), now: () => 7, debug: () => {}, takeBack: () => {} })
  const terms = { maxSeverity: 'blocker', notesPerUpdate: 1 } as const
  const origin = { advisor: undefined, update: 1, review: {} }
  expect(takes.take([{ note: OLD, severity: 'nit' }], origin, terms)).toHaveLength(1)
  expect(takes.take([{ note: PORT, severity: 'blocker' }], origin, terms)).toEqual([])
  expect(takes.take([{ note: OLD, severity: 'blocker' }], origin, terms)).toMatchObject([{ severity: 'blocker' }])
  expect(takes.take([{ note: PORT, severity: 'concern' }], { ...origin, review: {} }, terms)).toHaveLength(1)
})
