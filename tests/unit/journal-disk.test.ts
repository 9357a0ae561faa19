/** A journal on a disk that fails, fills up or hangs: what is lost, what is said, and that nobody waits. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { AppendTarget } from '../../src/record/append-file.ts'
import { Journal } from '../../src/record/journal.ts'
import { FLUSH_MS, QUEUE_LIMIT, RETRY_MS } from '../../src/record/lines.ts'
import { emptyTotals } from '../../src/record/totals.ts'
import { poll, settle } from '../support/poll.ts'
import { HandClock } from './support/clock.ts'
import { review } from './support/records.ts'

/** A file in memory, whose next writes do what the test says. */
class Disk {
  text = ''
  opened = 0
  writes = 0
  fault: 'none' | 'closed' | 'full' | 'hangs' = 'none'
  private release: (() => void) | undefined

  /** Bytes that still fit when it is full: into each write, or into all of them together. */
  room = 0
  shrinks = false

  wake(): void {
    this.fault = 'none'
    this.release?.()
  }

  readonly open = async (): Promise<AppendTarget> => {
    this.opened += 1
    if (this.fault === 'closed') throw new Error('EROFS: read-only file system')
    return {
      torn: this.text !== '' && !this.text.endsWith('\n'), isGone: () => Promise.resolve(false), close: () => Promise.resolve(),
      write: async (bytes) => {
        this.writes += 1
        if (this.fault === 'hangs') await new Promise<void>((resolve) => { this.release = resolve })
        const taken = this.fault === 'full' ? bytes.subarray(0, this.room) : bytes
        this.text += Buffer.from(taken).toString()
        if (this.shrinks) this.room -= taken.length
        return taken.length
      },
    }
  }

  get lines(): string[] {
    return this.text.split('\n').filter(line => line !== '')
  }

  get records(): { kind: string, updates?: [number, number], lines?: number, again?: number, shown?: unknown }[] {
    return this.lines.map(line => JSON.parse(line) as never)
  }
}

let disk: Disk
let clock: HandClock
let journal: Journal
let trouble: string[]
beforeEach(() => {
  disk = new Disk()
  clock = new HandClock()
  trouble = []
  journal = new Journal({ folder: '/f', slug: '', clock, totals: emptyTotals, onTrouble: line => trouble.push(line), open: disk.open })
})

const append = (number: number): void => journal.append(review({ updates: [number, number], shown: [`**user:** go ${number}`] }))
const updates = (): (number | undefined)[] => disk.records.map(record => record.updates?.[0])

describe('a folder that cannot be written', () => {
  beforeEach(() => { disk.fault = 'closed' })

  test('is one warning, however many reviews follow', async () => {
    for (let number = 1; number <= 20; number += 1) {
      append(number)
      await journal.flush()
      await clock.advance(RETRY_MS)
    }
    expect(trouble).toEqual(['__advisor.jsonl cannot be written (EROFS: read-only file system): reviews go on without it'])
  })

  test('is tried again after half a minute and not before; what waited is written then', async () => {
    append(1)
    await journal.flush()
    expect(disk.opened).toBe(1)
    disk.fault = 'none'
    await clock.advance(RETRY_MS - 1)
    append(2)
    await journal.flush()
    expect(disk.opened).toBe(1)
    await clock.advance(1)
    append(3)
    await journal.flush()
    expect(updates()).toEqual([1, 2, 3])
  })

  test('is no trouble to anyone when the warning cannot be shown', async () => {
    journal = new Journal({ folder: '/f', slug: '', clock, totals: emptyTotals, onTrouble: () => { throw new Error('gone') }, open: disk.open })
    append(1)
    await journal.flush()
    disk.fault = 'none'
    await journal.dispose()
    expect(updates()).toEqual([1])
  })

  test('is tried again when the clock was set back', async () => {
    append(1)
    await journal.flush()
    disk.fault = 'none'
    await clock.advance(-24 * 3_600_000)
    append(2)
    await journal.flush()
    expect(updates()).toEqual([1, 2])
  })

  test('is tried once more at the end', async () => {
    append(1)
    await journal.flush()
    disk.fault = 'none'
    await journal.dispose()
    expect(updates()).toEqual([1])
  })

  test('that has a review with the text and one without it writes both as they were', async () => {
    append(1)
    append(1)
    await journal.flush()
    disk.fault = 'none'
    await journal.dispose()
    expect(disk.records.map(({ again, shown }) => [again, shown])).toEqual([[undefined, ['**user:** go 1']], [1, []]])
  })
})

describe('a full disk', () => {
  test('tears a line, which is ended and written whole once there is room', async () => {
    append(1)
    await journal.flush()
    disk.fault = 'full'
    disk.room = 40
    append(2)
    append(3)
    await journal.flush()
    expect(trouble).toEqual(['__advisor.jsonl cannot be written (no space is left on the disk): reviews go on without it'])
    disk.fault = 'none'
    await clock.advance(RETRY_MS)
    append(4)
    await journal.flush()
    const torn = disk.lines.filter(line => line.length === 40)
    expect(torn).toHaveLength(1)
    disk.text = disk.lines.filter(line => line.length !== 40).join('\n')
    expect(updates()).toEqual([1, 2, 3, 4])
    expect(disk.records.map(({ again }) => again)).not.toContain(1)
  })

  test('does not write again what already stands in the file', async () => {
    disk.fault = 'full'
    disk.room = 1_500
    disk.shrinks = true
    for (const number of [1, 2, 3]) append(number)
    await journal.flush()
    expect(trouble).toHaveLength(1)
    disk.fault = 'none'
    await journal.dispose()
    disk.text = disk.lines.filter(line => line.endsWith('}')).join('\n')
    expect(updates()).toEqual([1, 2, 3])
  })
})

describe('a disk that hangs', () => {
  beforeEach(async () => {
    disk.fault = 'hangs'
    append(1)
    await poll(() => disk.writes > 0, () => 'nothing was written')
  })

  test('holds so many lines; the rest is one warning and a line that says how many', async () => {
    for (let number = 2; number <= QUEUE_LIMIT + 10; number += 1) append(number)
    expect(trouble).toEqual(['__advisor.jsonl cannot be written fast enough, some of it is left out'])
    disk.wake()
    await journal.flush()
    expect(disk.records.map(({ kind }) => kind)).toEqual([...Array.from({ length: QUEUE_LIMIT }, () => 'review'), 'lost'])
    expect(disk.records.at(-1)).toMatchObject({ lines: 10 })
    append(100)
    await journal.flush()
    expect(disk.records.at(-1)).toMatchObject({ updates: [100, 100] })
  })

  test.each(['flush', 'dispose'] as const)('keeps nobody who calls %s longer than two seconds', async (method) => {
    let over = false
    const waiting = journal[method]().then(() => { over = true })
    await clock.advance(FLUSH_MS - 1)
    expect(over).toBe(false)
    await clock.advance(1)
    await waiting
    expect(clock.pending).toEqual([])
  })

  test('has its lines in order when it comes back', async () => {
    append(2)
    append(3)
    disk.wake()
    await journal.flush()
    expect(updates()).toEqual([1, 2, 3])
  })
})

test('lines are written one at a time, each in one call', async () => {
  for (let number = 1; number <= 5; number += 1) append(number)
  await settle()
  await journal.flush()
  expect(disk.writes).toBe(5)
  expect(disk.opened).toBe(1)
})
