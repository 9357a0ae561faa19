import { beforeEach, describe, expect, test } from 'vitest'
import type { TurnEndReason } from '@deepseek-ai/dsh-session'
import { Fold } from '../../src/observe/fold.ts'
import { feed, Log } from './support/log.ts'

let fold: Fold
let log: Log
beforeEach(() => {
  fold = new Fold()
  log = new Log()
})

/** A turn with one answer. */
function answered(text = 'Done.', reason?: TurnEndReason): void {
  log.startTurn()
  log.startStep()
  log.user('Go.')
  log.agent({ text })
  log.endStep()
  log.endTurn(reason)
}

describe('the end of a turn', () => {
  const error = { message: 'no', code: 'SERVER' }
  test.each<[TurnEndReason]>([
    [{ kind: 'aborted', reason: { kind: 'user' } }], [{ kind: 'aborted', reason: { kind: 'hook', reason: 'x' } }], [{ kind: 'blocked' }],
    [{ kind: 'error', error }], [{ kind: 'max-tokens' }], [{ kind: 'interrupted' }],
  ])('%j is something to show, and the phase it leaves', (reason) => {
    answered('Done.', reason)
    const last = feed(fold, log).at(-1)
    expect(last).toMatchObject({ boundary: 'turn', entries: [{ kind: 'end', reason }] })
    expect(fold.phase).toEqual({ kind: 'idle', end: reason })
    expect(fold.turns).toBe(1)
  })

  test('completed is nothing to show', () => {
    answered()
    expect(feed(fold, log).at(-1)?.entries).toEqual([])
    expect(fold.phase).toEqual({ kind: 'idle', end: { kind: 'completed' } })
  })
})

describe('the phase', () => {
  /** The phase after each event. */
  function phases(): unknown[] {
    return log.events.map((event) => {
      fold.push(event)
      return fold.phase.kind === 'idle' ? fold.phase.end?.kind ?? 'new' : fold.phase.standing
    })
  }

  test('follows a turn from its start over its calls to its answer', () => {
    expect(fold.phase).toEqual({ kind: 'idle', end: undefined })
    log.startTurn()
    log.startStep()
    log.agent({ text: 'I look.', calls: ['read'] })
    log.endStep()
    log.startStep()
    log.agent({ text: 'Done.' })
    log.endStep()
    log.endTurn()
    expect(phases()).toEqual(['working', 'working', 'working', 'working', 'working', 'answered', 'answered', 'completed'])
  })

  test('an answer after which the agent takes another step no longer stands', () => {
    log.startTurn()
    log.startStep()
    log.agent({ text: 'Done.' })
    log.endStep()
    log.startStep()
    log.user('Wait, one thing more.')
    expect(phases().slice(-2)).toEqual(['working', 'working'])
  })

  test('a step that is cut off after an answer is not an answer', () => {
    log.startTurn()
    log.startStep()
    log.agent({ text: 'Done.' })
    log.endStep()
    log.startStep()
    log.user('One thing more.')
    log.endStep()
    expect(feed(fold, log).map(update => update.final)).toEqual([true, false])
  })

  test('the next turn starts with nothing answered', () => {
    answered()
    log.startTurn()
    feed(fold, log)
    expect(fold.phase).toEqual({ kind: 'turn', standing: 'working' })
    expect(fold.answer).toBe('Done.')
  })

  test('an agent that is idle in an open turn was stopped: the host may log no end', () => {
    log.startTurn()
    feed(fold, log)
    fold.abandonTurn()
    expect(fold.phase).toEqual({ kind: 'idle', end: { kind: 'aborted', reason: { kind: 'user' } } })
  })

  test('what was under way in a turn that was given up is not shown with the next one', () => {
    log.startTurn()
    log.startStep()
    log.call('bash', { command: 'sleep 9' })
    feed(fold, log)
    fold.abandonTurn()
    const from = log.events.length
    answered('New.')
    expect(feed(fold, log, from)[0]?.entries.map(entry => entry.kind)).toEqual(['user', 'agent'])
  })

  test('giving up a turn that has ended, or none, changes nothing', () => {
    fold.abandonTurn()
    expect(fold.phase).toEqual({ kind: 'idle', end: undefined })
    answered()
    feed(fold, log)
    fold.abandonTurn()
    expect(fold.phase).toEqual({ kind: 'idle', end: { kind: 'completed' } })
  })
})

describe('a run that was stopped', () => {
  /** Whether the fold says so behind each event of the log. */
  function stopped(): boolean[] {
    return log.events.map((event) => {
      fold.push(event)
      return fold.stopped
    })
  }

  test.each<[TurnEndReason, boolean]>([
    [{ kind: 'aborted', reason: { kind: 'user' } }, true], [{ kind: 'aborted', reason: { kind: 'parent' } }, true],
    [{ kind: 'aborted', reason: { kind: 'hook', reason: 'x' } }, false], [{ kind: 'completed' }, false], [{ kind: 'max-tokens' }, false],
  ])('%j: %s', (reason, expected) => {
    answered('Done.', reason)
    expect(stopped().at(-1)).toBe(expected)
  })

  test('stays stopped until the user speaks, whatever else happens', () => {
    answered('Done.', { kind: 'aborted', reason: { kind: 'user' } })
    const end = log.events.length
    log.message('notice', { kind: 'plugin', plugin: 'jobs' })
    log.user('<bash-stdout>x</bash-stdout>')
    log.startTurn()
    log.message('go on', { kind: 'goal' })
    log.endTurn()
    log.user('Go on.')
    expect(stopped().slice(end - 1)).toEqual([true, true, true, true, true, true, false])
  })

  test('includes one that the host never ended', () => {
    log.startTurn()
    feed(fold, log)
    fold.abandonTurn()
    expect(fold.stopped).toBe(true)
    fold.push(log.user('Go on.'))
    expect(fold.stopped).toBe(false)
  })
})

describe('the past of a session', () => {
  test('is taken over without an update of it', () => {
    answered('Old.')
    fold.prime(log.events)
    expect(fold).toMatchObject({ task: 'Go.', latest: 'Go.', answer: 'Old.', updates: 0, turns: 0, phase: { end: { kind: 'completed' } } })
    expect(fold.position).toEqual({ turn: 1, step: 1 })
    expect(fold.present()).toHaveLength(2)
    const from = log.events.length
    answered('New.')
    const [first] = feed(fold, log, from)
    expect(first).toMatchObject({ number: 1, turn: 2, entries: [{ kind: 'user' }, { kind: 'agent', text: 'New.' }] })
  })

  test('may end in the middle of a step: the first update is the rest of it', () => {
    log.startTurn()
    log.startStep()
    log.user('Go.')
    const { id } = log.call('read', { file_path: 'a' })
    fold.prime(log.events)
    const from = log.events.length
    log.result(id, 'content')
    log.endStep()
    expect(feed(fold, log, from)).toMatchObject([{ number: 1, entries: [{ kind: 'tool', name: 'read', output: 'content' }] }])
  })

  test('is shown event by event to whoever takes over from it, with the position as it was then', () => {
    answered('One.')
    answered('Two.')
    const seen: unknown[] = []
    fold.prime(log.events, event => seen.push([event.type, fold.position.turn]))
    expect(seen).toEqual(log.events.map((event, index) => [event.type, index < 6 ? 1 : 2]))
  })

  test('may be nothing at all', () => {
    fold.prime([])
    expect(fold).toMatchObject({ task: undefined, updates: 0, phase: { kind: 'idle', end: undefined } })
  })
})
