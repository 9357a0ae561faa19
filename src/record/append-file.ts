// A file that only grows, opened for one batch of lines: private to the user, at the place it says, ending in a whole line.

import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

/** An open file to append to. */
export interface AppendTarget {
  /** A process died in the middle of the last line: a newline has to come first. */
  readonly torn: boolean
  /** Write all of it at the end of the file, in one call. @returns how many bytes were taken. */
  write(bytes: Uint8Array): Promise<number>
  /** Whether the file was taken away since it was opened, and what was written with it. */
  isGone(): Promise<boolean>
  close(): Promise<void>
}

export type OpenToAppend = (folder: string, name: string) => Promise<AppendTarget>

/** The place is not ours to write to: it will not be tried again. */
export class Refused extends Error {}

const NEWLINE = 10
// Both are unknown on Windows, where a link is found by looking only.
const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

/**
 * Open a file in a folder that is made if it is missing; neither may be a link to somewhere else.
 * @throws {Refused} when one of them is; what the file system says otherwise.
 */
export const openToAppend: OpenToAppend = async (folder, name) => {
  const path = join(folder, name)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if ((await lstat(folder)).isSymbolicLink()) throw new Refused(`${folder} is a link`)
  refuseOdd(path, await lookAt(path))
  const handle = await open(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    const stats = await handle.stat()
    refuseOdd(path, stats)
    return target(handle, await isTorn(handle, stats.size))
  } catch (error) {
    await handle.close()
    throw error
  }
}

function target(handle: FileHandle, torn: boolean): AppendTarget {
  return {
    torn,
    async write(bytes) {
      const { bytesWritten } = await handle.write(bytes, 0, bytes.length)
      return bytesWritten
    },
    async isGone() {
      return (await handle.stat()).nlink === 0
    },
    close: () => handle.close(),
  }
}

/** Another process that is writing just now looks the same; the newline then makes an empty line, which is none. */
async function isTorn(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false
  const last = Buffer.alloc(1)
  await handle.read(last, 0, 1, size - 1)
  return last[0] !== NEWLINE
}

async function lookAt(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function refuseOdd(path: string, stats: Stats | undefined): void {
  if (stats?.isSymbolicLink() === true) throw new Refused(`${path} is a link`)
  if (stats?.isFile() === false) throw new Refused(`${path} is no file`)
}
