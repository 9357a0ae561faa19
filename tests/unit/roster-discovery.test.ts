/** Where WATCHDOG files are looked for, on a real disk. */
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RosterReader } from '../../src/roster/reader.ts'
import { rosterOf, Workspace } from './support/workspace.ts'

let space: Workspace
beforeEach(async () => { space = await Workspace.create() })
afterEach(() => space.remove())

const labels = async (cwd: string) => (await space.read(cwd)).files.map(file => file.label)

/** A file in every folder that could be meant. */
async function everywhere() {
  await space.write(Object.fromEntries([
    'home/.dsh', 'home', 'home/.config', 'home/work', 'home/work/.dsh', 'home/repo', 'home/repo/.dsh', 'home/repo/.omp', 'home/repo/.github', 'home/repo/.github/flows',
    'home/repo/a', 'home/repo/a/.dsh', 'home/repo/a/b', 'home/repo/other', '.', 'elsewhere', 'elsewhere/a',
  ].map(folder => [`${folder}/WATCHDOG.md`, folder])))
}

test('without any file there is the advisor of the settings and nothing to say', async () => {
  expect(await space.read()).toEqual({
    advisors: [{ slug: '', name: undefined, enabled: true, agents: undefined, overlay: {}, instructions: '', file: undefined }],
    guidance: '', trouble: [], requests: [], files: [],
  })
})

test('the user\'s file comes first, then from the repository\'s root down to the working folder, `.dsh` before the folder itself', async () => {
  await everywhere()
  expect(await labels(join(space.repo, 'a/b'))).toEqual([
    '~/.dsh/WATCHDOG.md', '.dsh/WATCHDOG.md', 'WATCHDOG.md', 'a/.dsh/WATCHDOG.md', 'a/WATCHDOG.md', 'a/b/WATCHDOG.md',
  ])
})

test('blocks of guidance stand in that order, shared instructions behind them', async () => {
  await space.write({
    'home/.dsh/WATCHDOG.md': 'Mine.', 'home/repo/WATCHDOG.md': 'Far.', 'home/repo/a/WATCHDOG.md': 'Near.',
    'home/.dsh/WATCHDOG.yml': 'instructions: To all of mine.', 'home/repo/WATCHDOG.yml': 'instructions: To all here.',
  })
  expect((await space.read(join(space.repo, 'a'))).guidance).toBe([
    '<attention file="~/.dsh/WATCHDOG.md">\nMine.\n</attention>', '<attention file="WATCHDOG.md">\nFar.\n</attention>',
    '<attention file="a/WATCHDOG.md">\nNear.\n</attention>', 'To all of mine.', 'To all here.',
  ].join('\n\n'))
})

test('of rosters in one place `.yml` comes before `.yaml`, `.dsh` before the folder, and the later wins a name', async () => {
  const names = ['home/.dsh/WATCHDOG.yml', 'home/.dsh/WATCHDOG.yaml', 'home/repo/.dsh/WATCHDOG.yml', 'home/repo/.dsh/WATCHDOG.yaml', 'home/repo/WATCHDOG.yml', 'home/repo/WATCHDOG.yaml']
  for (const [index, name] of names.entries()) {
    await space.write({ [name]: rosterOf(`{ name: A, instructions: "${index}" }`, `Only ${index}`) })
    const { advisors } = await space.read()
    expect(advisors[0]).toMatchObject({ slug: 'a', instructions: String(index), file: join(space.root, name) })
    expect(advisors).toHaveLength(index + 2)
  }
})

test('each file says which advisors come from it', async () => {
  await space.write({ 'home/.dsh/WATCHDOG.yml': rosterOf('A', 'B'), 'home/repo/WATCHDOG.yml': rosterOf('B', 'C'), 'home/repo/WATCHDOG.md': 'Look.' })
  expect((await space.read()).files).toEqual([
    { path: join(space.dshHome, 'WATCHDOG.yml'), label: '~/.dsh/WATCHDOG.yml', kind: 'roster', scope: 'user', state: 'read', trust: 'not needed', advisors: ['a'] },
    { path: join(space.repo, 'WATCHDOG.md'), label: 'WATCHDOG.md', kind: 'guidance', scope: 'project', state: 'read', trust: 'not needed', advisors: [] },
    { path: join(space.repo, 'WATCHDOG.yml'), label: 'WATCHDOG.yml', kind: 'roster', scope: 'project', state: 'read', trust: 'not needed', advisors: ['b', 'c'] },
  ])
})

test('in a worktree, whose `.git` is a file, the worktree is the root', async () => {
  await everywhere()
  await space.write({ 'home/repo/.trees/feature/.git': 'gitdir: elsewhere', 'home/repo/.trees/feature/a/WATCHDOG.md': 'x', 'home/repo/.trees/feature/WATCHDOG.md': 'x' })
  expect(await labels(join(space.repo, '.trees/feature/a'))).toEqual(['~/.dsh/WATCHDOG.md', 'WATCHDOG.md', 'a/WATCHDOG.md'])
})

test('without a repository the way leads up to the home folder, whose `.dsh` is not read twice', async () => {
  await everywhere()
  expect(await labels(join(space.home, 'work'))).toEqual(['~/.dsh/WATCHDOG.md', '~/WATCHDOG.md', '.dsh/WATCHDOG.md', 'WATCHDOG.md'])
})

test('outside the home folder and without a repository only the working folder counts', async () => {
  await everywhere()
  expect(await labels(join(space.root, 'elsewhere/a'))).toEqual(['~/.dsh/WATCHDOG.md', 'WATCHDOG.md'])
})

test('other dot folders are passed over, unless one is the working folder or the root', async () => {
  await everywhere()
  expect(await labels(join(space.repo, '.github/flows'))).toEqual(['~/.dsh/WATCHDOG.md', '.dsh/WATCHDOG.md', 'WATCHDOG.md', '.github/flows/WATCHDOG.md'])
  expect(await labels(join(space.home, '.config'))).toEqual(['~/.dsh/WATCHDOG.md', '~/WATCHDOG.md', 'WATCHDOG.md'])
  expect(await labels(join(space.repo, '.dsh'))).toEqual(['~/.dsh/WATCHDOG.md', '.dsh/WATCHDOG.md', 'WATCHDOG.md'])
})

test('in `$DSH_HOME` itself the user\'s files stay the user\'s', async () => {
  await everywhere()
  expect((await space.read(space.dshHome)).files.map(file => [file.label, file.scope])).toEqual([['WATCHDOG.md', 'user'], ['~/WATCHDOG.md', 'project']])
})

test('a `$DSH_HOME` that an ancestor\'s `.dsh` leads to is not read twice', async () => {
  await everywhere()
  await rm(join(space.repo, '.dsh'), { recursive: true })
  await symlink(space.dshHome, join(space.repo, '.dsh'))
  expect(await labels(space.repo)).toEqual(['~/.dsh/WATCHDOG.md', 'WATCHDOG.md'])
})

test('a working folder that is a link counts as the folder it leads to', async () => {
  await everywhere()
  await symlink(join(space.repo, 'a'), join(space.home, 'link'))
  expect(await labels(join(space.home, 'link'))).toEqual(['~/.dsh/WATCHDOG.md', '.dsh/WATCHDOG.md', 'WATCHDOG.md', 'a/.dsh/WATCHDOG.md', 'a/WATCHDOG.md'])
})

test('a session without a working folder, or whose folder is gone, has the user\'s files', async () => {
  await space.write({ 'home/.dsh/WATCHDOG.md': 'Mine.' })
  const reader = new RosterReader({ dshHome: space.dshHome, home: space.home, cwd: undefined }, space.trust)
  expect((await reader.read([])).files.map(file => file.label)).toEqual(['~/.dsh/WATCHDOG.md'])
  expect(await labels(join(space.root, 'gone/for/good'))).toEqual(['~/.dsh/WATCHDOG.md'])
})

test('a repository that appears changes what is read', async () => {
  await space.write({ 'home/WATCHDOG.md': 'Home.', 'home/work/WATCHDOG.md': 'Work.' })
  const reader = space.reader(join(space.home, 'work'))
  expect((await reader.read([])).files.map(file => file.path)).toEqual([join(space.home, 'WATCHDOG.md'), join(space.home, 'work/WATCHDOG.md')])
  await mkdir(join(space.home, 'work/.git'))
  expect((await reader.read([])).files.map(file => file.path)).toEqual([join(space.home, 'work/WATCHDOG.md')])
  await rename(join(space.home, 'work'), join(space.home, 'away'))
  expect((await reader.read([])).files.map(file => file.path)).not.toContain(join(space.home, 'work/WATCHDOG.md'))
})
