/** When an advisor counts as being of no use, and that its user hears of it once. */
import { describe, expect, test } from 'vitest'
import { emptyTotals, type Counts } from '../../src/record/totals.ts'
import { judgeUsefulness, Usefulness, type Stretch } from '../../src/record/usefulness.ts'

const WELL: Stretch = { fruitless: 0, failures: 0, quarantined: 0 }

describe('the verdict', () => {
  test.each<[string, Partial<Stretch>, string | undefined]>([
    ['nothing happened', {}, undefined],
    ['29 reviews came to nothing', { fruitless: 29 }, undefined],
    ['30 did', { fruitless: 30 }, '30 reviews in a row without a look-up, a note or a verdict that can be read'],
    ['9 calls failed', { failures: 9 }, undefined],
    ['10 did', { failures: 10 }, 'nothing but failures: 10 calls failed and no review came of them'],
    ['2 replies were thrown away', { quarantined: 2 }, undefined],
    ['3 were', { quarantined: 3 }, '3 of its replies were unsafe and thrown away'],
    ['failures, which are the nearest cause, go before the rest', { failures: 12, fruitless: 40, quarantined: 5 }, 'nothing but failures: 12 calls failed and no review came of them'],
  ])('when %s', (_name, stretch, reason) => {
    const verdict = judgeUsefulness({ ...WELL, ...stretch })
    expect(verdict.kind === 'useless' ? verdict.reason : undefined).toBe(reason)
  })

  test.each<Partial<Stretch>>([{ fruitless: 30 }, { failures: 10 }, { quarantined: 3 }])('%o comes with something to do', (stretch) => {
    expect(judgeUsefulness({ ...WELL, ...stretch })).toMatchObject({ remedy: expect.stringContaining('/advisor check') as string })
  })
})

/** An advisor's counts as they grow. */
class Life {
  readonly totals = emptyTotals()
  readonly usefulness = new Usefulness()
  readonly told: string[] = []

  add(counts: Partial<Counts>, times = 1): this {
    for (let time = 0; time < times; time += 1) {
      for (const [counter, by] of Object.entries(counts) as [keyof Counts, number][]) this.totals.counts[counter] += by
      const useless = this.usefulness.observe(this.totals)
      if (useless !== undefined) this.told.push(useless.reason)
    }
    return this
  }
}

const PROSE = { reviews: 1, noVerdict: 1 }
const SILENT = { reviews: 1, silent: 1 }

describe('a life', () => {
  test('of nothing but prose is told of once, at the 30th review, and the count goes on', () => {
    const life = new Life().add(PROSE, 29)
    expect(life.told).toEqual([])
    life.add(PROSE, 20)
    expect(life.told).toEqual(['30 reviews in a row without a look-up, a note or a verdict that can be read'])
    expect(life.usefulness.verdict).toMatchObject({ reason: expect.stringContaining('49 reviews') as string })
  })

  test.each<[string, Partial<Counts>]>([
    ['silence', SILENT],
    ['advice', { reviews: 1 }],
    ['prose after a look-up', { ...PROSE, lookups: 1 }],
  ])('in which %s comes now and then is fine, however much prose there is', (_name, sign) => {
    const life = new Life()
    for (let round = 0; round < 5; round += 1) life.add(PROSE, 29).add(sign)
    expect(life.told).toEqual([])
    life.add(PROSE, 30)
    expect(life.told).toHaveLength(1)
  })

  test('in which a note was given is fine from there on', () => {
    const life = new Life().add(PROSE, 29)
    life.totals.outcomes.nit.notes += 1
    life.add(PROSE, 29)
    expect(life.told).toEqual([])
  })

  test('of failures is told of at the tenth, and no longer stands once a review succeeds', () => {
    const life = new Life().add({ failed: 1 }, 10)
    expect(life.told).toEqual(['nothing but failures: 10 calls failed and no review came of them'])
    life.add(SILENT)
    expect(life.usefulness.verdict).toEqual({ kind: 'fine' })
    life.add({ failed: 1 }, 10)
    expect(life.usefulness.verdict.kind).toBe('useless')
    expect(life.told).toHaveLength(1)
  })

  test('of failures between reviews is fine', () => {
    const life = new Life()
    for (let round = 0; round < 10; round += 1) life.add({ failed: 1 }, 5).add(SILENT)
    expect(life.told).toEqual([])
  })
})
