/** The project's rules as the agent was shown them, folded from the session. */
import { beforeEach, describe, expect, test } from 'vitest'
import { Fold } from '../../src/observe/fold.ts'
import { feed, Log } from './support/log.ts'

let fold: Fold
let log: Log
beforeEach(() => {
  fold = new Fold()
  log = new Log()
})

const baseline = (text: string) => log.message(text, { kind: 'agent-instructions', form: 'instructions', baseline: true })
const nested = (text: string) => log.message(text, { kind: 'agent-instructions', form: 'instructions' })

test('there are none in the beginning, nor from anybody else', () => {
  log.user('# AGENTS.md\nUse npm.')
  log.message('# AGENTS.md\nUse npm.', { kind: 'plugin', plugin: 'skill', form: 'instructions' })
  feed(fold, log)
  expect(fold.instructions).toEqual([])
})

test('the chain is kept as it was shown, and what nested files add stands behind it', () => {
  baseline('Use pnpm.')
  nested('Prices are in cents.')
  nested('No default exports.')
  feed(fold, log)
  expect(fold.instructions).toEqual(['Use pnpm.', 'Prices are in cents.', 'No default exports.'])
})

test('a new baseline takes the place of everything before it', () => {
  baseline('Use pnpm.')
  nested('Prices are in cents.')
  baseline('Use npm.')
  feed(fold, log)
  expect(fold.instructions).toEqual(['Use npm.'])
})

test('they are no words of the user', () => {
  baseline('Use pnpm.')
  feed(fold, log)
  expect(fold.task).toBeUndefined()
  expect(fold.latest).toBeUndefined()
  log.user('Fix a.')
  feed(fold, log, 1)
  expect(fold.task).toBe('Fix a.')
})

test('they are shown as context, once, like everything else that happened', () => {
  log.startTurn()
  log.startStep()
  baseline('Use pnpm.')
  log.agent({ text: 'I look.' })
  log.endStep()
  const [update] = feed(fold, log)
  expect(update!.entries).toMatchObject([{ kind: 'context', label: 'agent-instructions', text: 'Use pnpm.' }, { kind: 'agent' }])
})

describe('they are still known', () => {
  test('after a compaction that took the message itself', () => {
    const { seq } = baseline('Use pnpm.')
    log.message('SUMMARY', { kind: 'compact' }, [seq])
    feed(fold, log)
    expect(fold.instructions).toEqual(['Use pnpm.'])
    expect(fold.present()).toMatchObject([{ text: 'SUMMARY' }])
  })

  test('in a session whose past is taken over', () => {
    baseline('Use pnpm.')
    log.user('Fix a.')
    fold.prime(log.events)
    expect(fold.instructions).toEqual(['Use pnpm.'])
  })
})

test('a message that is no message is no rule and no end of the fold', () => {
  log.add('user/message', { role: 'user', content: null, source: { kind: 'agent-instructions' } } as never, { surfaceOp: 'append' })
  nested('Use pnpm.')
  feed(fold, log)
  expect(fold.instructions).toEqual(['Use pnpm.'])
})

test('what is shown a second time stands once, as the newest', () => {
  for (const text of ['Use pnpm.', 'Prices are in cents.', 'No default exports.', 'Prices are in cents.']) nested(text)
  feed(fold, log)
  expect(fold.instructions).toEqual(['Use pnpm.', 'No default exports.', 'Prices are in cents.'])
})

test('they are bounded: the baseline and the newest of the nested files are kept', () => {
  baseline('Use pnpm.')
  for (let index = 0; index < 5_000; index += 1) nested(`rule ${index}`)
  feed(fold, log)
  expect(fold.instructions).toHaveLength(20)
  expect(fold.instructions[0]).toBe('Use pnpm.')
  expect(fold.instructions[1]).toBe('rule 4981')
  expect(fold.instructions.at(-1)).toBe('rule 4999')
})
