import { beforeEach, describe, expect, test } from 'vitest'
import { Fold, type Update } from '../../src/observe/fold.ts'
import { feed, Log } from './support/log.ts'

let fold: Fold
let log: Log
beforeEach(() => {
  fold = new Fold()
  log = new Log()
})

/** What an update holds, shortened. */
function kinds(update: Update | undefined): string[] | undefined {
  return update?.entries.map((entry) => {
    if (entry.kind === 'tool') return `tool: ${entry.name}`
    return 'text' in entry ? `${entry.kind}: ${entry.text}` : entry.kind
  })
}

/** A turn in the order in which a headless host logs it: one tool call, then the answer. */
function realTurn(prompt = 'Fix it.'): void {
  log.addOther('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [] })
  log.startTurn()
  log.addOther('agent/inbox/spliced', { target: 'next-turn', start: 0, removedCount: 1, inserted: [] })
  log.startStep()
  log.user(prompt)
  log.message('cwd and time', { kind: 'plugin', plugin: 'runtime-context', form: 'snapshot', sections: [] })
  log.addOther('session/title', { title: 'Fix', messageSeqs: [], source: { kind: 'fallback' } })
  log.addOther('request/header', { header: { config: {} }, reason: 'initial' })
  log.addOther('request/context', { provider: 'mock', model: 'primary' })
  log.chunk('I look.')
  log.agent({ text: 'I look.', calls: ['read'] })
  log.tool('read', { file_path: 'a.txt' }, 'content')
  log.endStep()
  log.startStep()
  log.chunk('Done.')
  log.agent({ text: 'Done.' })
  log.endStep()
  log.endTurn()
}

describe('one turn', () => {
  test('is cut at every step end, and what the turn end adds is nothing new', () => {
    realTurn()
    const updates = feed(fold, log)
    expect(kinds(updates[0])).toEqual(['user: Fix it.', 'agent: I look.', 'tool: read'])
    expect(kinds(updates[1])).toEqual(['agent: Done.'])
    expect(updates.slice(2).flatMap(update => update.entries)).toEqual([])
    expect(updates.map(({ turn, step, boundary, final }) => ({ turn, step, boundary, final })).slice(0, 2)).toEqual([
      { turn: 1, step: 1, boundary: 'step', final: false },
      { turn: 1, step: 2, boundary: 'step', final: true },
    ])
    expect(updates.at(-1)?.boundary).toBe('turn')
  })

  test('numbers updates from 1 by what happened: a turn that closes with nothing new is no further one', () => {
    realTurn()
    realTurn()
    const updates = feed(fold, log)
    expect(updates.map(({ number, boundary }) => [number, boundary])).toEqual([
      [1, 'step'], [2, 'step'], [2, 'turn'], [3, 'step'], [4, 'step'], [4, 'turn'],
    ])
    expect(updates.filter(update => update.entries.length > 0).map(({ turn, step }) => [turn, step])).toEqual([[1, 1], [1, 2], [2, 1], [2, 2]])
    expect(fold).toMatchObject({ updates: 4, turns: 2, position: { turn: 2, step: 2 } })
  })

  test('keeps the whole of a call and its result', () => {
    log.startTurn()
    log.startStep()
    const diffs = [{ path: 'a.txt', oldText: 'a', newText: 'b' }]
    log.tool('edit', { file_path: 'a.txt' }, 'edited', { meta: { diffs } })
    log.tool('bash', '{"command":"false"}', 'exit 1', { isError: true })
    log.endStep()
    expect(feed(fold, log)[0]?.entries).toMatchObject([
      { kind: 'tool', name: 'edit', args: '{"file_path":"a.txt"}', outcome: 'ok', output: 'edited', diffs },
      { kind: 'tool', name: 'bash', args: '{"command":"false"}', outcome: 'error', output: 'exit 1', diffs: [] },
    ])
  })

  test('pairs parallel calls with their own results, in the order of the results', () => {
    log.startTurn()
    log.startStep()
    const [one, two] = [log.call('read', { file_path: '1' }), log.call('read', { file_path: '2' })]
    log.result(two.id, 'second')
    log.result(one.id, 'first')
    log.endStep()
    expect(feed(fold, log)[0]?.entries).toMatchObject([
      { args: '{"file_path":"2"}', output: 'second' }, { args: '{"file_path":"1"}', output: 'first' },
    ])
  })

  test('shows a call that never came back, once', () => {
    log.startTurn()
    log.startStep()
    log.call('bash', { command: 'sleep 9' })
    log.endStep()
    log.startStep()
    log.agent({ text: 'On.' })
    log.endStep()
    const [first, second] = feed(fold, log)
    expect(first?.entries).toMatchObject([{ kind: 'tool', name: 'bash', outcome: 'pending', output: '' }])
    expect(kinds(second)).toEqual(['agent: On.'])
  })

  test('knows whether a step changed something', () => {
    for (const names of [['read'], ['read', 'edit'], ['grep', 'glob'], ['bash']]) {
      log.startTurn()
      log.startStep()
      for (const name of names) log.tool(name, {}, 'out')
      log.endStep()
    }
    expect(feed(fold, log).map(update => update.mutated)).toEqual([false, true, false, true])
  })

  test('is final only when the model answered without a call and was not cut off', () => {
    for (const said of [{ text: 'a' }, { text: 'b', calls: ['read'] }, { text: 'c', interrupted: true }, { reasoning: 'hm' }]) {
      log.startTurn()
      log.startStep()
      log.agent(said)
      log.endStep()
    }
    expect(feed(fold, log).map(update => update.final)).toEqual([true, false, false, true])
    expect(fold.answer).toBe('a')
  })
})

describe('what is not for the reviewer', () => {
  test('chunks change nothing, however many there are', () => {
    realTurn()
    const plain = new Fold()
    const expected = feed(plain, log)
    const noisy = new Log()
    for (const event of log.events) {
      noisy.add(event.type, event.data as never, event)
      for (let count = 0; count < 50; count += 1) noisy.chunk('x')
    }
    const updates = feed(fold, noisy)
    expect(updates.map(kinds)).toEqual(expected.map(kinds))
    expect(fold.present().length).toBe(plain.present().length)
  })

  test('advice never enters, not as an update and not as the transcript', () => {
    log.startTurn()
    log.startStep()
    log.user('Go.')
    log.message('<advisory severity="nit">…</advisory>', { kind: 'advisor', form: 'notice', summary: 's', severity: 'nit' })
    log.agent({ text: 'Fine.' })
    log.endStep()
    expect(kinds(feed(fold, log)[0])).toEqual(['user: Go.', 'agent: Fine.'])
    expect(JSON.stringify(fold.present())).not.toContain('advisory')
    expect(fold.latest).toBe('Go.')
  })

  test.each(['step/unknown', 'todo/write', 'llm/retry', 'command/run', 'agent/inbox/spliced', 'session/end-seed'])(
    '%s is passed over', (type) => {
      expect(fold.push(log.addOther(type, {}))).toBeUndefined()
      expect(fold.present()).toEqual([])
    })
})

describe('who speaks', () => {
  test.each([
    ['the user', { kind: 'user' }, 'hi', { kind: 'user', text: 'hi' }],
    ['the user\'s own command', { kind: 'user' }, '<bash-input>ls</bash-input>', { kind: 'user-command' }],
    ['its output', { kind: 'user' }, '  <bash-stdout>a.txt</bash-stdout>', { kind: 'user-command' }],
    ['its errors', { kind: 'user' }, '<bash-stderr>no</bash-stderr>', { kind: 'user-command' }],
    ['the user about such a command', { kind: 'user' }, 'Why does <bash-input> appear?', { kind: 'user' }],
    ['a plugin', { kind: 'plugin', plugin: 'skill' }, 'body', { kind: 'context', label: 'skill', text: 'body' }],
    [
      'a plugin with a summary', { kind: 'plugin', plugin: 'jobs', form: 'notice', summary: 'job 1 ended' }, 'long',
      { kind: 'context', label: 'jobs', text: 'job 1 ended' },
    ],
    ['a goal', { kind: 'goal', goalId: 'g', revision: 1, round: 1 }, 'on', { kind: 'context', label: 'goal', text: 'on' }],
  ])('%s', (_name, source, text, expected) => {
    fold.push(log.message(text, source))
    expect(fold.present()).toMatchObject([expected])
  })

  test('the task is the user\'s first request and the latest is their last message; nobody else sets them', () => {
    log.message('instructions', { kind: 'agent-instructions' })
    log.user('First.')
    log.user('<bash-stdout>x</bash-stdout>')
    log.message('notice', { kind: 'plugin', plugin: 'jobs' })
    log.user('Second.')
    log.message('on', { kind: 'goal' })
    feed(fold, log)
    expect(fold).toMatchObject({ task: 'First.', latest: 'Second.' })
  })
})

test('a turn that pursues a goal is known as one until the next turn', () => {
  const seen: boolean[] = []
  expect(fold.goalRound).toBe(false)
  log.startTurn()
  log.message('go on', { kind: 'goal' })
  log.endTurn()
  log.startTurn()
  for (const event of log.events) {
    fold.push(event)
    seen.push(fold.goalRound)
  }
  expect(seen).toEqual([false, true, true, false])
})

test('plan mode is what the last event said', () => {
  for (const active of [true, false, true]) {
    fold.push(log.addOther('plan/mode', { active }))
    expect(fold.planMode).toBe(active)
  }
})
