import path from 'node:path'
import type { PlatformPath } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isInside } from '../../src/paths.ts'
import { locate, type Disk, type Place } from '../../src/review/tools/confine.ts'

/** What is where: path → where its links lead, or the code with which looking at it fails. Everything else is absent. */
type Entries = Readonly<Record<string, string | { readonly code: string }>>

function disk(flavour: PlatformPath, entries: Entries): Disk & { readonly touched: string[] } {
  const key = (value: string) => flavour.sep === '\\' ? value.toLowerCase() : value
  const known = new Map(Object.entries(entries).map(([from, to]) => [key(from), to]))
  const touched: string[] = []
  return {
    path: flavour,
    touched,
    async realpath(asked) {
      touched.push(asked)
      const entry = known.get(key(asked))
      if (typeof entry === 'string') return entry
      throw Object.assign(new Error('no'), { code: entry?.code ?? 'ENOENT' })
    },
  }
}

const POSIX: Entries = {
  '/': '/', '/repo': '/repo', '/repo/src': '/repo/src', '/repo/src/a.ts': '/repo/src/a.ts', '/repo/..foo': '/repo/..foo',
  '/repo/... ': '/repo/... ', '/repo/out': '/etc', '/repo/out/passwd': '/etc/passwd', '/repo/in': '/repo/src',
  '/repo/deep': '/elsewhere/deep', '/etc': '/etc', '/etc/passwd': '/etc/passwd', '/repository': '/repository',
  '/repo/locked/x': { code: 'EACCES' }, '/repo/loop': { code: 'ELOOP' }, '/repo/src/a.ts/b': { code: 'ENOTDIR' },
}

const ROOT = { named: '/repo', real: '/repo' }

describe('on Linux and macOS', () => {
  const cases: readonly [string, Place['kind'], string][] = [
    ['src/a.ts', 'inside', 'src/a.ts'],
    ['.', 'inside', '.'],
    ['/repo/src/a.ts', 'inside', 'src/a.ts'],
    ['src/../src/./a.ts', 'inside', 'src/a.ts'],
    ['..foo', 'inside', '..foo'],
    ['in/../src', 'inside', 'src'],
    ['in', 'inside', 'src'],
    ['..', 'refused', 'outside'],
    ['../repo/../etc/passwd', 'refused', 'outside'],
    ['/etc/passwd', 'refused', 'outside'],
    ['/repository', 'refused', 'outside'],
    ['out', 'refused', 'outside'],
    ['out/passwd', 'refused', 'outside'],
    ['out/nothing', 'refused', 'outside'],
    ['deep/new/file', 'refused', 'outside'],
    ['../gone/file', 'refused', 'outside'],
    ['src/gone.ts', 'missing', 'there is no "src/gone.ts"'],
    ['gone/deeper/gone.ts', 'missing', 'there is no "gone/deeper/gone.ts"'],
    ['src/a.ts/b', 'missing', 'there is no'],
    ['locked/x', 'refused', 'no permission'],
    ['loop', 'refused', 'a link that leads to itself'],
    ['', 'refused', 'empty'],
    ['  ', 'refused', 'empty'],
    ['src/\0a.ts', 'refused', 'NUL'],
    ['C:\\Windows', 'missing', 'there is no'],
  ]
  it.each(cases)('judges %j: %s, %s', async (asked, kind, text) => {
    const place = await locate(asked, ROOT, disk(path.posix, POSIX))
    expect(place.kind).toBe(kind)
    expect(place.kind === 'inside' ? place.shown : place.reason).toContain(text)
  })

  it('accepts the folder by the name of a link to it, and by its real name', async () => {
    const links = disk(path.posix, { '/': '/', '/tmp/w': '/private/w', '/tmp/w/a': '/private/w/a', '/private/w/a': '/private/w/a' })
    const root = { named: '/tmp/w', real: '/private/w' }
    for (const asked of ['a', '/tmp/w/a', '/private/w/a']) {
      expect(await locate(asked, root, links)).toEqual({ kind: 'inside', real: '/private/w/a', shown: 'a' })
    }
  })

  it('takes the root of the disk for a workspace like any other', async () => {
    expect(await locate('/etc/passwd', { named: '/', real: '/' }, disk(path.posix, POSIX))).toMatchObject({ kind: 'inside', shown: 'etc/passwd' })
  })
})

describe('on Windows', () => {
  const entries: Entries = {
    'C:\\': 'C:\\', 'C:\\Repo': 'C:\\Repo', 'C:\\Repo\\src\\A.ts': 'C:\\Repo\\src\\A.ts', 'C:\\Repo\\..foo': 'C:\\Repo\\..foo',
    'C:\\Repo\\junction': 'D:\\other', 'C:\\Repo\\share': '\\\\server\\share\\x', 'C:\\Repository': 'C:\\Repository',
    'C:\\Windows\\win.ini': 'C:\\Windows\\win.ini', 'S:\\src\\A.ts': 'C:\\Repo\\src\\A.ts', 'D:\\': 'D:\\',
  }
  const cases: readonly [string, Place['kind'], string][] = [
    ['src\\A.ts', 'inside', 'src\\A.ts'],
    ['src/A.ts', 'inside', 'src\\A.ts'],
    ['SRC\\a.TS', 'inside', 'src\\A.ts'],
    ['c:\\rEPO\\src\\a.ts', 'inside', 'src\\A.ts'],
    ['..foo', 'inside', '..foo'],
    ['..\\Repository', 'refused', 'outside'],
    ['C:\\Windows\\win.ini', 'refused', 'outside'],
    ['\\Windows\\win.ini', 'refused', 'outside'],
    ['D:\\other', 'refused', 'outside'],
    ['junction', 'refused', 'outside'],
    ['share', 'refused', 'outside'],
    ['C:win.ini', 'refused', 'current folder of a drive'],
    ['src\\A.ts:hidden', 'refused', 'not the name of a file'],
    ['CON', 'refused', 'not the name of a file'],
    ['src\\nul.txt', 'refused', 'not the name of a file'],
    ['src\\console.ts', 'missing', 'there is no'],
    ['src\\gone.ts', 'missing', 'there is no'],
  ]
  it.each(cases)('judges %j: %s, %s', async (asked, kind, text) => {
    const place = await locate(asked, { named: 'C:\\Repo', real: 'C:\\Repo' }, disk(path.win32, entries))
    expect(place.kind).toBe(kind)
    expect(place.kind === 'inside' ? place.shown : place.reason).toContain(text)
  })

  it.each(['\\\\server\\share\\x', '//server/share/x', '\\\\?\\C:\\Repo\\src', '\\\\.\\pipe\\x', 'E:\\x'])('does not even look at %j', async (asked) => {
    const looked = disk(path.win32, entries)
    expect((await locate(asked, { named: 'C:\\Repo', real: 'C:\\Repo' }, looked)).kind).toBe('refused')
    expect(looked.touched).toEqual([])
  })

  it('knows a workspace on a substituted drive by both its names', async () => {
    const root = { named: 'S:\\', real: 'C:\\Repo' }
    for (const asked of ['src\\A.ts', 'C:\\Repo\\src\\A.ts']) {
      expect(await locate(asked, root, disk(path.win32, entries))).toMatchObject({ kind: 'inside', shown: 'src\\A.ts' })
    }
  })
})

it('counts a folder as inside itself, and no neighbour with a longer name', () => {
  expect(isInside('/a/b', '/a/b', path.posix)).toBe(true)
  expect(isInside('/a/b/..c/d', '/a/b', path.posix)).toBe(true)
  expect(isInside('/a/bc', '/a/b', path.posix)).toBe(false)
  expect(isInside('/a', '/a/b', path.posix)).toBe(false)
})
