// Rules about paths that touch no disk.

import nodePath, { join, relative, sep, type PlatformPath } from 'node:path'
import { printable } from './text.ts'

/**
 * Whether a path is a folder or lies below it; a name that only begins with `..` does. Both absolute; whoever decides about
 * access passes real paths.
 */
export function isInside(path: string, folder: string, { relative, sep, isAbsolute }: PlatformPath = nodePath): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** `~` and `~/…` in words of the file system. */
export function expandHome(path: string, home: string): string {
  return path === '~' ? home : /^~[/\\]/.test(path) ? join(home, path.slice(2)) : path
}

/** A path as the user knows it: relative to the base, below `~`, or whole. One line, fit for a message. */
export function shownPath(path: string, base: string | undefined, home: string): string {
  const shown = base !== undefined && isInside(path, base) ? relative(base, path)
    : isInside(path, home) ? join('~', relative(home, path)) : path
  return printable(shown.split(sep).join('/')).replace(/\s+/g, ' ')
}
