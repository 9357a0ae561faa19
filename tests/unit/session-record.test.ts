import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Entry } from '../../src/observe/entry.ts'
import type { Budget, BudgetVerdict } from '../../src/record/budget.ts'
import { DayBook } from '../../src/record/day-book.ts'
import { recordFolder, SessionRecord, type RecordedNote } from '../../src/record/session-record.ts'
import { billOf, notesIn, tokensIn } from '../../src/record/totals.ts'
import { HandClock, turns } from './support/clock.ts'
import { testFolder } from './support/folder.ts'
import { MODEL, review } from './support/records.ts'

let home: string
let clock: HandClock
let day: DayBook
let trouble: string[]
beforeEach(() => {
  home = testFolder()
  clock = new HandClock()
  trouble = []
  day = new DayBook({ folder: join(home, 'advisor'), clock, onTrouble: line => trouble.push(line) })
})

const open = (name = 's', parent?: SessionRecord, after?: Promise<void>): SessionRecord => new SessionRecord({
  folder: join(home, name, 'advisor'), clock, day, parent, after,
  prices: () => ({ [MODEL]: { input: 1_000, output: 0, currency: 'USD' } }), onTrouble: line => trouble.push(line),
})

/** One review of one call of so many tokens, at a tenth of a cent each. */
function work(record: SessionRecord, tokens: number, slug = ''): void {
  const account = record.account(slug)
  account.count('calls')
  account.count('reviews')
  account.charge(MODEL, { inputTokens: tokens, outputTokens: 0 })
  record.review(slug, review())
}

const tokens = (record: SessionRecord): number => tokensIn(billOf(record.spent()).tokens)
const lines = (name: string, file = '__advisor.jsonl'): Record<string, unknown>[] => (
  readFileSync(join(home, name, 'advisor', file), 'utf8').trimEnd().split('\n').map(line => JSON.parse(line) as Record<string, unknown>)
)
const NOTE: RecordedNote = { id: 1, severity: 'concern', text: '`src/a.ts` is empty' }
const step = (path: string): Entry[] => [
  { kind: 'tool', seq: 0, name: 'edit', args: JSON.stringify({ path }), result: '', isError: false, diffs: [] } as unknown as Entry,
]

describe('a session that is opened again', () => {
  test('has the sums of the time before, each advisor its own', async () => {
    const first = open()
    work(first, 10, 'a')
    work(first, 20, 'b')
    await first.dispose()
    const second = open()
    work(second, 5, 'a')
    second.account('b')
    await second.restored()
    expect(['a', 'b'].map(slug => tokensIn(billOf(second.ledger.whole(slug)).tokens))).toEqual([15, 20])
    expect(tokens(second)).toBe(35)
  })

  test('waits for what is still being written of it', async () => {
    const first = open()
    work(first, 10)
    const { promise: written, resolve } = Promise.withResolvers<void>()
    const second = open('s', undefined, written)
    second.account('')
    await first.dispose()
    work(first, 1)
    resolve()
    await second.restored()
    expect(tokens(second)).toBe(10)
  })

  test('has them also when whoever kept it before could not end', async () => {
    const first = open()
    work(first, 10)
    await first.dispose()
    const second = open('s', undefined, Promise.reject(new Error('stuck')))
    second.account('')
    await second.restored()
    expect(tokens(second)).toBe(10)
  })

  test('does not have those of another session', async () => {
    const first = open()
    work(first, 10)
    await first.dispose()
    const fork = open('fork')
    fork.account('')
    await fork.restored()
    expect(tokens(fork)).toBe(0)
  })
})

test('what another process did meanwhile on the same session is counted in when it is asked for', async () => {
  const [one, other] = [open(), open()]
  for (const record of [one, other]) record.account('')
  await one.restored()
  work(other, 30)
  await other.dispose()
  work(one, 1)
  expect(tokens(one)).toBe(1)
  await one.reread()
  await one.reread()
  expect(tokens(one)).toBe(31)
})

describe('subagents', () => {
  test('are counted with the session they work for, once, and theirs as well', async () => {
    const main = open()
    const child = open('child', main)
    const grandchild = open('grandchild', child)
    work(main, 100)
    work(child, 10)
    work(grandchild, 1)
    expect([main, child, grandchild].map(tokens)).toEqual([111, 11, 1])
    expect(tokensIn(billOf(main.ledger.whole()).tokens)).toBe(100)
    expect(main.bySubagents().counts.reviews).toBe(2)
    expect((await day.today()).counts.reviews).toBe(3)
  })

  test('that are closed, and opened again, are counted as before', async () => {
    const main = open()
    main.account('')
    for (const run of [1, 2]) {
      const child = open('child', main)
      work(child, 10 * run)
      await child.restored()
      await child.dispose()
      expect(tokens(main)).toBe(run === 1 ? 10 : 30)
    }
  })

  test('are still counted when the session is resumed without them', async () => {
    const main = open()
    work(main, 100)
    work(open('child', main), 10)
    await main.dispose()
    expect(lines('s', '__subagents.jsonl')).toMatchObject([{ kind: 'subagent', totals: { counts: { reviews: 1 } } }])
    const resumed = open()
    resumed.account('')
    await resumed.restored()
    expect(tokens(resumed)).toBe(110)
    expect(resumed.bySubagents().counts.reviews).toBe(1)
  })

  test('that are gone leave nothing but their sums in memory', async () => {
    const main = open()
    const gone = await Promise.all(Array.from({ length: 50 }, async (_, index) => {
      const child = open(`child-${index}`, main)
      work(child, 1)
      await child.restored()
      await child.dispose()
      return new WeakRef(child)
    }))
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    await turns()
    collect()
    // The engine may still hold one that it has just worked with.
    expect(gone.filter(child => child.deref() !== undefined).length).toBeLessThan(5)
    expect(tokens(main)).toBe(50)
  })

  test('write nothing in the session they work for when there are none', async () => {
    const main = open()
    work(main, 1)
    await main.dispose()
    expect(readdirSync(join(home, 's', 'advisor'))).toEqual(['__advisor.jsonl'])
  })
})

describe('a budget', () => {
  const may = (record: SessionRecord, budget: Budget = { tokens: 1_000 }, next = 10): BudgetVerdict => record.mayCall(budget, MODEL, next)

  test('is drawn from by all', () => {
    const main = open()
    const child = open('child', main)
    work(main, 400)
    expect(may(child).kind).toBe('fine')
    work(child, 400)
    expect([may(main), may(child)]).toEqual([
      { kind: 'exhausted', reason: '800 of 1,000 tokens of its budget are spent, and the next call may take 310', news: true },
      { kind: 'exhausted', reason: '800 of 1,000 tokens of its budget are spent, and the next call may take 310' },
    ])
  })

  test('may be granted once more when it is spent, for all, by whoever is asked, and not before', () => {
    const main = open()
    const child = open('child', main)
    main.grant()
    work(main, 1_000)
    expect([may(main).kind, may(child).kind]).toEqual(['exhausted', 'exhausted'])
    child.grant()
    main.grant()
    work(child, 600)
    expect([may(main).kind, may(child).kind]).toEqual(['fine', 'fine'])
    work(main, 400)
    expect([may(main).kind, may(child).kind]).toEqual(['exhausted', 'exhausted'])
  })

  test('of money is held against the price of the next call', () => {
    const record = open()
    work(record, 900)
    expect(may(record, { cost: 1 }, 90).kind).toBe('fine')
    expect(may(record, { cost: 1 }, 110)).toMatchObject({ reason: '0.9 of 1 USD of its budget are spent, and the next call may take 0.11' })
    expect(record.mayCall({ cost: 1 }, 'x/y', 1)).toMatchObject({ kind: 'fine', unchecked: expect.stringContaining('`prices`') as string })
  })

  test('is held against what earlier runs spent', async () => {
    const first = open()
    work(first, 990)
    await first.dispose()
    const second = open()
    second.account('')
    await second.restored()
    expect(may(second).kind).toBe('exhausted')
  })

  test('in words is that of the session, subagents included', () => {
    const main = open()
    const child = open('child', main)
    work(child, 250)
    expect([main, child].map(record => record.budgetText({ tokens: 1_000 }))).toEqual(['250 of 1,000 tokens spent', '250 of 1,000 tokens spent'])
    expect(main.budgetText({})).toBeUndefined()
  })
})

describe('what became of a note', () => {
  const outcome = (record: SessionRecord) => record.ledger.whole('a').outcomes.concern

  test('that was read and acted on is written down, for each of its advisors', async () => {
    const record = open()
    record.noted(NOTE, ['a', 'b'])
    record.settled(NOTE, ['a', 'b'], 'delivered at step 1.2', true)
    record.observe(step('src/b.ts'), false)
    await turns()
    expect(outcome(record)).toMatchObject({ notes: 1, touched: 0, ignored: 0 })
    record.observe(step('src/a.ts'), false)
    record.observe(step('src/a.ts'), false)
    await turns()
    expect(outcome(record)).toMatchObject({ notes: 1, touched: 1, ignored: 0 })
    await record.dispose()
    for (const file of ['__advisor.a.jsonl', '__advisor.b.jsonl']) {
      expect(lines('s', file)).toMatchObject([{ kind: 'fate', note: 1, fate: 'delivered at step 1.2' }, { kind: 'verdict', note: 1, verdict: 'touched' }])
    }
  })

  test('is looked at once the agent has gone on, or when the record is closed', async () => {
    const record = open()
    record.noted(NOTE, ['a'])
    record.settled(NOTE, ['a'], 'delivered', true)
    record.observe(step('src/a.ts'), false)
    expect(outcome(record)).toMatchObject({ touched: 0 })
    await record.dispose()
    expect(outcome(record)).toMatchObject({ touched: 1 })
    expect(lines('s', '__advisor.a.jsonl').at(-1)).toMatchObject({ kind: 'verdict', verdict: 'touched' })
  })

  test('is not seen in a step that the agent had done before it read it', async () => {
    const record = open()
    record.settled({ ...NOTE, id: 2, text: '`zeta.ts` is empty' }, ['a'], 'delivered', true)
    record.observe(step('src/a.ts'), false)
    record.noted(NOTE, ['a'])
    record.settled(NOTE, ['a'], 'delivered', true)
    await turns()
    expect(outcome(record)).toMatchObject({ touched: 0 })
  })

  test('that was not read is not followed', async () => {
    const record = open()
    record.noted(NOTE, ['a'])
    record.settled(NOTE, ['a'], 'kept', false)
    record.observe(step('src/a.ts'), false)
    await turns()
    expect(outcome(record)).toMatchObject({ notes: 1, touched: 0 })
  })

  test('is ignored when the turn ends without a look at it', async () => {
    const record = open()
    record.noted(NOTE, ['a'])
    record.settled(NOTE, ['a'], 'delivered', true)
    record.observe(step('src/b.ts'), false)
    record.observe([], true)
    await turns()
    expect(outcome(record)).toMatchObject({ touched: 0, ignored: 1 })
  })

  test('in the eyes of the user may change, and counts once', async () => {
    const record = open()
    record.noted(NOTE, ['a'])
    for (const verdict of ['good', 'good', 'bad', 'good', 'bad'] as const) record.judged(NOTE, ['a'], verdict)
    expect(outcome(record)).toMatchObject({ good: 0, bad: 1 })
    await record.dispose()
    const resumed = open()
    resumed.account('a')
    await resumed.restored()
    expect(outcome(resumed)).toMatchObject({ notes: 1, good: 0, bad: 1 })
    expect(notesIn(resumed.spent())).toBe(1)
  })
})

test('a journal is the user\'s alone, and there is none before something is to be said', async () => {
  const record = open()
  record.account('')
  await record.restored()
  expect(existsSync(join(home, 's'))).toBe(false)
  work(record, 1)
  await record.dispose()
  const folder = join(home, 's', 'advisor')
  expect([folder, join(folder, '__advisor.jsonl')].map(path => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
})

describe('the folder of a journal', () => {
  test.each<[string | undefined, string, RegExp]>([
    ['/home/sessions/p/s1/events.jsonl', 's1', /^\/home\/sessions\/p\/s1\/advisor$/],
    [undefined, 's1', /^\/dsh\/advisor\/s1$/],
    [undefined, '../../etc/passwd', /^\/dsh\/advisor\/__\.\._etc_passwd-[0-9a-f]{8}$/],
    [undefined, '..', /^\/dsh\/advisor\/_-[0-9a-f]{8}$/],
    [undefined, 'x'.repeat(1_000), /^\/dsh\/advisor\/x{100}-[0-9a-f]{8}$/],
  ])('of a log at %s with id %s is %s', (log, id, folder) => {
    expect(recordFolder(log, '/dsh', id)).toMatch(folder)
  })

  test('is another one for each id', () => {
    expect(recordFolder(undefined, '/dsh', '会话 1')).not.toBe(recordFolder(undefined, '/dsh', '会议 1'))
  })
})
