import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { openToAppend } from '../../src/record/append-file.ts'
import { Journal, journalName, type JournalRecord } from '../../src/record/journal.ts'
import { RETRY_MS } from '../../src/record/lines.ts'
import { readTotals } from '../../src/record/read-totals.ts'
import { emptyTotals, type Totals } from '../../src/record/totals.ts'
import { HandClock } from './support/clock.ts'
import { testFolder } from './support/folder.ts'
import { after, review } from './support/records.ts'

let session: string
let folder: string
let clock: HandClock
let totals: Totals
let trouble: string[]
beforeEach(() => {
  session = testFolder()
  folder = join(session, 'advisor')
  clock = new HandClock()
  totals = emptyTotals()
  trouble = []
})

const create = (slug = ''): Journal => new Journal({ folder, slug, clock, totals: () => totals, onTrouble: line => trouble.push(line) })
const text = (): string => readFileSync(join(folder, '__advisor.jsonl'), 'utf8')
const records = (): Record<string, unknown>[] => text().trimEnd().split('\n').map(line => JSON.parse(line) as Record<string, unknown>)
const write = async (...all: JournalRecord[]): Promise<void> => {
  const journal = create()
  for (const record of all) journal.append(record)
  await journal.flush()
}

describe('a record', () => {
  test('is one line with all that was said, and with what the run had done by then', async () => {
    totals = after(1)
    await clock.advance(5_000)
    const journal = create()
    journal.append(review({
      shown: ['**user:** go\n', '**agent:** done'], end: 'advice',
      replies: [{ text: '', calls: [{ name: 'read', arguments: '{"path":"a"}', answer: 'b', failed: false }] }],
      notes: [{ id: 1, severity: 'blocker', text: 'no', evidence: { quote: 'b', path: 'a' } }],
    }))
    await journal.dispose()
    expect(text()).toMatch(/^[^\n]+\n$/)
    expect(records()).toEqual([{
      v: 1, run: journal.run, at: 5_000, totals: JSON.parse(JSON.stringify(after(1))) as Totals, kind: 'review', updates: [1, 1],
      shown: ['**user:** go\n', '**agent:** done'], end: 'advice', model: 'p/m', ms: 1200, cost: { amount: 0.25, currency: 'USD' },
      replies: [{ text: '', calls: [{ name: 'read', arguments: '{"path":"a"}', answer: 'b', failed: false }] }],
      notes: [{ id: 1, severity: 'blocker', text: 'no', evidence: { quote: 'b', path: 'a' } }],
      usage: { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    }])
  })

  test('says that it does not know what nobody told', async () => {
    await write(review({ usage: undefined, cost: undefined, end: 'failed', failure: { code: 'SERVER', message: 'no' } }))
    expect(records()[0]).toMatchObject({ usage: 'unknown', cost: 'unknown', end: 'failed', failure: { code: 'SERVER', message: 'no' } })
  })

  test('of a note\'s fate and of a verdict follows the review', async () => {
    await write(review(), { kind: 'fate', note: 1, fate: 'delivered at step 1.2' }, { kind: 'verdict', note: 1, verdict: 'good' })
    expect(records().map(({ kind, note, fate, verdict }) => [kind, note, fate, verdict])).toEqual([
      ['review', undefined, undefined, undefined], ['fate', 1, 'delivered at step 1.2', undefined], ['verdict', 1, undefined, 'good'],
    ])
  })

  test('that is tried again does not write what it showed a second time, also when more was shown with it', async () => {
    const failed = review({ end: 'failed', shown: ['a', 'b'] })
    await write(failed, failed, review({ updates: [1, 2], shown: ['a', 'b', 'c'] }), review({ updates: [3, 3], shown: ['d', 'b'] }))
    expect(records().map(({ again, shown, end }) => [again, shown, end])).toEqual([
      [undefined, ['a', 'b'], 'failed'], [2, [], 'failed'], [2, ['c'], 'silent'], [undefined, ['d', 'b'], 'silent'],
    ])
  })

  test('that is too long for a line keeps its beginning, its end and its figures', async () => {
    await write(review({ shown: [`first${'x'.repeat(3_000_000)}last`] }))
    const [record] = records() as [{ shown: string[], usage: object }]
    expect(record.shown[0]).toMatch(/^firstx+\n\[… 2996009 characters left out …\]\nx+last$/)
    expect(record.usage).toMatchObject({ input: 10 })
    rmSync(folder, { recursive: true })
    await write(review({ shown: Array.from({ length: 1_000 }, () => 'x'.repeat(5_000)), notes: [{ id: 1, severity: 'nit', text: 'n' }] }))
    expect(records()).toMatchObject([{ shown: 'left out: too long', replies: [], notes: [{ id: 1 }] }])
  })

  test('is not rendered before the caller has gone on', async () => {
    const journal = create()
    let rendered = false
    journal.append({ kind: 'fate', note: 1, fate: 'x', get late() { return rendered = true } } as JournalRecord)
    await Promise.resolve()
    expect(rendered).toBe(false)
    await journal.flush()
    expect(rendered).toBe(true)
  })

  test('that cannot be rendered is left out, and the others are not', async () => {
    const round: { kind: 'fate', note: number, fate: string, self?: unknown } = { kind: 'fate', note: 1, fate: 'x' }
    round.self = round
    await write(review(), round, review({ updates: [2, 2] }))
    expect(records().map(({ kind }) => kind)).toEqual(['review', 'review'])
    expect(trouble).toEqual([expect.stringContaining('a line of __advisor.jsonl is left out: ') as string])
  })
})

describe('the end of a journal', () => {
  test('has what was spent since the last review', async () => {
    totals = after(1)
    const journal = create()
    journal.append(review())
    await journal.flush()
    totals = after(2)
    await journal.dispose()
    await journal.dispose()
    expect(records().map(({ kind }) => kind)).toEqual(['review', 'end'])
    expect((await readTotals(journal.path)).totals).toEqual(after(2))
  })

  test('writes nothing when nothing was done, and takes nothing more', async () => {
    const journal = create()
    await journal.dispose()
    journal.append(review())
    await journal.flush()
    expect(existsSync(folder)).toBe(false)
  })
})

describe('the file', () => {
  test('and its folder are the user\'s alone', async () => {
    await write(review())
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, '__advisor.jsonl')).mode & 0o777).toBe(0o600)
  })

  test.each([
    ['', '__advisor.jsonl'], ['security', '__advisor.security.jsonl'], ['../../x', '__advisor.-x.jsonl'], ['安全', '__advisor.安全.jsonl'],
  ])('of the advisor %j is %s', async (slug, name) => {
    expect(journalName(slug)).toBe(name)
    const journal = create(slug)
    journal.append(review())
    await journal.flush()
    expect(readdirSync(folder)).toEqual([name])
  })

  test('keeps what was there, and a torn last line is ended first', async () => {
    mkdirSync(folder)
    writeFileSync(join(folder, '__advisor.jsonl'), '{"whole":1}\n{"torn":"ab')
    await write(review())
    const lines = text().split('\n')
    expect(lines.slice(0, 2)).toEqual(['{"whole":1}', '{"torn":"ab'])
    expect(lines.slice(2).map(line => line.slice(0, 6))).toEqual(['{"v":1', ''])
  })

  test('gets no newline of its own when it ends in one', async () => {
    await write(review())
    await write(review())
    expect(text().split('\n')).toHaveLength(3)
  })

  test('and its folder are made again when they were removed', async () => {
    const journal = create()
    journal.append(review())
    await journal.flush()
    rmSync(session, { recursive: true })
    journal.append(review({ updates: [2, 2] }))
    await journal.flush()
    expect(records()).toMatchObject([{ updates: [2, 2] }])
    expect(trouble).toEqual([])
  })

  test('that is removed between a write and its end is written again', async () => {
    let opened = 0
    const journal = new Journal({
      folder, slug: '', clock, totals: () => totals, onTrouble: line => trouble.push(line),
      open: async (at, name) => {
        const target = await openToAppend(at, name)
        opened += 1
        if (opened === 1) return { ...target, isGone: () => { rmSync(session, { recursive: true }); return target.isGone() } }
        return target
      },
    })
    journal.append(review())
    journal.append({ kind: 'fate', note: 1, fate: 'x' })
    await journal.flush()
    expect(records().map(({ kind, shown }) => [kind, shown])).toEqual([['review', ['**user:** go']], ['fate', undefined]])
  })
})

describe('a place that leads elsewhere', () => {
  test.each<[string, () => string]>([
    ['the folder', () => {
      symlinkSync(join(session, 'elsewhere'), folder)
      return `${folder} is a link`
    }],
    ['the file', () => {
      mkdirSync(folder)
      symlinkSync(join(session, 'elsewhere', 'stolen'), join(folder, '__advisor.jsonl'))
      return `${join(folder, '__advisor.jsonl')} is a link`
    }],
    ['a folder in the file\'s place', () => {
      mkdirSync(join(folder, '__advisor.jsonl'), { recursive: true })
      return `${join(folder, '__advisor.jsonl')} is no file`
    }],
  ])('%s is refused, once and for all', async (_what, prepare) => {
    mkdirSync(join(session, 'elsewhere'))
    const reason = prepare()
    const journal = create()
    journal.append(review())
    await journal.flush()
    await clock.advance(RETRY_MS)
    journal.append(review())
    await journal.dispose()
    expect(readdirSync(join(session, 'elsewhere'))).toEqual([])
    expect(trouble).toEqual([`__advisor.jsonl cannot be written (${reason}): reviews go on without it`])
  })

  test('is none when the session folder itself is the link', async () => {
    mkdirSync(join(session, 'real'))
    symlinkSync(join(session, 'real'), join(session, 'linked'))
    folder = join(session, 'linked', 'advisor')
    await write(review())
    expect(readdirSync(join(session, 'real', 'advisor'))).toEqual(['__advisor.jsonl'])
  })
})

test('a folder that cannot be made is one warning, and is made after half a minute once it can be', async () => {
  const inTheWay = join(session, 'in-the-way')
  writeFileSync(inTheWay, '')
  folder = join(inTheWay, 'advisor')
  const journal = create()
  journal.append(review())
  await journal.flush()
  rmSync(inTheWay)
  await clock.advance(RETRY_MS)
  journal.append(review({ updates: [2, 2] }))
  await journal.flush()
  expect(records().map(({ updates }) => updates)).toEqual([[1, 1], [2, 2]])
  expect(trouble).toEqual([expect.stringContaining('ENOTDIR') as string])
})
