// A roster file under a user's hands: changes gather in memory, are told in words, and reach the disk together or not at all.

import { editDocument, readDocument, type Edit, type ListedEntry } from './edit.ts'
import { removeEdited, saveEdited, type OpenFile, type Saving } from './edit-file.ts'

export class Draft {
  /** As messages name the file. */
  readonly label: string
  /** What was changed so far, oldest first. */
  readonly changes: string[] = []
  private readonly file: OpenFile
  private text: string
  private emptied = false

  /** @param file - its text can be read as a document. */
  constructor(file: OpenFile, label: string) {
    this.file = file
    this.label = label
    this.text = file.text
  }

  get entries(): readonly ListedEntry[] {
    return this.document.entries
  }

  /** Shared instructions, if they are a text. */
  get instructions(): string {
    const { instructions } = this.document
    return typeof instructions === 'string' ? instructions : ''
  }

  /** Where the file stands against the disk; `emptied`: nothing but comments is left of one that is there. */
  get state(): 'same' | 'changed' | 'emptied' {
    if (this.text === this.file.text) return 'same'
    return this.emptied && this.file.bytes !== undefined ? 'emptied' : 'changed'
  }

  /**
   * Make one change.
   * @param words - what it is, for the user.
   * @returns why it was not made, or nothing.
   */
  edit(edit: Edit, words: string): string | undefined {
    const result = editDocument(this.text, edit)
    if (result.kind === 'same') return undefined
    if (result.kind === 'refused') return result.reason
    this.text = result.text
    this.emptied = result.kind === 'empty'
    this.changes.push(words)
    return undefined
  }

  save(): Promise<Saving> {
    return saveEdited(this.file, this.text)
  }

  /** Take the file away instead of saving what is left of it. */
  remove(): Promise<Saving> {
    return removeEdited(this.file)
  }

  private get document() {
    const reading = readDocument(this.text)
    if (reading.kind === 'broken') throw new Error(`${this.label}: ${reading.reason}`)
    return reading
  }
}
