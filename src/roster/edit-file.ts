// A roster file on disk while it is edited: read whole, written whole or not at all, and only if nobody else has written it meanwhile.

import { lstat, mkdir, readFile, realpath, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isInside } from '../paths.ts'
import { errorMessage } from '../text.ts'
import { FILE_LIMIT, putWhole } from './disk.ts'

/** A file as it was read. One that is not there yet is an empty text. */
export interface OpenFile {
  /** Where it is looked for. */
  readonly path: string
  /** Where its bytes are, links resolved. */
  readonly real: string
  readonly text: string
  /** As read; none when there is no file yet. */
  readonly bytes: Buffer | undefined
  readonly mode: number | undefined
}

/** A file, or why it is left alone. */
export type Opening = { readonly kind: 'file', readonly file: OpenFile } | Refusal

/** Done, or why not; then nothing was changed. */
export type Saving = { readonly kind: 'saved' } | Refusal

interface Refusal {
  readonly kind: 'refused'
  readonly reason: string
}

/**
 * Read a file to edit it.
 * @param fence - real folder in which it has to lie after links are resolved; none for the user's own file.
 */
export async function openToEdit(path: string, fence: string | undefined): Promise<Opening> {
  try {
    const real = await resolve(path)
    if (real === undefined) return refused('is a link that leads nowhere')
    if (fence !== undefined && !isInside(real, fence)) return refused('is a link that leads out of the project')
    const stats = await stat(real).catch(ifAbsent)
    if (stats === undefined) return { kind: 'file', file: { path, real, text: '', bytes: undefined, mode: undefined } }
    if (!stats.isFile()) return refused('is not a regular file')
    if (stats.size > FILE_LIMIT) return refused(`is larger than ${FILE_LIMIT / 1024} kB`)
    const bytes = await readFile(real)
    return { kind: 'file', file: { path, real, text: decode(bytes), bytes, mode: stats.mode & 0o7777 } }
  } catch (error) {
    return refused(`cannot be read: ${errorMessage(error)}`)
  }
}

/** Put a text in the place of what was read. */
export async function saveEdited(file: OpenFile, text: string): Promise<Saving> {
  const bytes = Buffer.from(text, 'utf8')
  if (file.bytes?.equals(bytes) === true) return { kind: 'saved' }
  return ifUntouched(file, async () => {
    await mkdir(dirname(file.real), { recursive: true })
    return await putWhole(file.real, bytes, file.mode, () => isUntouched(file)) ? { kind: 'saved' } : CHANGED
  })
}

/** Take the file away. */
export async function removeEdited(file: OpenFile): Promise<Saving> {
  return ifUntouched(file, async () => {
    await unlink(file.real)
    return { kind: 'saved' }
  })
}

const CHANGED: Refusal = { kind: 'refused', reason: 'was changed by someone else in the meantime' }

async function ifUntouched(file: OpenFile, work: () => Promise<Saving>): Promise<Saving> {
  try {
    return await isUntouched(file) ? await work() : CHANGED
  } catch (error) {
    return refused(`cannot be written: ${errorMessage(error)}`)
  }
}

async function isUntouched(file: OpenFile): Promise<boolean> {
  if (await resolve(file.path) !== file.real) return false
  const now = await readFile(file.real).catch(ifAbsent)
  return now === undefined || file.bytes === undefined ? now === file.bytes : now.equals(file.bytes)
}

/** The real path, also of a file that is not there yet; none for a link that leads nowhere. */
async function resolve(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(ifAbsent)
  if (real !== undefined) return real
  if (await lstat(path).catch(ifAbsent) !== undefined) return undefined
  return join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path))
}

/** @throws what is not the absence of a file. */
function ifAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
  return undefined
}

/** @throws when the bytes are not UTF-8. A byte order mark is part of the text. */
function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error('it is not UTF-8 text')
  }
}

function refused(reason: string): Refusal {
  return { kind: 'refused', reason }
}
