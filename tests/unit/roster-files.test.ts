/** Files that are not what they should be: a clear line each, the rest counts, nothing hangs and nothing throws. */
import { execFileSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FILE_LIMIT, systemDisk, type Disk } from '../../src/roster/disk.ts'
import { rosterOf, Workspace } from './support/workspace.ts'

let space: Workspace
beforeEach(async () => {
  space = await Workspace.create()
  await space.write({ 'home/.dsh/WATCHDOG.yml': rosterOf('Mine') })
})
afterEach(() => space.remove())

/** What was said; the user's own advisor runs all the same. */
async function trouble(disk?: Disk) {
  const roster = await space.reader(space.repo, disk).read([])
  expect(roster.advisors.map(advisor => advisor.slug)).toContain('mine')
  return roster.trouble
}

function failing(path: string, code: string, call: 'stat' | 'head'): Disk {
  const fail = <T>(at: string, otherwise: () => Promise<T>) =>
    at === join(space.repo, path) ? Promise.reject(Object.assign(new Error(code), { code })) : otherwise()
  return {
    ...systemDisk,
    stat: at => call === 'stat' ? fail(at, () => systemDisk.stat(at)) : systemDisk.stat(at),
    head: (at, limit) => call === 'head' ? fail(at, () => systemDisk.head(at, limit)) : systemDisk.head(at, limit),
  }
}

describe.each(['WATCHDOG.md', 'WATCHDOG.yml'])('a %s', (name) => {
  test('that is a folder', async () => {
    await mkdir(join(space.repo, name))
    expect(await trouble()).toEqual([`${name}: skipped: it is a folder, not a file`])
  })

  test.skipIf(process.platform === 'win32')('that is a pipe, which nobody waits for', async () => {
    execFileSync('mkfifo', [join(space.repo, name)])
    expect(await trouble()).toEqual([`${name}: skipped: it is not a regular file`])
  })

  test('that leads in a circle', async () => {
    await symlink(name, join(space.repo, name))
    expect(await trouble()).toEqual([`${name}: skipped: it cannot be read: its links lead in a circle`])
  })

  test('that leads out of the repository', async () => {
    await space.write({ [`home/private/${name}`]: 'SECRET' })
    await symlink(join(space.home, 'private', name), join(space.repo, name))
    const roster = await space.read()
    expect(JSON.stringify(roster)).not.toContain('SECRET')
    expect(roster.trouble).toEqual([`${name}: skipped: it leads out of the repository`])
    expect(roster.files).toContainEqual(expect.objectContaining({ label: name, state: 'skipped', advisors: [] }))
  })

  test('in a folder that leads out of the repository', async () => {
    await space.write({ [`home/private/${name}`]: 'SECRET' })
    await symlink(join(space.home, 'private'), join(space.repo, '.dsh'))
    expect(await trouble()).toEqual([`.dsh/${name}: skipped: it leads out of the repository`])
  })

  test('that leads nowhere is not there', async () => {
    await symlink(join(space.repo, 'missing'), join(space.repo, name))
    expect(await trouble()).toEqual([])
  })

  test.each([
    ['stat', 'EACCES', 'cannot be read: permission denied'], ['head', 'EACCES', 'cannot be read: permission denied'], ['head', 'EIO', 'cannot be read: EIO'],
  ] as const)('whose %s fails with %s', async (call, code, reason) => {
    await space.write({ [`home/repo/${name}`]: '' })
    expect(await trouble(failing(name, code, call))).toEqual([`${name}: skipped: it ${reason}`])
  })

  test('that vanishes between two looks is not there', async () => {
    await space.write({ [`home/repo/${name}`]: '' })
    expect(await trouble(failing(name, 'ENOENT', 'head'))).toEqual([])
  })

  test.each([
    ['bytes that are no text', [0x61, 0xff, 0xfe, 0x62], 'is not UTF-8 text'],
    ['NUL bytes', [0x61, 0x00, 0x62], 'holds NUL bytes: UTF-8 is expected, or UTF-16 with a byte order mark'],
    ['UTF-16 without a mark', [0x61, 0x00, 0x62, 0x00], 'holds NUL bytes: UTF-8 is expected, or UTF-16 with a byte order mark'],
    ['half a character of UTF-16', [0xff, 0xfe, 0x61, 0xd8], 'is not UTF-16LE text'],
  ])('with %s', async (_, bytes, reason) => {
    await space.write({ [`home/repo/${name}`]: new Uint8Array(bytes) })
    expect(await trouble()).toEqual([`${name}: skipped: it ${reason}`])
  })
})

describe('any encoding that says what it is', () => {
  const TEXT = 'advisors:\r\n  - name: Größe\r\n    instructions: "架构"\r\n'
  const utf16be = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()

  test.each([
    ['UTF-8 with CRLF', Buffer.from(TEXT)],
    ['UTF-8 with CR alone', Buffer.from(TEXT.replaceAll('\r\n', '\r'))],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${TEXT}`)],
    ['UTF-16, little endian', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
    ['UTF-16, big endian', utf16be(TEXT)],
  ])('%s is read', async (_, bytes) => {
    await space.write({ 'home/repo/WATCHDOG.yml': bytes })
    expect(await space.read()).toMatchObject({ trouble: [], advisors: [{ slug: 'mine' }, { slug: 'größe', instructions: '架构' }] })
  })
})

describe('a file of 5 MB', () => {
  /** How much of each file was asked for. */
  const asked: number[] = []
  const counting: Disk = { ...systemDisk, head: (path, limit) => { asked.push(limit); return systemDisk.head(path, limit) } }
  beforeEach(() => { asked.length = 0 })

  test('of guidance is read to its bound, and what was cut is said in the text and beside it', async () => {
    await space.write({ 'home/repo/WATCHDOG.md': `First line.\n${'规则 rule\n'.repeat(400_000)}` })
    const { guidance, trouble: lines } = await space.reader(space.repo, counting).read([])
    expect(Math.max(...asked)).toBeLessThanOrEqual(FILE_LIMIT + 1)
    expect(guidance).toMatch(/^<attention file="WATCHDOG.md">\nFirst line.\n[^]*\n\[… the rest was left out …\]\n<\/attention>$/)
    expect(Buffer.byteLength(guidance)).toBeLessThanOrEqual(24_000)
    expect(lines).toEqual(['WATCHDOG.md: cut: only the first 64 kB are read', expect.stringMatching(/^WATCHDOG.md: cut: all guidance together/)])
  })

  test('of a roster is skipped, for its end might have taken tools away', async () => {
    await space.write({ 'home/repo/WATCHDOG.yml': `${rosterOf('Other')}${'  - { name: One of many }\n'.repeat(200_000)}` })
    expect(await trouble(counting)).toEqual(['WATCHDOG.yml: skipped: it is longer than 64 kB'])
    expect(Math.max(...asked)).toBeLessThanOrEqual(FILE_LIMIT + 1)
  })
})

test('a roster that is no YAML is skipped by name and place, and its neighbours run', async () => {
  await space.write({ 'home/repo/WATCHDOG.yml': 'advisors:\n  - name: A\n   bad: x\n', 'home/repo/.dsh/WATCHDOG.yml': rosterOf('B') })
  const roster = await space.read()
  expect(roster.advisors.map(advisor => advisor.slug)).toEqual(['mine', 'b'])
  expect(roster.trouble).toEqual(['WATCHDOG.yml:3:1: skipped: Sequence item without - indicator'])
})

test('a bad entry is skipped by name, file and place, and the good ones run', async () => {
  await space.write({ 'home/repo/WATCHDOG.yml': rosterOf('{ name: Typo, tool: [] }', 'Good') })
  const roster = await space.read()
  expect(roster.advisors.map(advisor => advisor.slug)).toEqual(['mine', 'good'])
  expect(roster.trouble).toEqual([expect.stringMatching(/^WATCHDOG.yml:2:19: advisor "Typo" skipped: unknown key `tool`; allowed: name/)])
})

test('instructions of an advisor are bounded, and that is said', async () => {
  await space.write({ 'home/repo/WATCHDOG.yml': rosterOf(`{ name: Talker, instructions: "${'word '.repeat(4000)}" }`) })
  const roster = await space.read()
  expect(Buffer.byteLength(roster.advisors[1]!.instructions)).toBeLessThanOrEqual(8_000)
  expect(roster.advisors[1]!.instructions).toContain('[… the rest was left out …]')
  expect(roster.trouble).toEqual(['WATCHDOG.yml:2: instructions of "Talker" cut: they may hold 8 kB'])
})

test('trouble is told in 20 lines and a count, what matters most first', async () => {
  const bad = Array.from({ length: 60 }, (_, index) => `{ name: Bad${index}, reviewEvery: 0 }`)
  await space.write({ 'home/repo/WATCHDOG.yml': rosterOf(...bad, '{ name: Mine, tools: [bash] }') })
  const lines = await trouble()
  expect(lines).toHaveLength(21)
  expect(lines.slice(0, 2)).toEqual([expect.stringContaining('not trusted'), expect.stringContaining('replaces your own')])
  expect(lines.at(-1)).toBe('… and 42 more')
})

test('no line of trouble is endless', async () => {
  await space.write({ 'home/repo/WATCHDOG.yml': rosterOf(...Array.from({ length: 32 }, (_, index) => `{ name: ${'N'.repeat(50)}${index}, tools: [bash] }`)) })
  const lines = await trouble()
  expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(400)
  expect(lines[0]).toContain('/advisor trust')
})
