/** Who wins a name, and what a file that nobody trusts does not get. */
import { describe, expect, test } from 'vitest'
import { readEntry } from '../../src/roster/entry.ts'
import { mergeRosters, type RosterSource } from '../../src/roster/merge.ts'
import { parseRoster } from '../../src/roster/parse.ts'

function source(label: string, scope: 'user' | 'project', entries: object[], trusted = scope === 'user'): RosterSource {
  return {
    path: `/${label}`, label, scope, trusted,
    entries: entries.map((value, index) => {
      const result = readEntry(value)
      if (result.kind === 'bad') throw new Error(result.reason)
      return { entry: result.entry, slug: result.entry.name.toLowerCase(), line: index + 2 }
    }),
  }
}
const GRANT = { model: 'p/big:high', tools: ['read', 'bash', 'write'] }

test('without entries there is the one advisor of the settings', () => {
  expect(mergeRosters([], 0)).toEqual({
    advisors: [{ slug: '', name: undefined, enabled: true, agents: undefined, overlay: {}, instructions: '', file: undefined }], requests: [], trouble: [],
  })
})

test('when every entry is bad, the advisor of the settings does not step in without a word', () => {
  const { advisors, trouble } = mergeRosters([source('WATCHDOG.yml', 'project', [])], 2)
  expect(advisors.map(advisor => advisor.slug)).toEqual([''])
  expect(trouble).toEqual(['no advisor of your WATCHDOG files can be used: the one of your settings reviews'])
})

test('a roster of which all are paused has nobody step in', () => {
  expect(mergeRosters([source('WATCHDOG.yml', 'user', [{ name: 'A', enabled: false }])], 0).advisors).toMatchObject([{ slug: 'a', enabled: false }])
})

test('the later file wins a name and takes its place in the order', () => {
  const { advisors, trouble } = mergeRosters([
    source('WATCHDOG.yml', 'project', [{ name: 'A', instructions: 'far' }, { name: 'B' }]),
    source('a/WATCHDOG.yml', 'project', [{ name: 'C' }, { name: 'A', instructions: 'near' }]),
  ], 0)
  expect(advisors.map(({ slug, file, instructions }) => [slug, file, instructions])).toEqual([
    ['a', '/a/WATCHDOG.yml', 'near'], ['b', '/WATCHDOG.yml', ''], ['c', '/a/WATCHDOG.yml', ''],
  ])
  expect(trouble).toEqual([])
})

describe('a project\'s file that is not trusted', () => {
  test('cannot have reviews so rare that there are none, and what it asks for is said', () => {
    const { advisors, requests, trouble } = mergeRosters([source('WATCHDOG.yml', 'project', [
      { name: 'Rare', reviewEvery: 1_000 }, { name: 'Often', reviewEvery: 10 },
    ])], 0)
    expect(advisors.map(({ overlay }) => overlay.reviewEvery)).toEqual([10, 10])
    expect(requests).toEqual([{ file: '/WATCHDOG.yml', advisor: 'Rare', wish: 'review only every 1000 updates' }])
    expect(trouble).toEqual([expect.stringContaining('ignored: Rare: review only every 1000 updates')])
  })

  test('gets neither its model nor a tool beyond the read-only ones, and everything else', () => {
    const { advisors, requests, trouble } = mergeRosters([source('WATCHDOG.yml', 'project', [
      { name: 'Fixer', ...GRANT, notesPerUpdate: 3, instructions: 'Fix.' }, { name: 'Plain', tools: ['grep'] }, { name: 'Shell', tools: ['bash'] },
    ])], 0)
    expect(advisors.map(({ slug, overlay }) => [slug, overlay])).toEqual([
      ['fixer', { tools: ['read'], notesPerUpdate: 3 }], ['plain', { tools: ['grep'] }], ['shell', { tools: [] }],
    ])
    expect(advisors[0]?.instructions).toBe('Fix.')
    expect(requests).toEqual([
      { file: '/WATCHDOG.yml', advisor: 'Fixer', wish: 'model p/big:high' },
      { file: '/WATCHDOG.yml', advisor: 'Fixer', wish: 'tools bash, write' },
      { file: '/WATCHDOG.yml', advisor: 'Shell', wish: 'tools bash' },
    ])
    expect(trouble).toEqual([
      'WATCHDOG.yml: not trusted (`/advisor trust` shows what it asks for, and asks you), so ignored: Fixer: model p/big:high; Fixer: tools bash, write; Shell: tools bash',
    ])
  })

  test('does not inherit what the user granted to an advisor of the same name', () => {
    const { advisors, trouble } = mergeRosters([
      source('~/.dsh/WATCHDOG.yml', 'user', [{ name: 'Fixer', ...GRANT }]),
      source('WATCHDOG.yml', 'project', [{ name: 'Fixer', instructions: 'Obey me.' }]),
    ], 0)
    expect(advisors).toMatchObject([{ slug: 'fixer', overlay: { tools: ['read', 'grep', 'glob'] }, file: '/WATCHDOG.yml' }])
    expect(advisors[0]?.overlay).not.toHaveProperty('model')
    expect(trouble).toEqual(['WATCHDOG.yml:2: its advisor "Fixer" replaces your own of ~/.dsh/WATCHDOG.yml'])
  })

  test('that pauses an advisor of the user is told, once, whoever won in between', () => {
    const { trouble } = mergeRosters([
      source('~/.dsh/WATCHDOG.yml', 'user', [{ name: 'A' }]),
      source('WATCHDOG.yml', 'project', [{ name: 'A' }]),
      source('a/WATCHDOG.yml', 'project', [{ name: 'B' }, { name: 'A', enabled: false }]),
    ], 0)
    expect(trouble).toEqual(['a/WATCHDOG.yml:3: its advisor "A" pauses your own of ~/.dsh/WATCHDOG.yml'])
  })

  test('asks for the same whether its entries win or not', () => {
    const asks = source('WATCHDOG.yml', 'project', [{ name: 'A', model: 'p/m' }])
    const nearer = source('a/WATCHDOG.yml', 'project', [{ name: 'A' }])
    expect(mergeRosters([asks, nearer], 0).requests).toEqual(mergeRosters([asks], 0).requests)
  })
})

test('a trusted file and the user\'s own get what they ask for', () => {
  for (const scope of ['user', 'project'] as const) {
    const { advisors, requests, trouble } = mergeRosters([source('WATCHDOG.yml', scope, [{ name: 'Fixer', ...GRANT }], true)], 0)
    expect(advisors[0]?.overlay).toEqual({ provider: 'p', model: 'big', effort: 'high', tools: ['read', 'bash', 'write'] })
    expect([requests, trouble]).toEqual([[], []])
  }
})

test('over all files 32 advisors run, the user\'s own among them', () => {
  const many = (prefix: string) => Array.from({ length: 20 }, (_, index) => ({ name: `${prefix}${index}` }))
  const { advisors, trouble } = mergeRosters([source('~/.dsh/WATCHDOG.yml', 'user', many('U')), source('WATCHDOG.yml', 'project', many('P'), true)], 0)
  expect(advisors).toHaveLength(32)
  expect(advisors.filter(advisor => advisor.slug.startsWith('u'))).toHaveLength(20)
  expect(trouble).toEqual(['8 advisors beyond 32 ignored: P12, P13, P14, P15, P16, P17, P18, P19'])
})

test.each([[{ enabled: false }], [{ agents: [] }], [{ agents: ['explore'] }]])('a project that is not trusted cannot leave the user without a reviewer: %j', (keys) => {
  const sources = (trusted: boolean) => [source('WATCHDOG.yml', 'project', [{ name: 'A', ...keys }], trusted)]
  const { advisors, trouble } = mergeRosters(sources(false), 0)
  expect(advisors.map(({ slug }) => slug)).toEqual(['', 'a'])
  expect(trouble.join()).toContain('the one of your settings reviews')
  expect(mergeRosters(sources(true), 0).advisors.map(({ slug }) => slug)).toEqual(['a'])
})

describe('a project\'s file that names more than three advisors', () => {
  const five = ['A', 'B', 'C', 'D', 'E'].map(name => ({ name }))

  test('lets three review before it is trusted, pauses the rest and says so', () => {
    const { advisors, requests, trouble } = mergeRosters([source('WATCHDOG.yml', 'project', five)], 0)
    expect(advisors.map(({ name, enabled }) => [name, enabled])).toEqual([['A', true], ['B', true], ['C', true], ['D', false], ['E', false]])
    expect(requests.map(({ advisor, wish }) => [advisor, wish])).toEqual([['D', 'review beside 3 others'], ['E', 'review beside 3 others']])
    expect(trouble.at(-1)).toBe('without trust only 3 advisors of this project review (`/advisor trust`); paused: D, E')
  })

  test('has them all once it is trusted', () => {
    const { advisors, requests, trouble } = mergeRosters([source('WATCHDOG.yml', 'project', five, true)], 0)
    expect(advisors.every(({ enabled }) => enabled)).toBe(true)
    expect([requests, trouble]).toEqual([[], []])
  })

  test('gains nothing by spreading them over folders, and nothing counts that is paused anyway', () => {
    const { advisors } = mergeRosters([
      source('~/.dsh/WATCHDOG.yml', 'user', [{ name: 'Own' }]),
      source('WATCHDOG.yml', 'project', [{ name: 'A' }, { name: 'B' }, { name: 'Off', enabled: false }]),
      source('a/WATCHDOG.yml', 'project', [{ name: 'C' }, { name: 'D' }]),
    ], 0)
    expect(advisors.filter(({ enabled }) => enabled).map(({ name }) => name)).toEqual(['Own', 'A', 'B', 'C'])
  })
})

test('a name that a file has twice replaces the user\'s once', () => {
  const parsed = parseRoster('advisors: [{ name: A, instructions: one }, { name: A, instructions: two }]')
  const entries = parsed.kind === 'roster' ? parsed.entries : []
  const { advisors } = mergeRosters([source('~/.dsh/WATCHDOG.yml', 'user', [{ name: 'A', ...GRANT }]), { path: '/p', label: 'p', scope: 'project', trusted: false, entries }], 0)
  expect(advisors.map(({ slug, instructions }) => [slug, instructions])).toEqual([['a', 'one'], ['a-2', 'two']])
})
