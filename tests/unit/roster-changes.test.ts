/** Reading again: what has not changed costs a look and no more. */
import { rename, rm, symlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemDisk, type Disk } from '../../src/roster/disk.ts'
import { rosterOf, Workspace } from './support/workspace.ts'

let space: Workspace
/** Files that were opened, folders that were resolved, since the last `settle`. */
let opened: string[]
let disk: Disk
beforeEach(async () => {
  space = await Workspace.create()
  await space.write({
    'home/.dsh/WATCHDOG.md': 'Mine.', 'home/repo/WATCHDOG.md': 'Rules: @docs/a.md @docs/later.md', 'home/repo/docs/a.md': 'A', 'home/repo/WATCHDOG.yml': rosterOf('A'),
  })
  opened = []
  disk = {
    stat: systemDisk.stat,
    realpath: (path) => { opened.push(`resolve ${path}`); return systemDisk.realpath(path) },
    head: (path, limit) => { opened.push(`read ${path.slice(space.home.length + 1)}`); return systemDisk.head(path, limit) },
  }
})
afterEach(() => space.remove())

async function settled() {
  const reader = space.reader(space.repo, disk)
  const first = await reader.read([])
  opened.length = 0
  const again = async () => {
    const roster = await reader.read([])
    return { roster, read: opened.filter(call => call.startsWith('read')).sort() }
  }
  return { reader, first, again }
}

test('while nothing has changed the same roster comes back, for stats alone', async () => {
  const { first, again } = await settled()
  expect((await again()).roster).toBe(first)
  expect((await again()).roster).toBe(first)
  expect(opened).toEqual([])
})

test('reads at the same time give the same roster', async () => {
  const reader = space.reader(space.repo, disk)
  const rosters = await Promise.all([reader.read([]), reader.read([]), reader.read([])])
  expect(new Set(rosters).size).toBe(1)
  expect(opened.filter(call => call === 'read repo/WATCHDOG.md')).toHaveLength(1)
})

test('an edit counts with the next read, and only that file is read', async () => {
  const { again } = await settled()
  await space.write({ 'home/repo/WATCHDOG.yml': rosterOf('A', 'B') })
  const { roster, read } = await again()
  expect(roster.advisors.map(advisor => advisor.slug)).toEqual(['a', 'b'])
  expect(read).toEqual(['read repo/WATCHDOG.yml'])
})

test('an edit of an imported file counts', async () => {
  const { again } = await settled()
  await space.write({ 'home/repo/docs/a.md': 'A, revised' })
  const { roster, read } = await again()
  expect(roster.guidance).toContain('Rules: A, revised @docs/later.md')
  expect(read).toEqual(['read repo/docs/a.md'])
})

test('an import that comes into being counts', async () => {
  const { again } = await settled()
  await space.write({ 'home/repo/docs/later.md': 'Later' })
  expect((await again()).roster.guidance).toContain('Rules: A Later')
})

test('a file that appears, one that goes, and one that takes another\'s place count', async () => {
  const { again } = await settled()
  await space.write({ 'home/repo/.dsh/WATCHDOG.yml': rosterOf('Inner') })
  expect((await again()).roster.advisors.map(advisor => advisor.slug)).toEqual(['inner', 'a'])
  await rm(join(space.repo, 'WATCHDOG.yml'))
  expect((await again()).roster.advisors.map(advisor => advisor.slug)).toEqual(['inner'])
  await space.write({ 'home/draft': rosterOf('Moved') })
  await rename(join(space.home, 'draft'), join(space.repo, '.dsh/WATCHDOG.yml'))
  expect((await again()).roster.advisors.map(advisor => advisor.slug)).toEqual(['moved'])
})

test('a file that becomes a link out of the repository is given up', async () => {
  const { again } = await settled()
  await space.write({ 'home/private.md': 'SECRET' })
  await rm(join(space.repo, 'docs/a.md'))
  await symlink(join(space.home, 'private.md'), join(space.repo, 'docs/a.md'))
  const { roster, read } = await again()
  expect(roster.guidance).toContain('Rules: @docs/a.md')
  expect(read).toEqual([])
})

test('a file that was touched, or says the same in other words, is no change', async () => {
  const { first, again } = await settled()
  await utimes(join(space.repo, 'WATCHDOG.yml'), 1, 1)
  expect((await again()).roster).toBe(first)
  await space.write({ 'home/repo/WATCHDOG.yml': '# The same.\nadvisors: [ { "name": A, enabled: true } ]\n' })
  expect((await again()).roster).toBe(first)
})

test('trouble that is mended goes', async () => {
  const { again } = await settled()
  await space.write({ 'home/repo/WATCHDOG.yml': 'advisors: [' })
  expect((await again()).roster).toMatchObject({ advisors: [{ slug: '' }], trouble: [expect.stringContaining('the one of your settings reviews'), expect.stringMatching(/^WATCHDOG.yml:1:12: skipped: /)] })
  await space.write({ 'home/repo/WATCHDOG.yml': rosterOf('A') })
  expect((await again()).roster).toMatchObject({ advisors: [{ slug: 'a' }], trouble: [] })
})

test('a disk that fails in a way nobody foresaw leaves the advisor of the settings and a line, until it works again', async () => {
  let isBroken = true
  const reader = space.reader(space.repo, { ...disk, stat: path => isBroken ? Promise.reject(undefined) : systemDisk.stat(path) })
  expect(await reader.read([])).toMatchObject({ advisors: [{ slug: '' }], trouble: [expect.stringContaining('WATCHDOG files cannot be read')] })
  isBroken = false
  expect(await reader.read([])).toMatchObject({ advisors: [{ slug: 'a' }], trouble: [] })
})
