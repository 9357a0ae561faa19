/** `node journal-writer.ts <folder> <reviews> <text size> [pause]`: one process that writes a journal; prints its run, then what was flushed. */
import { systemClock } from '../../../src/clock.ts'
import { Journal } from '../../../src/record/journal.ts'
import { Ledger } from '../../../src/record/ledger.ts'
import { MODEL, review } from './records.ts'

const [folder = '', reviews = '', size = ''] = process.argv.slice(2)
const ledger = new Ledger({ clock: systemClock, prices: () => ({ [MODEL]: { input: 1, output: 1, currency: 'USD' } }) })
const account = ledger.of('')
const journal = new Journal({
  folder, slug: '', clock: systemClock, totals: () => account.totals, onTrouble: (line) => { console.error(line) },
})
for (let number = 1; number <= Number(reviews); number += 1) {
  account.count('reviews')
  account.charge(MODEL, { inputTokens: 999_999, outputTokens: 1 })
  journal.append(review({ updates: [number, number], shown: [`${journal.run} ${number} ${'x'.repeat(Number(size))}`] }))
  await journal.flush()
  console.log(number)
}
await journal.dispose()
