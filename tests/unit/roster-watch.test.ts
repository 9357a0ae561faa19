// When files are looked at: looks that are asked for while one is under way become one, and nobody waits for ever.

import { expect, test } from 'vitest'
import type { Roster } from '../../src/roster/advisor.ts'
import { LOOK_MS, RosterWatch } from '../../src/roster/watch.ts'

const roster = (guidance: string): Roster => ({ advisors: [], guidance, trouble: [], requests: [], files: [] })

/** A watch whose reads and whose time the test has in hand. */
function watched() {
  const reads: PromiseWithResolvers<Roster>[] = []
  const sleeps: { readonly ms: number, readonly wake: () => void }[] = []
  const errors: unknown[] = []
  const news: (string | undefined)[] = []
  const watch: RosterWatch = new RosterWatch({
    clock: {
      now: () => 0,
      sleep: (ms, signal) => new Promise((resolve) => {
        sleeps.push({ ms, wake: resolve })
        signal.addEventListener('abort', () => resolve(), { once: true })
      }),
    },
    read: () => {
      const read = Promise.withResolvers<Roster>()
      reads.push(read)
      return read.promise
    },
    onNews: () => { news.push(watch.roster?.guidance) },
    report: error => void errors.push(error),
  })
  return { watch, reads, sleeps, news, errors }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

test('the first look brings news, also that there is nothing; another that finds the same does not', async () => {
  const { watch, reads, news } = watched()
  expect(watch.roster).toBeUndefined()
  const nothing = roster('')
  for (const index of [0, 1]) {
    const looking = watch.look()
    expect(watch.isLooking).toBe(true)
    reads[index]!.resolve(nothing)
    await looking
  }
  expect(watch.isLooking).toBe(false)
  expect(news).toEqual([''])
})

test('looks asked for while one is under way become one that begins when it has ended', async () => {
  const { watch, reads, news } = watched()
  const first = watch.look()
  const later = [watch.look(), watch.look(), watch.looked]
  expect(new Set(later).size).toBe(1)
  expect(reads).toHaveLength(1)
  reads[0]!.resolve(roster('one'))
  await first
  await turn()
  expect(reads).toHaveLength(2)
  expect(watch.isLooking).toBe(true)
  reads[1]!.resolve(roster('two'))
  await Promise.all(later)
  expect(news).toEqual(['one', 'two'])
  expect(watch.isLooking).toBe(false)
})

test('a disk that hangs is waited for within a bound, and the reviews go on without files; what it says later counts then', async () => {
  const { watch, reads, sleeps, news } = watched()
  const looking = watch.look()
  await turn()
  expect(sleeps.map(({ ms }) => ms)).toEqual([LOOK_MS])
  sleeps[0]!.wake()
  await looking
  expect(watch.roster?.advisors).toHaveLength(1)
  reads[0]!.resolve(roster('late'))
  await turn()
  expect(news).toEqual(['', 'late'])
})

test('a look that is late does not take back what is known', async () => {
  const { watch, reads, sleeps, news } = watched()
  const first = watch.look()
  reads[0]!.resolve(roster('one'))
  await first
  const second = watch.look()
  await turn()
  sleeps[1]!.wake()
  await second
  expect(watch.roster?.guidance).toBe('one')
  expect(news).toEqual(['one'])
})

test('a fault in a look is reported, and the next look is taken', async () => {
  const { watch, reads, errors } = watched()
  const first = watch.look()
  const fault = new Error('no')
  reads[0]!.reject(fault)
  await first
  expect(errors).toEqual([fault])
  const second = watch.look()
  reads[1]!.resolve(roster('two'))
  await second
  expect(watch.roster?.guidance).toBe('two')
})

test('a session that is gone waits for no look and hears no news', async () => {
  const { watch, reads, news } = watched()
  const looking = watch.look()
  await turn()
  watch.dispose()
  await looking
  reads[0]!.resolve(roster('one'))
  await turn()
  expect(news).toEqual([])
})
