import { beforeEach, describe, expect, test } from 'vitest'
import { Inbox } from '../../src/deliver/inbox.ts'
import { describeState, UNDELIVERED, type Note, type NoteState } from '../../src/deliver/note.ts'
import { messageId } from './support/log.ts'

let inbox: Inbox
beforeEach(() => { inbox = new Inbox() })

const UNROUTED: NoteState = { kind: 'unrouted' }
const DELIVERED: NoteState = { kind: 'delivered', turn: 1, step: 2 }

function add(text = 'Look.', state = UNROUTED): Note {
  return inbox.add({ text, severity: 'nit', advisors: [], update: 1, at: 5 }, state)
}

const texts = (notes: readonly Note[]): string[] => notes.map(note => note.text)

test('notes are numbered from 1 and listed in the order in which they came', () => {
  const notes = ['a', 'b', 'c'].map(text => add(text))
  expect(notes.map(note => note.id)).toEqual([1, 2, 3])
  expect(inbox.list().map(({ note }) => note)).toEqual(notes)
  expect(inbox.accepted).toBe(3)
  expect(notes[0]).toEqual({ id: 1, text: 'a', severity: 'nit', advisors: [], update: 1, at: 5 })
})

test('a note keeps its place when it moves', () => {
  const [first, second] = [add('a'), add('b')]
  inbox.move(first!, { kind: 'card', reason: 'late' })
  expect(inbox.list()).toEqual([{ note: first, state: { kind: 'card', reason: 'late' } }, { note: second, state: UNROUTED }])
  expect(inbox.get(first!.id)?.state.kind).toBe('card')
})

test('a number that is no note is nothing', () => {
  expect(inbox.get(1)).toBeUndefined()
  add()
  expect(inbox.get(2)).toBeUndefined()
})

test('a stranger cannot move in', () => {
  inbox.move({ id: 9, text: 'x', severity: 'nit', advisors: [], update: 1, at: 0 }, DELIVERED)
  expect(inbox.list()).toEqual([])
})

test('notes are found by their state, oldest first', () => {
  const [a, b, c] = [add('a'), add('b'), add('c')]
  inbox.move(b!, { kind: 'aside' })
  expect(texts(inbox.in('unrouted'))).toEqual(['a', 'c'])
  expect(texts(inbox.in('aside', 'unrouted'))).toEqual(['a', 'b', 'c'])
  expect(inbox.in('card')).toEqual([])
  inbox.move(a!, DELIVERED)
  inbox.move(c!, { kind: 'withdrawn' })
  expect(texts(inbox.in(...UNDELIVERED))).toEqual(['b'])
})

test('notes are found by the message they travel in', () => {
  const [a, b, c] = [add('a'), add('b'), add('c')]
  const [one, two] = [messageId('one'), messageId('two')]
  inbox.move(a!, { kind: 'steered', message: one })
  inbox.move(b!, { kind: 'entering', message: two })
  inbox.move(c!, { kind: 'steered', message: one })
  expect(texts(inbox.of(one))).toEqual(['a', 'c'])
  expect(texts(inbox.of(two))).toEqual(['b'])
  expect(inbox.of(messageId('three'))).toEqual([])
  inbox.move(a!, DELIVERED)
  expect(texts(inbox.of(one))).toEqual(['c'])
})

describe('over a long session', () => {
  test.each<[string, NoteState]>([['delivered', DELIVERED], ['withdrawn', { kind: 'withdrawn' }], ['dismissed', { kind: 'dismissed' }]])(
    'notes that were %s are let go, the oldest first', (_name, state) => {
      for (let index = 1; index <= 800; index += 1) add(`n${index}`, state)
      expect(inbox.list().map(({ note }) => note.id)).toEqual(Array.from({ length: 500 }, (_, index) => index + 301))
      expect(inbox.accepted).toBe(800)
      expect(inbox.get(1)).toBeUndefined()
    })

  test('a note that nobody has seen stays, whatever their number', () => {
    const message = messageId('m')
    const states: NoteState[] = [
      UNROUTED, { kind: 'aside' }, { kind: 'card', reason: 'x' }, { kind: 'steered', message }, { kind: 'entering', message },
    ]
    for (let index = 0; index < 700; index += 1) add(`n${index}`, states[index % states.length])
    expect(inbox.list()).toHaveLength(700)
    for (let index = 0; index < 700; index += 1) add(`later${index}`, DELIVERED)
    expect(texts(inbox.in(...UNDELIVERED))).toHaveLength(700)
  })
})

test.each<[NoteState, RegExp]>([
  [UNROUTED, /waiting/], [{ kind: 'aside' }, /waiting for the next step/], [{ kind: 'steered', message: messageId('m') }, /on its way/],
  [{ kind: 'entering', message: messageId('m') }, /on its way/],
  [{ kind: 'card', reason: 'the run was stopped' }, /next message.*the run was stopped/],
  [DELIVERED, /delivered at step 1\.2/], [{ kind: 'withdrawn' }, /withdrawn/], [{ kind: 'dismissed' }, /dismissed by the user/],
])('%j in words', (state, words) => {
  expect(describeState(state)).toMatch(words)
})
