// A file of its own for each text, private to the user: never one that is there already, and never through a link.

import { lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localDay } from '../clock.ts'
import { errorMessage } from '../text.ts'

export type Written =
  /** `instead`: why it is not in the folder that was asked for but in the host's temporary one. */
  | { readonly kind: 'written', readonly path: string, readonly instead?: string }
  | { readonly kind: 'failed', readonly reason: string }

/** Files of the same second; after so many something else is wrong. */
const SAME_NAME_LIMIT = 100

/**
 * Write a text into a new file.
 * @param folder - made if it is missing; what cannot be written there goes into the host's temporary folder.
 * @param name - without its ending; a number is added when there is such a file.
 */
export async function writeNew(folder: string, name: string, ending: string, text: string): Promise<Written> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if ((await lstat(folder)).isSymbolicLink()) throw new Error(`${folder} is a link`)
    return { kind: 'written', path: await write(folder, name, ending, text) }
  } catch (error) {
    const instead = errorMessage(error)
    try {
      return { kind: 'written', path: await write(await mkdtemp(join(tmpdir(), 'dsh-advisor-')), name, ending, text), instead }
    } catch (second) {
      return { kind: 'failed', reason: `${instead}; ${errorMessage(second)}` }
    }
  }
}

async function write(folder: string, name: string, ending: string, text: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const path = join(folder, `${name}${count === 1 ? '' : `-${count}`}${ending}`)
    try {
      await writeFile(path, text, { flag: 'wx', mode: 0o600 })
      return path
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST'
      // A half of it, on a full disk, is not left behind.
      if (!isTaken) await rm(path, { force: true }).catch(() => {})
      if (!isTaken || count >= SAME_NAME_LIMIT) throw error
    }
  }
}

/** A local time as it stands in a file's name. @param at - milliseconds since the epoch. */
export function timeInName(at: number): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${localDay(at)}-${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`
}
