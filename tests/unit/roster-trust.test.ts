/** Who trusts what: folders of the settings, and requests that the user granted. */
import { chmod, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { rosterOf, Workspace } from './support/workspace.ts'
import { TrustStore, trustedFolders } from '../../src/roster/trust.ts'

let space: Workspace
beforeEach(async () => {
  space = await Workspace.create()
  await space.write({ 'home/repo/WATCHDOG.yml': FIXER })
})
afterEach(() => space.remove())

const FIXER = rosterOf('{ name: Fixer, model: p/big, tools: [read, bash] }')
const granted = { provider: 'p', model: 'big', tools: ['read', 'bash'] }
const overlay = async (...trusted: string[]) => (await space.read(undefined, trusted)).advisors[0]?.overlay
const isGranted = async (...trusted: string[]) => (await overlay(...trusted))?.model === 'big'

describe('trusted folders', () => {
  test('a file in none of them gets neither model nor further tools', async () => {
    const roster = await space.read()
    expect(roster.advisors[0]?.overlay).toEqual({ tools: ['read'] })
    expect(roster.requests).toHaveLength(2)
    expect(roster.files[0]).toMatchObject({ trust: 'missing' })
    expect(roster.trouble).toEqual([expect.stringMatching(/^WATCHDOG.yml: not trusted \(`\/advisor trust` .*Fixer: model p\/big; Fixer: tools bash$/)])
  })

  test.each([
    ['the repository itself', () => [space.repo]],
    ['a folder above it', () => [space.home]],
    ['the root of everything', () => ['/']],
    ['a folder below `~`', () => [' ~/repo ']],
    ['all of `~`', () => ['~']],
    ['one of many', () => ['/nowhere', 'relative', join(space.repo, '..', 'repo')]],
  ])('%s is trusted', async (_, trusted) => {
    expect(await overlay(...trusted())).toEqual(granted)
    expect((await space.read(undefined, trusted())).files[0]).toMatchObject({ trust: 'granted' })
  })

  test.each([
    ['nothing', () => []],
    ['a folder beside it', () => [join(space.home, 'other')]],
    ['a folder below it', () => [join(space.repo, 'src')]],
    ['a folder whose name begins alike', () => [join(space.home, 'rep')]],
    ['a relative path, whatever it leads to', () => ['.', 'repo']],
    ['an empty text', () => ['', ' ']],
  ])('%s does not trust it', async (_, trusted) => {
    expect(await isGranted(...trusted())).toBe(false)
  })

  test('a link is the folder that it leads to, whichever of the two is a link', async () => {
    await symlink(space.repo, join(space.root, 'link'))
    expect(await isGranted(join(space.root, 'link'))).toBe(true)
    const linked = await space.reader(join(space.root, 'link')).read([join(space.root, 'link')])
    expect(linked.advisors[0]?.overlay).toEqual(granted)
  })

  test('a link in a trusted folder to a clone elsewhere does not make the clone trusted', async () => {
    await mkdir(join(space.home, 'trusted'))
    await symlink(space.repo, join(space.home, 'trusted/clone'))
    const roster = await space.reader(join(space.home, 'trusted/clone')).read([join(space.home, 'trusted')])
    expect(roster.advisors[0]?.overlay).toEqual({ tools: ['read'] })
  })

  test('a file that a trusted folder links to from the rest of the repository is not trusted', async () => {
    await mkdir(join(space.repo, 'good'))
    await mkdir(join(space.repo, 'evil'))
    await rename(join(space.repo, 'WATCHDOG.yml'), join(space.repo, 'evil/WATCHDOG.yml'))
    await symlink(join(space.repo, 'evil/WATCHDOG.yml'), join(space.repo, 'good/WATCHDOG.yml'))
    const roster = await space.reader(join(space.repo, 'good')).read([join(space.repo, 'good')])
    expect(roster.advisors[0]?.overlay).toEqual({ tools: ['read'] })
  })

  test('a path that is not absolute is said to trust nothing', async () => {
    expect((await space.read(undefined, ['repo', '/'])).trouble).toEqual(['trustedWorkspaces: "repo" is no absolute path and trusts nothing'])
    expect(trustedFolders(['~', '~/a', '/b/../c', 'd', '~other'], '/home/u')).toEqual({ folders: ['/home/u', '/home/u/a', '/c'], wrong: ['d', '~other'] })
  })

  test('the user\'s own files need no trust', async () => {
    await space.write({ 'home/.dsh/WATCHDOG.yml': FIXER, 'home/repo/WATCHDOG.yml': '' })
    expect(await overlay()).toEqual(granted)
  })

  test('a change of the setting counts with the next read', async () => {
    const reader = space.reader()
    const before = await reader.read([])
    const after = await reader.read([space.repo])
    expect(before.advisors[0]?.overlay).toEqual({ tools: ['read'] })
    expect(after.advisors[0]?.overlay).toEqual(granted)
    expect(await reader.read([space.repo])).toBe(after)
    expect((await reader.read([])).advisors[0]?.overlay).toEqual({ tools: ['read'] })
  })
})

describe('what the user granted', () => {
  test('counts with the next read, for other sessions and after a restart', async () => {
    const reader = space.reader()
    const { requests } = await reader.read([])
    await space.trust.remember(requests)
    expect(await reader.read([])).toMatchObject({ advisors: [{ overlay: granted }], requests: [], trouble: [], files: [{ trust: 'granted' }] })
    const other = new TrustStore(space.dshHome)
    expect(await other.has(join(space.repo, 'WATCHDOG.yml'), requests)).toBe(true)
  })

  test.each([
    ['another model', FIXER.replace('big', 'bigger')],
    ['an effort', FIXER.replace('p/big', 'p/big:high')],
    ['one more tool', FIXER.replace('bash', 'bash, write')],
    ['one tool less', FIXER.replace(', bash', '')],
    ['another advisor', FIXER.replace('Fixer', 'Other')],
    ['one more advisor', `${FIXER}  - { name: Second, tools: [bash] }\n`],
  ])('is asked for again when the file comes to ask for %s', async (_, text) => {
    await space.trust.remember((await space.read()).requests)
    await space.write({ 'home/repo/WATCHDOG.yml': text })
    const roster = await space.read()
    expect(roster.requests).not.toEqual([])
    for (const { overlay: given } of roster.advisors) expect([given.model, given.tools?.includes('bash')]).toEqual([undefined, false])
  })

  test('stays granted while the file asks for the same', async () => {
    await space.trust.remember((await space.read()).requests)
    await space.write({ 'home/repo/WATCHDOG.yml': `# A comment.\ninstructions: New.\n${FIXER}  - { name: Plain }\n` })
    expect(await isGranted()).toBe(true)
  })

  test('is granted to that file alone', async () => {
    await space.trust.remember((await space.read()).requests)
    await space.write({ 'home/repo/a/WATCHDOG.yml': FIXER })
    const { advisors } = await space.reader(join(space.repo, 'a')).read([])
    expect(advisors).toMatchObject([{ overlay: { tools: ['read'] }, file: join(space.repo, 'a/WATCHDOG.yml') }])
  })

  test('can be taken back', async () => {
    const reader = space.reader()
    await space.trust.remember((await reader.read([])).requests)
    expect((await reader.read([])).requests).toEqual([])
    await space.trust.forget([join(space.repo, 'WATCHDOG.yml')])
    expect((await reader.read([])).requests).toHaveLength(2)
  })

  test('of an untrusted file is not what it takes from the user\'s advisor of the same name', async () => {
    await space.write({ 'home/.dsh/WATCHDOG.yml': FIXER, 'home/repo/WATCHDOG.yml': rosterOf('{ name: Fixer, tools: [bash, read] }') })
    const { advisors, trouble } = await space.read()
    expect(advisors).toMatchObject([{ overlay: { tools: ['read'] }, file: join(space.repo, 'WATCHDOG.yml') }])
    expect(advisors[0]?.overlay.model).toBeUndefined()
    expect(trouble).toContain('WATCHDOG.yml:2: its advisor "Fixer" replaces your own of ~/.dsh/WATCHDOG.yml')
  })
})

describe('the memory', () => {
  const request = (file: string) => [{ file, advisor: 'A', wish: 'tools bash' }]

  test.skipIf(process.platform === 'win32')('is the user\'s alone and leaves nothing half written behind', async () => {
    await space.trust.remember(request('/a'))
    expect((await stat(space.trust.path)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(space.trust.path))).mode & 0o777).toBe(0o700)
    expect(await readdir(dirname(space.trust.path))).toEqual(['trusted.json'])
    await chmod(space.trust.path, 0o644)
    await space.trust.remember(request('/b'))
    expect((await stat(space.trust.path)).mode & 0o777).toBe(0o600)
  })

  test('keeps every one of many grants made at the same time', async () => {
    const files = Array.from({ length: 20 }, (_, index) => `/f${index}`)
    await Promise.all(files.map(file => space.trust.remember(request(file))))
    for (const file of files) expect(await space.trust.has(file, request(file))).toBe(true)
  })

  test.each(['', '{', '[]', 'null', '{"trusted": []}', '{"trusted": {"/a": 1}}', '{"trusted": {"/a": {}}}'])('that holds %j grants nothing and is written anew', async (text) => {
    await mkdir(dirname(space.trust.path), { recursive: true })
    await writeFile(space.trust.path, text)
    expect(await space.trust.has('/a', request('/a'))).toBe(false)
    await space.trust.remember(request('/a'))
    expect(await space.trust.has('/a', request('/a'))).toBe(true)
  })

  test('that cannot be written says so, and the next grant is tried all the same', async () => {
    await writeFile(dirname(space.trust.path), 'a file')
    await expect(space.trust.remember(request('/a'))).rejects.toThrow()
    await rename(dirname(space.trust.path), join(space.root, 'away'))
    await space.trust.remember(request('/a'))
    expect(await space.trust.has('/a', request('/a'))).toBe(true)
  })

  test('holds no path of the requests but a hash, and no grant for who asks for nothing', async () => {
    await space.trust.remember(request('/a'))
    expect(await readFile(space.trust.path, 'utf8')).not.toContain('bash')
    expect(await space.trust.has('/a', [])).toBe(true)
    expect(await space.trust.has('__proto__', request('__proto__'))).toBe(false)
  })
})
