import { expect, test } from 'vitest'
import { eachCauseOnce } from '../../src/record/trouble.ts'

test('the user hears of one cause once, whatever it spoils, and the log has the rest', () => {
  const [told, logged]: [string[], string[]] = [[], []]
  const onTrouble = eachCauseOnce(line => told.push(line), line => logged.push(line))
  onTrouble('a cannot be written', 'ENOSPC')
  onTrouble('b cannot be written', 'ENOSPC')
  onTrouble('c cannot be written', 'EACCES')
  expect([told, logged]).toEqual([['a cannot be written', 'c cannot be written'], ['b cannot be written']])
})
