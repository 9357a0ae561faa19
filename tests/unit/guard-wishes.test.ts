import { beforeEach, describe, expect, test } from 'vitest'
import { EmissionGuard } from '../../src/deliver/guard.ts'
import { SEVERITIES } from '../../src/severity.ts'

let guard: EmissionGuard
beforeEach(() => { guard = new EmissionGuard() })

const judge = (note: string, severity: 'nit' | 'concern' | 'blocker' = 'blocker'): string => {
  const admission = guard.admit(note, severity, 0, 1)
  return admission.kind === 'admit' ? 'admit' : admission.reason
}

describe('a note that the user dismissed', () => {
  const NOTE = 'The test in `src/a.test.ts` was deleted instead of fixed.'

  test('does not come back at any severity, nor in a near copy', () => {
    guard.remember(NOTE, 'nit')
    guard.dismiss(NOTE, 'nit')
    expect(SEVERITIES.map(severity => judge(NOTE, severity))).toEqual(['repeat', 'repeat', 'repeat'])
    expect(judge(`Reminder: ${NOTE}`)).toBe('repeat')
  })

  test('does not come back when it was never remembered either', () => {
    guard.dismiss(NOTE, 'concern')
    expect(judge(NOTE)).toBe('repeat')
  })

  test('is known in a near copy also behind a later note that resembles the copy more', () => {
    guard.dismiss('alpha bravo charlie delta echo foxtrot golf hotel india juliett', 'nit')
    guard.remember('alpha bravo charlie delta echo foxtrot golf hotel lima kilo', 'nit')
    expect(judge('alpha bravo charlie delta echo foxtrot golf hotel india kilo')).toBe('repeat')
  })

  test('leaves other notes alone', () => {
    guard.dismiss(NOTE, 'concern')
    expect(judge('The test in `src/b.test.ts` was deleted instead of fixed.')).toBe('admit')
  })
})

describe('a note that its reviewer took back', () => {
  test('may be given again', () => {
    guard.remember('Check `a.ts`.', 'concern')
    guard.remember('Check `b.ts`.', 'concern')
    guard.forget('Check `a.ts`.')
    expect(judge('Check `a.ts`.', 'concern')).toBe('admit')
    expect(judge('Check `b.ts`.', 'concern')).toBe('repeat')
  })

  test('stays away when the user had dismissed it, and a stranger is no trouble', () => {
    guard.dismiss('Check `a.ts`.', 'concern')
    guard.forget('Check `a.ts`.')
    guard.forget('Nobody said this.')
    expect(judge('Check `a.ts`.')).toBe('repeat')
  })
})

describe('a muted topic', () => {
  test.each([
    ['tests', 'The Tests were not run.', true],
    ['tests', 'The test was not run.', false],
    ['test', 'The latest version is missing.', false],
    ['error handling', 'Handling of the ERROR is missing in `a.ts`.', true],
    ['error handling', 'The error is lost.', false],
    ['a.ts', 'In `src/a.ts` x is unused.', true],
    ['Dokumentation!', 'Die Dokumentation fehlt.', true],
    ['文档', '缺少文档说明。', true],
    ['文档', '缺少测试。', false],
    ['ドキュメント', 'ドキュメントがありません。', true],
    ['ＴＥＳＴＳ', 'The tests were not run.', true],
  ])('%j, and the note %j: %s', (words, note, muted) => {
    expect(guard.mute(words)).toBe(true)
    expect(judge(note)).toBe(muted ? 'muted' : 'admit')
  })

  test('is kept in the user\'s words, in order', () => {
    guard.mute(' Error Handling ')
    guard.mute('文档')
    expect(guard.muted).toEqual(['Error Handling', '文档'])
  })

  test.each(['', '  ', '…', '👍'])('needs a word: %j mutes nothing', (words) => {
    expect(guard.mute(words)).toBe(false)
    expect(guard.muted).toEqual([])
    expect(judge('The tests were not run.')).toBe('admit')
  })

  test('is heard again when the user says so', () => {
    guard.mute('tests')
    guard.mute('docs')
    expect(guard.unmute()).toBe(2)
    expect(guard.muted).toEqual([])
    expect(judge('The tests were not run.')).toBe('admit')
    expect(guard.unmute()).toBe(0)
  })
})
