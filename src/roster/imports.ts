// `@path` in WATCHDOG files: the file's text in place of the token, within fences and bounds. What is refused keeps its
// token and is said; what is not there keeps it without a word, for not every `@word` is meant as one.

import { dirname, resolve } from 'node:path'
import { expandHome, shownPath } from '../paths.ts'
import { printable, truncate } from '../text.ts'
import type { Ground, Site } from './discover.ts'
import { FILE_LIMIT } from './disk.ts'
import { cutAfter } from './guidance.ts'
import { findImports } from './tokens.ts'
import type { View } from './view.ts'

/** Files between a WATCHDOG file and the last one that may be imported. */
export const IMPORT_DEPTH = 5

/** Files that one WATCHDOG file may bring in, each time counted. */
export const IMPORT_LIMIT = 64

/** `@words` of one WATCHDOG file and its imports that are looked up at all. */
export const LOOKUP_LIMIT = 256

/** Expands the imports of one WATCHDOG file. */
export class Importer {
  readonly trouble: string[] = []
  private readonly site: Site
  private readonly ground: Ground
  private readonly view: View
  private readonly label: string
  private lookups = 0
  private imports = 0
  private room = FILE_LIMIT

  /** @param file - the WATCHDOG file itself. */
  constructor(file: string, site: Site, ground: Ground, view: View) {
    this.site = site
    this.ground = ground
    this.view = view
    this.label = this.shown(file)
  }

  /**
   * Put imported texts in the place of their tokens.
   * @param file - the file that `text` stands in; paths are relative to its folder.
   * @param chain - real paths of the files that led here, this one last.
   * @param where - what to call the place of a token in messages; its file and line if left out.
   */
  async expand(text: string, file: string, chain: readonly string[], where?: string): Promise<string> {
    const parts: string[] = []
    let at = 0
    for (const token of findImports(text)) {
      const imported = await this.load(token.path, file, chain, () => where ?? `${this.shown(file)}:${lineOf(text, token.start)}`)
      if (imported === undefined) continue
      parts.push(text.slice(at, token.start), imported)
      at = token.end
    }
    return parts.join('') + text.slice(at)
  }

  private async load(path: string, file: string, chain: readonly string[], where: () => string): Promise<string | undefined> {
    if (this.lookups >= LOOKUP_LIMIT) return this.say(`${this.label}: only the first ${LOOKUP_LIMIT} @words are looked up`)
    this.lookups += 1
    const target = resolve(dirname(file), expandHome(path, this.ground.home))
    const opened = await this.view.open(target, this.site.reach)
    if (opened.kind === 'absent' || opened.kind === 'folder') return undefined
    const token = () => `${where()}: @${printable(truncate(path, 100))}`
    if (opened.kind === 'outside') return this.say(`${token()} was not imported: it lies outside ${this.bounds()}`)
    if (opened.kind === 'refused') return this.say(`${token()} was not imported: it ${opened.reason}`)
    if (chain.includes(opened.real)) return undefined
    if (chain.length > IMPORT_DEPTH) return this.say(`${token()} was not imported: imports nest ${IMPORT_DEPTH} levels at most`)
    if (this.imports >= IMPORT_LIMIT || this.room <= 0) {
      return this.say(`${token()} was not imported: a WATCHDOG file may import ${IMPORT_LIMIT} files and ${FILE_LIMIT / 1024} kB in all`)
    }
    this.imports += 1
    const kept = cutAfter(opened.text, this.room, opened.cut)
    if (kept !== opened.text) this.say(`${token()} was cut: a WATCHDOG file may import ${FILE_LIMIT / 1024} kB in all`)
    this.room -= Buffer.byteLength(kept)
    return (await this.expand(kept, target, [...chain, opened.real])).trim()
  }

  /** One line for the user, once. */
  private say(line: string): undefined {
    if (!this.trouble.includes(line)) this.trouble.push(line)
  }

  private shown(file: string): string {
    return shownPath(file, this.ground.base, this.ground.home)
  }

  private bounds(): string {
    if (this.site.scope === 'user') return 'your home folder'
    return this.ground.inRepository ? 'the repository' : 'the working folder'
  }
}

/** Line of a position, from 1. */
function lineOf(text: string, position: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < position; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
