// The few calls that the roster makes to the file system, and how bytes become text. Knows no WATCHDOG rule.

import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Bytes of one file that are read. */
export const FILE_LIMIT = 64 * 1024

export interface Stats {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  isFile(): boolean
  isDirectory(): boolean
}

/** The calls that are made; each rejects as `node:fs` does. */
export interface Disk {
  stat(path: string): Promise<Stats>
  realpath(path: string): Promise<string>
  /** The first bytes of a file, `limit` at most. */
  head(path: string, limit: number): Promise<Uint8Array>
}

/** Never follows a link and never waits for a pipe's other end: the path was resolved and looked at just before. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

export const systemDisk: Disk = {
  stat: path => stat(path, { bigint: true }),
  realpath: path => realpath(path),
  async head(path, limit) {
    const file = await open(path, OPEN_FLAGS)
    try {
      const bytes = new Uint8Array(limit)
      let filled = 0
      while (filled < limit) {
        const { bytesRead } = await file.read(bytes, filled, limit - filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return bytes.subarray(0, filled)
    } finally {
      await file.close()
    }
  },
}

/**
 * Put a file in its place whole: written beside it and moved, so that no reader and no crash ever sees a half of it.
 * @param mode - of the file; without it, what a new file gets.
 * @param mayReplace - asked last, when all but the move is done.
 * @returns whether it was put there.
 * @throws what the file system says; then nothing was changed.
 */
export async function putWhole(
  path: string, bytes: Uint8Array, mode: number | undefined, mayReplace: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`)
  try {
    const file = await open(draft, 'wx', mode ?? 0o644)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    // The process's mask has narrowed the mode above, maybe of the owner's own bits.
    if (mode !== undefined) await chmod(draft, mode)
    if (!await mayReplace()) return false
    await rename(draft, path)
    return true
  } finally {
    // Gone already when it took the file's place.
    await rm(draft, { force: true }).catch(() => {})
  }
}

/** Text with `\n` for line breaks, or why there is none. `cut` when bytes beyond the limit were left out. */
export type Decoded = { readonly kind: 'text', readonly text: string, readonly cut: boolean } | { readonly kind: 'refused', readonly reason: string }

/** Decode the head of a file, {@link FILE_LIMIT} and one byte more: UTF-8, or UTF-16 that says so by its byte order mark. */
export function decode(bytes: Uint8Array): Decoded {
  const cut = bytes.length > FILE_LIMIT
  const kept = cut ? bytes.subarray(0, FILE_LIMIT) : bytes
  const encoding = kept[0] === 0xff && kept[1] === 0xfe ? 'utf-16le' : kept[0] === 0xfe && kept[1] === 0xff ? 'utf-16be' : 'utf-8'
  let text: string
  try {
    // A character that the limit cut in two is left out, not refused.
    text = new TextDecoder(encoding, { fatal: true }).decode(kept, { stream: cut })
  } catch {
    return { kind: 'refused', reason: `is not ${encoding.toUpperCase()} text` }
  }
  if (text.includes('\0')) return { kind: 'refused', reason: 'holds NUL bytes: UTF-8 is expected, or UTF-16 with a byte order mark' }
  return { kind: 'text', text: text.replace(/\r\n?/g, '\n'), cut }
}
