import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { localDay } from '../../src/clock.ts'
import { DayBook, LINE_EVERY_MS } from '../../src/record/day-book.ts'
import { Ledger } from '../../src/record/ledger.ts'
import { after } from './support/records.ts'
import { HandClock } from './support/clock.ts'
import { testFolder } from './support/folder.ts'

const HOUR = 3_600_000
let clock: HandClock
let folder: string
beforeEach(async () => {
  folder = testFolder()
  clock = new HandClock()
  await clock.advance(new Date(2026, 11, 1, 12).getTime())
})

const trouble: string[] = []
const open = (): DayBook => new DayBook({ folder, clock, onTrouble: line => trouble.push(line) })
const lines = (): { run: string, day: string, totals: { counts: { reviews: number } } }[] => (
  readFileSync(join(folder, 'usage.jsonl'), 'utf8').trim().split('\n').map(line => JSON.parse(line) as never)
)
const review = (book: DayBook): void => { book.count('reviews', 1) }

test('sums up all sessions of the host and what other hosts wrote down', async () => {
  const [mine, other] = [open(), open()]
  for (let session = 0; session < 2; session += 1) new Ledger({ clock, prices: () => ({}), day: mine }).of('').count('reviews')
  review(other)
  await other.dispose()
  expect((await mine.today()).counts.reviews).toBe(3)
  await mine.dispose()
  expect((await open().today()).counts.reviews).toBe(3)
})

test('writes a line a minute at most, and the rest when it is disposed', async () => {
  const book = open()
  for (let count = 0; count < 5; count += 1) review(book)
  await clock.advance(LINE_EVERY_MS - 1)
  review(book)
  await clock.advance(1)
  review(book)
  review(book)
  await book.dispose()
  await book.dispose()
  expect(lines().map(({ totals }) => totals.counts.reviews).at(-1)).toBe(8)
  expect(lines()).toHaveLength(3)
  expect(new Set(lines().map(({ run }) => run)).size).toBe(1)
})

test('a new day begins at nothing, and the old one is written down', async () => {
  const book = open()
  review(book)
  review(book)
  await clock.advance(12 * HOUR)
  expect((await book.today()).counts.reviews).toBe(0)
  review(book)
  await book.dispose()
  expect(new Map(lines().map(({ day, totals }) => [day, totals.counts.reviews]))).toEqual(new Map([['2026-12-01', 2], ['2026-12-02', 1]]))
})

test('a clock that jumps to another day and back loses and doubles nothing', async () => {
  const book = open()
  review(book)
  review(book)
  await clock.advance(24 * HOUR)
  review(book)
  await clock.advance(-24 * HOUR)
  review(book)
  // What the first half of the day had is read from the file.
  await clock.advance(0)
  await book.dispose()
  expect((await book.today()).counts.reviews).toBe(3)
  expect((await open().today()).counts.reviews).toBe(3)
})

test('a host that did nothing writes nothing', async () => {
  await open().dispose()
  expect(() => statSync(join(folder, 'usage.jsonl'))).toThrow('ENOENT')
})

test('a word taken back on the next day does not spoil it', async () => {
  const book = open()
  book.outcome('nit', 'good', 1)
  await clock.advance(12 * HOUR)
  book.outcome('nit', 'good', -1)
  book.outcome('nit', 'bad', 1)
  await book.dispose()
  expect((await open().today()).outcomes.nit).toMatchObject({ good: 0, bad: 1 })
})

test('is read from its end: years of it cost no time, and the cut line does not count', async () => {
  const line = (reviews: number, run: string, day = '2026-12-01') => (
    `{"v":1,"run":"${run}","day":"${day}","at":0,"totals":${JSON.stringify(after(reviews))},"kind":"day"}\n`
  )
  const old = line(9, 'old', '2025-01-01').repeat(2_000)
  const path = join(folder, 'usage.jsonl')
  // Far enough from the end that no reader of the tail sees it.
  appendFileSync(path, line(100, 'lost'))
  while ((statSync(path).size) < 5_000_000) appendFileSync(path, old)
  appendFileSync(path, `no json\n${line(1, 'a')}${line(2, 'a')}${line(4, 'b')}`)
  expect((await open().today()).counts.reviews).toBe(6)
})

test('the day is the machine\'s own', () => {
  expect(localDay(new Date(2026, 0, 5, 23, 59, 59).getTime())).toBe('2026-01-05')
  expect(localDay(new Date(2026, 0, 6).getTime())).toBe('2026-01-06')
})
