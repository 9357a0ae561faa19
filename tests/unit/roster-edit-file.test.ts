/** Roster files on a real disk: written whole or not at all, and never over the work of somebody else. */
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openToEdit, removeEdited, saveEdited, type OpenFile } from '../../src/roster/edit-file.ts'

let root: string
let path: string

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'advisor-edit-')))
  path = join(root, 'WATCHDOG.yml')
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function opened(at = path): Promise<OpenFile> {
  const opening = await openToEdit(at, root)
  if (opening.kind !== 'file') throw new Error(opening.reason)
  return opening.file
}

async function reason(): Promise<string> {
  const opening = await openToEdit(path, root)
  return opening.kind === 'refused' ? opening.reason : 'opened'
}

test('a save replaces the file in one step, keeps its mode and leaves nothing else behind', async () => {
  await writeFile(path, 'old\n')
  await chmod(path, 0o640)
  const before = await stat(path)
  expect(await saveEdited(await opened(), 'new\n')).toEqual({ kind: 'saved' })
  const after = await stat(path)
  expect(await readFile(path, 'utf8')).toBe('new\n')
  expect(after.mode).toBe(before.mode)
  expect(after.ino).not.toBe(before.ino)
  expect(await readdir(root)).toEqual(['WATCHDOG.yml'])
})

test('the same text is not written', async () => {
  await writeFile(path, '\ufeffold\r\n')
  const before = await stat(path)
  const file = await opened()
  expect(file.text).toBe('\ufeffold\r\n')
  expect(await saveEdited(file, file.text)).toEqual({ kind: 'saved' })
  expect(await stat(path)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
})

test('a file that is not there is made, with its folder', async () => {
  const deep = join(root, 'a', 'WATCHDOG.yml')
  expect(await saveEdited(await opened(deep), 'new\n')).toEqual({ kind: 'saved' })
  expect(await readFile(deep, 'utf8')).toBe('new\n')
})

test.each<[string, () => Promise<unknown>]>([
  ['written', () => writeFile(path, 'theirs\n')],
  ['taken away', () => rm(path)],
  ['replaced by a link', async () => {
    await rename(path, join(root, 'other.yml'))
    await symlink('other.yml', path)
  }],
])('a file that was %s since it was read is neither overwritten nor removed', async (_, meddle) => {
  await writeFile(path, 'old\n')
  const file = await opened()
  await meddle()
  const left = await readFile(path, 'utf8').catch(() => undefined)
  expect(await saveEdited(file, 'new\n')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('changed by someone else') })
  expect(await removeEdited(file)).toMatchObject({ kind: 'refused' })
  expect(await readFile(path, 'utf8').catch(() => undefined)).toBe(left)
})

test('a file that has appeared since then is not overwritten', async () => {
  const file = await opened()
  await writeFile(path, 'theirs\n')
  expect(await saveEdited(file, 'new\n')).toMatchObject({ kind: 'refused' })
  expect(await readFile(path, 'utf8')).toBe('theirs\n')
})

test('a link inside the project is followed, and stays one', async () => {
  await mkdir(join(root, 'config'))
  await writeFile(join(root, 'config', 'w.yml'), 'old\n')
  await symlink(join('config', 'w.yml'), path)
  expect(await saveEdited(await opened(), 'new\n')).toEqual({ kind: 'saved' })
  expect(await readFile(join(root, 'config', 'w.yml'), 'utf8')).toBe('new\n')
  expect((await lstat(path)).isSymbolicLink()).toBe(true)
})

test('what is no readable text file of the project is not opened, each with its reason', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'advisor-outside-'))
  await writeFile(join(outside, 'w.yml'), 'theirs\n')
  await symlink(join(outside, 'w.yml'), path)
  expect(await reason()).toBe('is a link that leads out of the project')
  expect((await openToEdit(path, undefined)).kind).toBe('file')
  await rm(outside, { recursive: true })
  expect(await reason()).toBe('is a link that leads nowhere')
  await rm(path)
  await symlink('WATCHDOG.yml', path)
  expect(await reason()).toContain('cannot be read')
  await rm(path)
  await mkdir(path)
  expect(await reason()).toBe('is not a regular file')
  await rm(path, { recursive: true })
  await writeFile(path, Buffer.from([0xff, 0xfe, 0x61, 0]))
  expect(await reason()).toBe('cannot be read: it is not UTF-8 text')
  await writeFile(path, 'x'.repeat(65 * 1024))
  expect(await reason()).toBe('is larger than 64 kB')
})

test('a folder that takes no file is a reason and not a fault', async () => {
  const blocked = join(root, 'file')
  await writeFile(blocked, '')
  const file = { path: join(blocked, 'WATCHDOG.yml'), real: join(blocked, 'WATCHDOG.yml'), text: '', bytes: undefined, mode: undefined }
  expect(await saveEdited(file, 'new\n')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('cannot be written') })
})

test('a file is removed when it is as it was read', async () => {
  await writeFile(path, 'old\n')
  expect(await removeEdited(await opened())).toEqual({ kind: 'saved' })
  expect(await readdir(root)).toEqual([])
})
