// One file of the workspace as it is now, for checking a quote. Confined as the reviewer's own reads are.

import { open, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { locate } from './confine.ts'

/** Bytes of a file that are looked at. */
const FILE_LIMIT = 2_000_000

/**
 * The text of a file inside `cwd`, links followed.
 * @param asked - relative to `cwd`, or absolute; a `:12` or `:12-20` behind it is passed over.
 * @returns undefined when it cannot be read, is no file, or lies elsewhere. Never rejects.
 */
export async function readWithin(cwd: string | undefined, asked: string): Promise<string | undefined> {
  if (cwd === undefined) return undefined
  try {
    const root = { named: cwd, real: await realpath(cwd) }
    const place = await locate(asked.replace(/:\d+(?:-\d+)?$/, ''), root, { path, realpath })
    if (place.kind !== 'inside') return undefined
    // Looked at before it is opened: opening a pipe would wait for a writer.
    const { size } = await stat(place.real).then(info => info.isFile() ? info : { size: 0 })
    if (size === 0) return undefined
    await using file = await open(place.real, 'r')
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, FILE_LIMIT)), 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return undefined
  }
}
