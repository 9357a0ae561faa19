import { beforeEach, describe, expect, test } from 'vitest'
import { Fold, type Observation } from '../../src/observe/fold.ts'
import { feed, Log } from './support/log.ts'

let fold: Fold
let log: Log
beforeEach(() => {
  fold = new Fold()
  log = new Log()
})

/** The transcript as it stands, one word an entry. */
function present(): string[] {
  return fold.present().map(entry => 'text' in entry ? entry.text : entry.kind === 'tool' ? entry.output : entry.kind)
}

/** One step with this text. */
function step(text: string): void {
  log.startTurn()
  log.startStep()
  log.user(`ask ${text}`)
  log.agent({ text })
  log.endStep()
  log.endTurn()
}

const COMPACT = { kind: 'plugin', plugin: 'compact' }

test('the transcript stands in order, and grows with the log', () => {
  step('one')
  step('two')
  feed(fold, log)
  expect(present()).toEqual(['ask one', 'one', 'ask two', 'two'])
})

describe('a compaction, as the host logs it', () => {
  const messages = (): number[] => log.events.filter(event => 'surfaceOp' in event).map(event => event.seq)

  /** Compact these messages; returns what the fold made of each event. */
  function compact(seqs: readonly number[]): (Observation | undefined)[] {
    const start = log.addOther('compaction/start', { compactionId: 'c' })
    const summary = log.addOther('compaction/summary', { compactionId: 'c', summary: 'S', shadowedSeqs: seqs })
    const message = log.message('SUMMARY', COMPACT, [...seqs])
    const end = log.addOther('compaction/end', { compactionId: 'c' })
    return [start, summary, message, end].map(event => fold.push(event))
  }

  test('is a rewrite, and leaves the summary in the place of what it shadows', () => {
    for (const text of ['one', 'two', 'three']) step(text)
    feed(fold, log)
    const observed = compact(messages().slice(0, 4))
    expect(observed).toContainEqual({ kind: 'rewritten' })
    expect(observed[2]).toEqual({ kind: 'rewritten' })
    expect(present()).toEqual(['SUMMARY', 'ask three', 'three'])
    expect(fold.present()[0]).toMatchObject({ kind: 'context', label: 'compact' })
  })

  test('leaves nothing of the stretch it shadows, not the end of a turn and not a call without a result', () => {
    log.startTurn()
    log.startStep()
    log.user('ask')
    log.call('bash', { command: 'sleep 9' })
    log.endStep()
    log.endTurn({ kind: 'aborted', reason: { kind: 'user' } })
    step('last')
    feed(fold, log)
    compact(messages())
    expect(present()).toEqual(['SUMMARY'])
  })

  test('leaves what came after it, the end of a turn and a call without a result among it', () => {
    step('one')
    log.startTurn()
    log.startStep()
    log.user('ask')
    log.call('bash', { command: 'sleep 9' })
    log.endStep()
    log.endTurn({ kind: 'aborted', reason: { kind: 'user' } })
    feed(fold, log)
    compact(messages().slice(0, 2))
    expect(fold.present().map(entry => entry.kind)).toEqual(['context', 'user', 'tool', 'end'])
  })

  test('that gives up rewrites nothing', () => {
    step('one')
    feed(fold, log)
    expect(fold.push(log.addOther('compaction/start', { compactionId: 'c' }))).toBeUndefined()
    expect(fold.push(log.addOther('compaction/end', { compactionId: 'c', error: 'no' }))).toBeUndefined()
    expect(present()).toEqual(['ask one', 'one'])
  })

  test('keeps the task and the latest words of the user', () => {
    step('one')
    step('two')
    feed(fold, log)
    compact(messages())
    expect(fold).toMatchObject({ task: 'ask one', latest: 'ask two' })
  })
})

test('a pruned tool result takes the place of the whole one', () => {
  log.startTurn()
  log.startStep()
  const { id } = log.call('read', { file_path: 'a' })
  const whole = log.result(id, 'whole')
  log.agent({ text: 'after' })
  log.endStep()
  feed(fold, log)
  const pruned = log.result(id, 'cut', { replaces: [whole.seq] })
  expect(fold.push(pruned)).toEqual({ kind: 'rewritten' })
  expect(present()).toEqual(['cut', 'after'])
})

test('an answer that takes the place of another is a rewrite too', () => {
  log.startTurn()
  log.startStep()
  log.user('ask')
  const said = log.agent({ text: 'first wording' })
  log.endStep()
  feed(fold, log)
  expect(fold.push(log.agent({ text: 'second wording' }, [said.seq]))).toEqual({ kind: 'rewritten' })
  expect(present()).toEqual(['ask', 'second wording'])
})

test('a message that replaces what is no longer known stands first', () => {
  const old = log.user('old')
  log.user('new')
  for (const event of log.events.slice(1)) fold.push(event)
  fold.push(log.message('SUMMARY', COMPACT, [old.seq]))
  expect(present()).toEqual(['SUMMARY', 'new'])
})

test('what a rewrite shows again is not in the next update as well', () => {
  step('one')
  log.startTurn()
  log.startStep()
  const asked = log.user('ask two')
  feed(fold, log)
  expect(fold.push(log.message('SUMMARY', COMPACT, log.events.slice(2, 4).map(event => event.seq)))).toEqual({ kind: 'rewritten' })
  const shown = fold.present()
  expect(shown.map(entry => entry.seq)).toContain(asked.seq)
  const from = log.events.length
  log.agent({ text: 'two' })
  log.endStep()
  const [update] = feed(fold, log, from)
  expect(update?.entries.filter(entry => shown.includes(entry))).toEqual([])
})

test('the transcript is bounded and keeps the newest', () => {
  for (let index = 0; index < 3_000; index += 1) fold.push(log.user(`m${index}`))
  expect(fold.present().length).toBeLessThanOrEqual(1_000)
  expect(fold.present().length).toBeGreaterThanOrEqual(500)
  expect(present().at(-1)).toBe('m2999')
})

test('what was handed out as the transcript does not change afterwards', () => {
  fold.push(log.user('one'))
  const before = fold.present()
  fold.push(log.user('two'))
  expect(before).toHaveLength(1)
})
