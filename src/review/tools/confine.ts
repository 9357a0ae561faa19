// Where a path of the reviewer's may lead: inside the session's folder, links followed. Decides about paths; opens no file.

import type { PlatformPath } from 'node:path'
import { isInside } from '../../paths.ts'
import { printable, truncate } from '../../text.ts'

/** The disk, as far as confinement needs it. */
export interface Disk {
  /** `posix` or `win32`. */
  readonly path: PlatformPath
  /** The path with all links followed. Rejects as `fs.realpath` does, with a `code`. */
  realpath(path: string): Promise<string>
}

/** The folder a reviewer may look into. */
export interface Root {
  /** As the session names it; absolute. */
  readonly named: string
  /** With all links followed. */
  readonly real: string
}

export type Place =
  /** It exists. `real` is what to open; `shown` is relative to the root, `.` for the root itself. */
  | { readonly kind: 'inside', readonly real: string, readonly shown: string }
  | { readonly kind: 'missing', readonly reason: string }
  | { readonly kind: 'refused', readonly reason: string }

/** Segments that name a device on Windows, whatever their extension. */
const DEVICES = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i
/** `C:name` depends on where the process stands on that drive. */
const DRIVE_RELATIVE = /^[a-z]:(?![\\/])/i

/** Find out where `asked` leads. Never rejects. A file that is not there is judged by the nearest folder that is. */
export async function locate(asked: string, root: Root, disk: Disk): Promise<Place> {
  const { path } = disk
  const malformed = malformation(asked, path)
  if (malformed !== undefined) return { kind: 'refused', reason: malformed }
  const absolute = path.resolve(root.named, asked)
  const outside = { kind: 'refused' as const, reason: `${quote(asked)} is outside the workspace` }
  // Not even looked at: on Windows the look itself would log in to another machine.
  if (path.sep === '\\' && !sharesVolume(absolute, root, path)) return outside
  let missing = false
  for (let at = absolute; ; at = path.dirname(at)) {
    const found = await resolveLinks(at, disk)
    if (found.kind === 'real') {
      if (!isInside(found.path, root.real, path)) return outside
      if (missing) return { kind: 'missing', reason: `there is no ${quote(asked)}` }
      return { kind: 'inside', real: found.path, shown: showPath(root.real, found.path, path) }
    }
    if (found.kind === 'failed') return { kind: 'refused', reason: `${quote(asked)}: ${found.reason}` }
    missing = true
    if (path.dirname(at) === at) return outside
  }
}

/** A path below the root as it is shown. */
export function showPath(root: string, target: string, path: PlatformPath): string {
  return path.relative(root, target) || '.'
}

function malformation(asked: string, path: PlatformPath): string | undefined {
  if (asked.trim() === '') return 'the path is empty'
  if (asked.includes('\0')) return 'the path holds a NUL character'
  if (path.sep !== '\\') return undefined
  if (DRIVE_RELATIVE.test(asked)) return `${quote(asked)} depends on the current folder of a drive; write the whole path`
  const segments = asked.replace(/^[a-z]:/i, '').split(/[\\/]/)
  if (segments.some(segment => segment.includes(':') || DEVICES.test(segment))) return `${quote(asked)} is not the name of a file`
  return undefined
}

function sharesVolume(target: string, root: Root, path: PlatformPath): boolean {
  const volume = (of: string) => path.parse(of).root.toLowerCase()
  return volume(target) === volume(root.named) || volume(target) === volume(root.real)
}

type Resolved =
  | { readonly kind: 'real', readonly path: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed', readonly reason: string }

async function resolveLinks(path: string, disk: Disk): Promise<Resolved> {
  try {
    return { kind: 'real', path: await disk.realpath(path) }
  } catch (error) {
    const code = (error as { code?: unknown } | undefined)?.code
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' }
    return { kind: 'failed', reason: TROUBLE[String(code)] ?? `cannot be resolved (${String(code)})` }
  }
}

const TROUBLE: Readonly<Record<string, string>> = {
  EACCES: 'no permission',
  EPERM: 'no permission',
  ELOOP: 'a link that leads to itself',
  ENAMETOOLONG: 'the name is too long',
}

function quote(path: string): string {
  return `"${truncate(printable(path), 200)}"`
}
