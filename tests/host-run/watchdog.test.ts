// WATCHDOG files on the published headless host: what reviewers are told, who reviews, when an edit counts, and what becomes of files
// that are not as they should be.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { ENTRY_KEYS } from '../../src/roster/entry.ts'
import { advise, empty, PRIMARY_MODEL, REVIEWER_MODEL, text } from '../support/model-server.ts'
import type { ModelRequest, Reply, Script } from '../support/model-server.ts'
import { poll } from '../support/poll.ts'
import { bash, userTexts } from './moments-line.ts'
import { createGround, roster, steps, systemOf, write, type Ground, type RosterServer } from './watchdog-run.ts'

let ground: Ground

beforeAll(async () => {
  ground = await createGround({ tarball: inject('tarball') })
})
afterAll(() => ground.dispose())

function utf16(content: string): Buffer {
  return Buffer.from(`\ufeff${content}`, 'utf16le')
}

/** What the agent was told by advisors, a message each. */
function advice(request: ModelRequest | undefined): string[] {
  return userTexts(request).filter(content => content.startsWith('<advisory'))
}

/** What WATCHDOG files add to a reviewer's prompt. */
function guidanceOf(request: ModelRequest | undefined): string {
  return /\n\n(<(?:attention|instructions)[\s>][^]*)$/.exec(systemOf(request))?.[1] ?? ''
}

describe('guidance', () => {
  beforeEach(() => ground.clear())

  test('of the user and of every folder down to the session\'s is in the reviewer\'s prompt in this order, and nowhere in the agent\'s', async () => {
    write(ground.host.home, { 'WATCHDOG.md': 'GUIDANCE mine. See @rules/money.md.', 'rules/money.md': 'GUIDANCE on money.' })
    write(ground.repo, {
      'WATCHDOG.md': 'GUIDANCE of the root.\n\n@docs/layers.md\n\n`@docs/layers.md` stays, and so does @docs/missing.md.',
      'docs/layers.md': 'GUIDANCE on layers. @deeper/names.md',
      'docs/deeper/names.md': 'GUIDANCE on names. @../../WATCHDOG.md',
      '.dsh/WATCHDOG.md': 'GUIDANCE of the hidden folder.',
      '.other/WATCHDOG.md': 'GUIDANCE of another tool.',
      'packages/menu/WATCHDOG.md': 'GUIDANCE of the folder.',
      'packages/price/WATCHDOG.md': 'GUIDANCE of a folder beside it.',
    })
    const { code, stdout, stderr, server } = await ground.run(() => ({ agent: steps(bash('echo step')) }), { folder: 'packages/menu' })
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'answer\n', stderr: '' })

    const [first, ...more] = server.by('')
    expect(guidanceOf(first)).toBe([
      `<attention file="${ground.host.home}/WATCHDOG.md">\nGUIDANCE mine. See GUIDANCE on money..\n</attention>`,
      `<attention file=".dsh/WATCHDOG.md">\nGUIDANCE of the hidden folder.\n</attention>`,
      `<attention file="WATCHDOG.md">\nGUIDANCE of the root.\n\nGUIDANCE on layers. GUIDANCE on names. @../../WATCHDOG.md\n\n\`@docs/layers.md\` stays, and so does @docs/missing.md.\n</attention>`,
      `<attention file="packages/menu/WATCHDOG.md">\nGUIDANCE of the folder.\n</attention>`,
    ].join('\n\n'))
    expect(more.map(systemOf)).toEqual([systemOf(first)])
    for (const request of [...server.agent, ...server.of('title')]) expect(request.bodyText).not.toContain('GUIDANCE')
  })
})

describe('a roster', () => {
  beforeEach(() => ground.clear())

  /** Speaks about the first update, when so many advisors of the session have been asked about it. */
  const speaks = (server: () => RosterServer, waitFor: number, reply: Reply): Script => async (_, index) => {
    if (index > 0) return empty()
    await poll(() => server().slugs().length === waitFor, () => 'one advisor was asked only after the other had replied', 20_000)
    return reply
  }
  const ENTRIES = [
    { name: 'Layers', model: `deepseek-official/${REVIEWER_MODEL}`, instructions: 'WATCH the layers.' },
    { name: 'Money & co', model: `deepseek-official/${PRIMARY_MODEL}`, instructions: 'WATCH the money.', tools: [] },
  ]

  test('lets its advisors review side by side, each with its own model, tools and instructions, and what they find is one message', async () => {
    write(ground.host.home, { 'WATCHDOG.yml': JSON.stringify({ instructions: 'WATCH together.', advisors: ENTRIES }) })
    const { code, stdout, stderr, server } = await ground.run(server => ({
      agent: steps(bash('echo step')),
      advisors: {
        layers: speaks(server, 2, advise('The view opens the database itself.', 'concern')),
        'money-co': speaks(server, 2, text('{"note": "Prices are added up as floats.", "severity": "blocker"}')),
      },
    }))
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'answer\n', stderr: '' })

    const [layers, money] = [server.by('layers'), server.by('money-co')]
    expect([layers, money].map(calls => new Set(calls.map(({ body }) => body.model)))).toEqual([new Set([REVIEWER_MODEL]), new Set([PRIMARY_MODEL])])
    expect(systemOf(layers[0])).toMatch(/WATCH together\.\n\n<instructions>\nWATCH the layers\.\n<\/instructions>$/)
    expect(systemOf(money[0])).toMatch(/WATCH together\.\n\n<instructions>\nWATCH the money\.\n<\/instructions>$/)
    expect(layers[0]!.body.tools?.map(tool => tool.function.name)).toContain('grep')
    expect(money[0]!.body.tools ?? []).toEqual([])
    expect(server.agent.map(request => advice(request))).toEqual([[], [[
      '<advisory advisor="Money &amp; co" severity="blocker" guidance="weigh, don\'t blindly obey">',
      '[advisor:blocker] Prices are added up as floats.', '</advisory>',
      '<advisory advisor="Layers" severity="concern" guidance="weigh, don\'t blindly obey">',
      '[advisor:concern] The view opens the database itself.', '</advisory>',
    ].join('\n')]])
  })

  test('that finds the same thing twice says it once and names both', async () => {
    write(ground.host.home, { 'WATCHDOG.yml': roster(...ENTRIES) })
    const { server } = await ground.run(server => ({
      agent: steps(bash('echo step')),
      advisors: {
        layers: speaks(server, 2, advise('Prices are added up as floats.', 'concern')),
        'money-co': speaks(server, 2, text('{"note": "Prices are added up as floats!", "severity": "concern"}')),
      },
    }))
    const [said, ...others] = advice(server.agent[1])
    expect(others).toEqual([])
    expect(said).toMatch(/^<advisory advisor="(Layers, Money &amp; co|Money &amp; co, Layers)" severity="concern" [^\n]*>\n\[advisor:concern\] Prices are added up as floats[.!]\n<\/advisory>$/)
  })

  test('and guidance count from the next review on, as the agent itself writes, changes and removes them', async () => {
    const put = (name: string, content: string) => ({ name: 'write', arguments: { file_path: join(ground.repo, name), content } })
    const { code, stderr, server } = await ground.run(() => ({ agent: steps(
      bash('echo before'),
      put('WATCHDOG.md', 'GUIDANCE one.'),
      bash('echo "GUIDANCE two." > WATCHDOG.md'),
      put('WATCHDOG.yml', roster({ name: 'Late', instructions: 'WATCH the clock.' })),
      bash('rm WATCHDOG.md WATCHDOG.yml'),
    ) }))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })

    // Step 4 brings an advisor in the place of the one of the settings, and step 5 that one back.
    const [before, one, two, ...after] = server.by('').map(guidanceOf)
    expect(before).toBe('')
    expect(one).toBe('<attention file="WATCHDOG.md">\nGUIDANCE one.\n</attention>')
    expect(two).toBe('<attention file="WATCHDOG.md">\nGUIDANCE two.\n</attention>')
    expect(new Set(after)).toEqual(new Set(['']))
    expect(server.by('late').map(guidanceOf)).toEqual([`${two}\n\n<instructions>\nWATCH the clock.\n</instructions>`])
  })

  test('with an advisor whose model is not there says so once, and the others review', async () => {
    write(ground.host.home, { 'WATCHDOG.yml': roster({ name: 'Lost', model: 'nowhere/model' }, { name: 'Found' }) })
    const { code, stdout, stderr, server } = await ground.run(() => ({ agent: steps(bash('echo step')), advisors: { found: () => advise('A step too far.', 'concern') } }))
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'answer\n' })
    expect(stderr).toBe('dsh-advisor: Lost: no_model: no provider "nowhere" in this host; it starts by itself when the model appears\n')
    expect(server.slugs()).toEqual(['found'])
    expect(advice(server.agent[1])).toHaveLength(1)
  })
})

/** One kind of file that is not as it should be. */
interface BadFile {
  what: string
  /** Made in a folder of its own. */
  files?: Readonly<Record<string, string | Uint8Array>>
  make?: (folder: string) => void
  /** What the user is told, each line after the folder's name and a slash. */
  said?: string[]
  /** Advisors of the folder that review all the same. */
  good?: string[]
}

/** Takes root's right to pass over permissions from a process. */
const AS_ANYONE = ['setpriv', '--bounding-set=-dac_override,-dac_read_search']
const isRoot = process.getuid?.() === 0
const canLock = !isRoot || spawnSync(AS_ANYONE[0]!, ['--version']).error === undefined

/** What cannot be read as a text. */
const NO_TEXTS: BadFile[] = [
  {
    what: '5 MB', said: [
      'WATCHDOG.md: cut: only the first 64 kB are read', 'WATCHDOG.yml: skipped: it is longer than 64 kB',
      'WATCHDOG.md: cut: all guidance together may hold 24 kB, and nearer files come first',
    ],
    files: { 'WATCHDOG.md': `GUIDANCE at length.\n${'More of it.\n'.repeat(5e5)}`, 'WATCHDOG.yml': `advisors:\n  - name: Large\n${'# a comment\n'.repeat(5e5)}` },
  },
  {
    what: 'folders', said: ['WATCHDOG.md: skipped: it is a folder, not a file', 'WATCHDOG.yml: skipped: it is a folder, not a file'],
    make: (folder) => { for (const name of ['WATCHDOG.md', 'WATCHDOG.yml']) mkdirSync(join(folder, name)) },
  },
  {
    what: 'links that lead in a circle', said: ['WATCHDOG.yml: skipped: it cannot be read: its links lead in a circle'],
    make: (folder) => {
      symlinkSync('other', join(folder, 'WATCHDOG.yml'))
      symlinkSync('WATCHDOG.yml', join(folder, 'other'))
    },
  },
  {
    what: 'a pipe that nobody writes to', said: ['WATCHDOG.yml: skipped: it is not a regular file'],
    make: folder => void execFileSync('mkfifo', [join(folder, 'WATCHDOG.yml')]),
  },
  {
    what: 'UTF-16 without a mark', said: ['WATCHDOG.yml: skipped: it holds NUL bytes: UTF-8 is expected, or UTF-16 with a byte order mark'],
    files: { 'WATCHDOG.yml': utf16(roster({ name: 'Unmarked' })).subarray(2) },
  },
  ...canLock ? [{
    what: 'a file that is locked', said: ['WATCHDOG.yml: skipped: it cannot be read: permission denied'],
    files: { 'WATCHDOG.yml': roster({ name: 'Locked' }) }, make: (folder: string) => chmodSync(join(folder, 'WATCHDOG.yml'), 0),
  }] : [],
]

/** Ten to the power of nine words. */
const LAUGHS = ['x-a: &a [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]', ...[...'bcdefghi'].map((name, at) => (
  `x-${name}: &${name} [${Array<string>(10).fill(`*${'abcdefghi'[at]}`).join(', ')}]`
))].join('\n')

/** What is text, and no good roster, or an odd one. */
const ODD_TEXTS: BadFile[] = [
  { what: 'YAML that is broken', said: ['WATCHDOG.yml:4:1: skipped: Missing closing "quote'], files: { 'WATCHDOG.yml': 'advisors:\n  - name: "Broken\n  - name: Other\n' } },
  {
    what: 'values of the wrong shape', good: ['shapely'],
    said: [
      'WATCHDOG.yml:1:15: `instructions` ignored: a text is expected, not a list',
      'WATCHDOG.yml:3:5: advisor 1 skipped: an advisor is a mapping with the key `name`, not "just a text"',
      `WATCHDOG.yml:5:5: advisor "Typo" skipped: unknown key \`tool\`; allowed: ${ENTRY_KEYS.join(', ')}`,
      'WATCHDOG.yml:7:5: advisor "Never" skipped: `reviewEvery` is 0; allowed: a whole number from 1 to 1000',
    ],
    files: { 'WATCHDOG.yml': 'instructions: [a list]\nadvisors:\n  - just a text\n  - name: Typo\n    tool: []\n  - name: Never\n    reviewEvery: 0\n  - name: Shapely\n' },
  },
  { what: 'a list where a mapping belongs', said: ['WATCHDOG.yml:1:1: skipped: a mapping with instructions and advisors is expected, not a list'], files: { 'WATCHDOG.yml': '- name: Listed\n' } },
  { what: 'a byte order mark', good: ['marked'], files: { 'WATCHDOG.yml': `\ufeff${roster({ name: 'Marked' })}` } },
  { what: 'CRLF line ends', good: ['returned'], files: { 'WATCHDOG.yml': 'advisors:\r\n  - name: Returned\r\n    instructions: |\r\n      one\r\n      two\r\n' } },
  { what: 'UTF-16', good: ['wide'], files: { 'WATCHDOG.yml': utf16(roster({ name: 'Wide' })) } },
  {
    what: 'several documents', good: ['first'], said: ['WATCHDOG.yml:3:1: only the first document of a file counts'],
    files: { 'WATCHDOG.yml': 'advisors:\n  - name: First\n---\nadvisors:\n  - name: Second\n' },
  },
  {
    what: 'aliases without end', good: ['merged', 'sober'], said: ['WATCHDOG.yml:11:5: advisor "Laughing" skipped: Excessive alias count indicates a resource exhaustion attack'],
    files: { 'WATCHDOG.yml': `${LAUGHS}\nadvisors:\n  - name: Laughing\n    agents: *i\n  - &sober\n    name: Sober\n  - <<: *sober\n    name: Merged\n` },
  },
  {
    what: 'two entries of one name', good: ['twin', 'twin-2'], said: ['WATCHDOG.yml:6:5: advisor "twin" is called twin-2: another one of this file has its name'],
    files: { 'WATCHDOG.yml': roster({ name: 'Twin' }, { name: 'twin' }) },
  },
]

describe.each([
  ['that are no text', NO_TEXTS, { through: isRoot && canLock ? AS_ANYONE : [] }],
  ['with odd texts', ODD_TEXTS, {}],
])('files %s', (_, bad, launch) => {
  const folders = bad.map((_, at) => bad.slice(0, at + 1).map((_, depth) => `f${depth}`).join('/'))
  let result: Awaited<ReturnType<Ground['run']>>

  beforeAll(async () => {
    ground.clear()
    for (const [at, { files = {}, make }] of bad.entries()) {
      mkdirSync(join(ground.repo, folders[at]!), { recursive: true })
      write(join(ground.repo, folders[at]!), files)
      make?.(join(ground.repo, folders[at]!))
    }
    write(ground.repo, { 'WATCHDOG.yml': roster({ name: 'Good' }) })
    write(join(ground.repo, folders.at(-1)!), { 'WATCHDOG.md': 'GUIDANCE beside it.' })
    result = await ground.run(() => ({}), { folder: folders.at(-1)!, advisor: { trustedWorkspaces: [ground.repo] }, ...launch })
  })

  test('leave the run its answer, and the good ones beside them count', () => {
    const { code, stdout, server } = result
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'answer\n' })
    expect(server.slugs()).toEqual(['good', ...bad.flatMap(({ good = [] }) => good)].sort())
    for (const slug of server.slugs()) expect(systemOf(server.by(slug)[0])).toContain('GUIDANCE beside it.')
  })

  test.each(bad.map((file, at) => [file.what, file, folders[at]!] as const))('%s: its own lines, and nothing else', (_, { said = [] }, folder) => {
    const own = result.stderr.split('\n').filter(line => line.includes(` ${folder}/WATCHDOG`))
    expect(own.toSorted()).toEqual(said.map(line => `dsh-advisor: ${folder}/${line}`).toSorted())
  })

  test('nothing is said but that', () => {
    expect(result.stderr.trimEnd().split('\n')).toHaveLength(bad.reduce((sum, { said = [] }) => sum + said.length, 0))
  })
})

if (!canLock) test.skip('a file that is locked (left out: nothing is locked to root, and `setpriv` is not there to change that)')

test('of 500 advisors the first 32 review, and the user is told', async () => {
  ground.clear()
  const names = Array.from({ length: 500 }, (_, at) => `n${at}`)
  write(ground.host.home, { 'WATCHDOG.yml': `advisors:\n${names.map(name => `- name: ${name}\n`).join('')}` })
  const { code, stdout, stderr, server } = await ground.run(() => ({}))
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'answer\n' })
  expect(server.slugs()).toEqual(names.slice(0, 32).sort())
  expect(stderr).toMatch(/^dsh-advisor: [^\n]*\/WATCHDOG\.yml:2:1: 468 advisors beyond 32 ignored: n32, n33, [^\n]*…\n$/)
})
