// One load's view of the disk: what it looked at is remembered, so that the next load can ask whether anything changed, and
// what it read is kept as long as it is needed. Opens regular files inside their fences only. Knows no WATCHDOG rule.

import { isInside } from '../paths.ts'
import { decode, FILE_LIMIT, type Decoded, type Disk } from './disk.ts'

/** What stands at a path. */
export type Look =
  | { readonly kind: 'file' | 'folder' | 'other' | 'absent', readonly stamp: string }
  | { readonly kind: 'refused', readonly stamp: string, readonly reason: string }

/** What a file holds, or why it is not read. */
export type Opened =
  | { readonly kind: 'text', readonly text: string, readonly cut: boolean, readonly real: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'outside' }
  | { readonly kind: 'refused', readonly reason: string }

export class View {
  private readonly disk: Disk
  /** What the last load looked at. */
  private looks = new Map<string, Promise<Look>>()
  private stamps = new Map<string, string>()
  private texts = new Map<string, { readonly stamp: string, readonly decoded: Decoded }>()
  private used = new Set<string>()
  private isComplete = false

  constructor(disk: Disk) {
    this.disk = disk
  }

  /** Whether everything that the last load looked at is as it was. Costs a stat each, all at once. */
  async isUnchanged(): Promise<boolean> {
    if (!this.isComplete) return false
    const same = await Promise.all([...this.stamps].map(async ([path, stamp]) => (await this.stat(path)).stamp === stamp))
    return same.every(Boolean)
  }

  /** Begin a load: nothing has been looked at yet. */
  begin(): void {
    this.isComplete = false
    this.looks = new Map()
    this.stamps = new Map()
    this.used = new Set()
  }

  /** End it: what it did not need is forgotten. */
  end(): void {
    this.isComplete = true
    this.looks = new Map()
    for (const path of this.texts.keys()) if (!this.used.has(path)) this.texts.delete(path)
  }

  /** What stands at a path, links followed. The same answer all through a load. */
  async look(path: string): Promise<Look> {
    let looking = this.looks.get(path)
    if (looking === undefined) {
      looking = this.stat(path)
      this.looks.set(path, looking)
    }
    const look = await looking
    this.stamps.set(path, look.stamp)
    return look
  }

  /** The path with every link resolved; as given when nothing is there. */
  async real(path: string): Promise<string> {
    await this.look(path)
    return this.disk.realpath(path).catch(() => path)
  }

  /**
   * Read a file, or say why not. Bytes are read only when the file has changed since it was last read.
   * @param fences - real folders; what lies in none of them is not opened. Leave it out where the user alone decides.
   */
  async open(path: string, fences?: readonly string[]): Promise<Opened> {
    const look = await this.look(path)
    if (look.kind === 'refused') return look
    if (look.kind === 'absent') return { kind: 'absent' }
    if (look.kind === 'folder') return { kind: 'folder' }
    try {
      const real = await this.disk.realpath(path)
      if (fences !== undefined && !fences.some(fence => isInside(real, fence))) return { kind: 'outside' }
      const there = await this.look(real)
      if (there.kind !== 'file') return { kind: 'refused', reason: 'is not a regular file' }
      this.used.add(real)
      const known = this.texts.get(real)
      const decoded = known?.stamp === there.stamp ? known.decoded : decode(await this.disk.head(real, FILE_LIMIT + 1))
      this.texts.set(real, { stamp: there.stamp, decoded })
      return decoded.kind === 'text' ? { ...decoded, real } : decoded
    } catch (error) {
      return refusal(error)
    }
  }

  private async stat(path: string): Promise<Look> {
    try {
      const stats = await this.disk.stat(path)
      const place = `${stats.dev}:${stats.ino}`
      // What a folder holds is not the question: its files are looked at by name.
      if (stats.isDirectory()) return { kind: 'folder', stamp: `folder ${place}` }
      if (!stats.isFile()) return { kind: 'other', stamp: `other ${place}` }
      return { kind: 'file', stamp: `${place} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` }
    } catch (error) {
      const refused = refusal(error)
      return refused.kind === 'absent' ? ABSENT : { ...refused, stamp: refused.reason }
    }
  }
}

const ABSENT: Look = { kind: 'absent', stamp: '' }

/** Why the system did not let us look. */
function refusal(error: unknown): { readonly kind: 'absent' } | { readonly kind: 'refused', readonly reason: string } {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
  switch (code) {
    case 'ENOENT': case 'ENOTDIR': case 'ENAMETOOLONG': return { kind: 'absent' }
    case 'EACCES': case 'EPERM': return { kind: 'refused', reason: 'cannot be read: permission denied' }
    case 'ELOOP': return { kind: 'refused', reason: 'cannot be read: its links lead in a circle' }
    default: return { kind: 'refused', reason: `cannot be read: ${code}` }
  }
}

