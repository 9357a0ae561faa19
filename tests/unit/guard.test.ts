import { beforeEach, describe, expect, test } from 'vitest'
import { EmissionGuard, MEMORY_LIMIT } from '../../src/deliver/guard.ts'
import { SEVERITIES, type Severity } from '../../src/severity.ts'

let guard: EmissionGuard
beforeEach(() => { guard = new EmissionGuard() })

/** Judge a note on its own; the reason when it is refused. */
function judge(note: string, severity: Severity = 'concern', spent = 0, budget = 1): string {
  const admission = guard.admit(note, severity, spent, budget)
  return admission.kind === 'admit' ? 'admit' : admission.reason
}

const NOTE = 'The user asked for `b.txt`, but step 2 edits `a.txt`.'

test('a new note passes, and judging it does not remember it', () => {
  expect(judge(NOTE)).toBe('admit')
  expect(judge(NOTE)).toBe('admit')
})

test('what says nothing is refused at every severity', () => {
  for (const severity of SEVERITIES) expect(judge('No issues.', severity)).toBe('content-free')
})

describe('the same note again', () => {
  test('is refused at the same and at a lower severity, and passes at a higher one', () => {
    const matrix = SEVERITIES.map((first) => {
      guard = new EmissionGuard()
      guard.remember(NOTE, first)
      return SEVERITIES.map(second => judge(NOTE, second))
    })
    expect(matrix).toEqual([
      ['repeat', 'admit', 'admit'],
      ['repeat', 'repeat', 'admit'],
      ['repeat', 'repeat', 'repeat'],
    ])
  })

  test('counts at the highest severity at which it was said', () => {
    guard.remember(NOTE, 'nit')
    guard.remember(NOTE, 'blocker')
    guard.remember(NOTE, 'concern')
    expect(SEVERITIES.map(severity => judge(NOTE, severity))).toEqual(['repeat', 'repeat', 'repeat'])
  })

  test('is the same however it is written', () => {
    guard.remember(NOTE, 'concern')
    const written = [
      NOTE, ` ${NOTE}\n`, NOTE.toUpperCase(), NOTE.replaceAll(' ', '  \n'), NOTE.replaceAll('`', ''), NOTE.replaceAll('`', '"'),
      `**${NOTE}**`, NOTE.replace(',', ' —'), NOTE.replaceAll('e', 'ｅ'),
    ]
    expect(written.filter(note => judge(note) !== 'repeat')).toEqual([])
  })
})

describe('a near copy is a repeat', () => {
  test.each([
    [
      'a counter',
      'The test has failed 3 times in a row with the same error.',
      'The test has failed 4 times in a row with the same error.',
    ],
    [
      'a step number',
      'At step 12 the agent still reads `notes/f1.txt` again.',
      'At step 31 the agent still reads `notes/f1.txt` again.',
    ],
    [
      'a line number',
      'In `src/a.ts:10` the return value of `load` is ignored.',
      'In `src/a.ts:14` the return value of `load` is ignored.',
    ],
    [
      'another order',
      'The agent edits `a.txt`, but the user asked for `b.txt`.',
      'The user asked for `b.txt`, but the agent edits `a.txt`.',
    ],
    ['a reminder in front', NOTE, `Reminder: ${NOTE}`],
    ['a repetition announced', NOTE, `I repeat again: ${NOTE} Please.`],
    ['still', 'The failing test is ignored by the agent.', 'The failing test is still ignored by the agent!'],
    [
      'one word of ten',
      'The migration drops the users table without any backup being made first.',
      'The migration drops the users table without any backup being taken first.',
    ],
    [
      'numbers in words of code',
      'Retry 3 of `fetchUser()` fails with a timeout again.',
      'Retry 7 of `fetchUser()` fails with a timeout again.',
    ],
    [
      'the same in other words',
      '`parseDate` ignores the time zone of its input, so the day is wrong.',
      '`parseDate` does not respect the time zone of its input: the day comes out wrong.',
    ],
    [
      'one name less',
      'In `src/date.ts`, `parseDate` ignores the time zone of its input and is off by a day.',
      '`parseDate` ignores the time zone of its input and is off by a day.',
    ],
    ['Chinese with a counter', '测试已经连续失败3次，错误相同。', '测试已经连续失败4次，错误相同。'],
    ['Chinese, reworded a little', '用户要求修改文件 `b.txt`，但是代理修改了 `a.txt`。', '用户要求的是修改文件 `b.txt`，但是代理修改了 `a.txt`！'],
    ['Chinese around a bare path', '文件a.ts没有处理空值，会抛出异常。', '注意文件a.ts没有处理空值，会抛出异常。'],
    ['Japanese with a counter', 'テストが3回連続で失敗しています。', 'テストが5回連続で失敗しています。'],
    ['Russian with a counter', 'Тест упал уже 3 раза подряд с одной ошибкой.', 'Тест упал уже 5 раз подряд с одной ошибкой.'],
  ])('%s', (_name, first, second) => {
    guard.remember(first, 'concern')
    expect(judge(second)).toBe('repeat')
    guard = new EmissionGuard()
    guard.remember(second, 'concern')
    expect(judge(first)).toBe('repeat')
  })
})

describe('two findings are two, whatever words they share', () => {
  test.each([
    [
      'other files',
      'The test in `src/a.test.ts` was deleted instead of fixed.',
      'The test in `src/b.test.ts` was deleted instead of fixed.',
    ],
    [
      'other files, bare',
      'The test in src/a.test.ts was deleted instead of fixed.',
      'The test in src/b.test.ts was deleted instead of fixed.',
    ],
    [
      'other functions',
      '`parseDate` ignores the time zone of its input and is off by a day.',
      '`formatDate` ignores the time zone of its input and is off by a day.',
    ],
    [
      'other functions, bare',
      'parseDate() ignores the time zone of its input and is off by a day.',
      'formatDate() ignores the time zone of its input and is off by a day.',
    ],
    [
      'other functions in one file',
      'In `src/date.ts`, `parseDate` ignores the time zone of its input and is off by a day.',
      'In `src/date.ts`, `formatDate` ignores the time zone of its input and is off by a day.',
    ],
    [
      'other functions about one value',
      '`parseDate` returns `null` for an empty text, which its only caller does not check.',
      '`formatDate` returns `null` for an empty text, which its only caller does not check.',
    ],
    [
      'other options',
      'The option `--dry-run` does not exist in this version of the tool; the command will fail.',
      'The option `--no-verify` does not exist in this version of the tool; the command will fail.',
    ],
    [
      'other commands',
      'The result of `npm test` was a failure, and it was passed over.',
      'The result of `npm run lint` was a failure, and it was passed over.',
    ],
    [
      'other words in quotes',
      'The command `rename` is called with an option that does not exist in this version.',
      'The command `remove` is called with an option that does not exist in this version.',
    ],
    [
      'numbered files',
      'Migration `db/001_users.sql` drops a column that is still read.',
      'Migration `db/002_orders.sql` drops a column that is still read.',
    ],
    [
      'other complaints about one file',
      '`src/a.ts` imports a module that does not exist.',
      '`src/a.ts` swallows the error of the failed request.',
    ],
    ['other words altogether', 'The user asked for tabs.', 'The build was never run after the last change.'],
    ['other subjects in Chinese', '文件 `a.ts` 没有处理空值。', '文件 `b.ts` 没有处理空值。'],
    ['other subjects in Chinese, bare', '文件a.ts没有处理空值，会抛出异常。', '文件b.ts没有处理空值，会抛出异常。'],
    ['other complaints in Chinese', '测试没有运行。', '用户要求修改配置。'],
  ])('%s', (_name, first, second) => {
    guard.remember(first, 'concern')
    expect(judge(second)).toBe('admit')
    guard = new EmissionGuard()
    guard.remember(second, 'concern')
    expect(judge(first)).toBe('admit')
  })
})

describe('the budget of one update', () => {
  test.each([[0, 1, 'admit'], [1, 1, 'over budget'], [2, 3, 'admit'], [3, 3, 'over budget'], [8, 8, 'over budget']])(
    'with %i of %i spent', (spent, budget, expected) => {
      expect(judge(NOTE, 'blocker', spent, budget)).toBe(expected)
    })

  test('is not named for what would have been refused anyway', () => {
    guard.remember(NOTE, 'concern')
    expect(judge(NOTE, 'concern', 1, 1)).toBe('repeat')
    expect(judge('ok', 'concern', 1, 1)).toBe('content-free')
  })
})

describe('the memory', () => {
  const numbered = (index: number): string => `The file \`src/f${index}x.ts\` is never imported.`

  test('holds 4096 notes and forgets the oldest first', () => {
    expect(MEMORY_LIMIT).toBe(4096)
    for (let index = 0; index <= MEMORY_LIMIT; index += 1) guard.remember(numbered(index), 'concern')
    expect(judge(numbered(0))).toBe('admit')
    expect(judge(numbered(1))).toBe('repeat')
    expect(judge(numbered(MEMORY_LIMIT))).toBe('repeat')
  }, 60_000)

  test('is not filled by the same note', () => {
    guard.remember(NOTE, 'nit')
    for (let index = 0; index < 5_000; index += 1) guard.remember(numbered(1), 'nit')
    expect(judge(NOTE, 'nit')).toBe('repeat')
  })
})
