// Lines on their way to a file: taken at once, rendered and written later, in order, by one writer. A disk that fails or hangs
// costs lines and one warning, never the caller's time, and never more than so many lines of memory.

import { orAborted, within, type Clock } from '../clock.ts'
import { errorMessage } from '../text.ts'
import { openToAppend, Refused, type AppendTarget, type OpenToAppend } from './append-file.ts'

export interface LinesPort {
  readonly folder: string
  /** The file's name in the folder. */
  readonly name: string
  readonly clock: Clock
  /** One line for the user, given once at most. @param cause - the same word for the same trouble anywhere. */
  onTrouble(line: string, cause: string): void
  /** What stands in the place of lines that were left out; without it nothing does. */
  lost?(lines: number): string
  readonly open?: OpenToAppend
}

/** Renders a line when it is written, without its newline; undefined when there is nothing to say by then. */
export type Line = () => string | undefined

/** Lines that wait; what comes after is left out and counted. */
export const QUEUE_LIMIT = 64
/** Least milliseconds between two tries after one that failed. */
export const RETRY_MS = 30_000
/** Milliseconds that whoever flushes or disposes waits for the disk. */
export const FLUSH_MS = 2_000

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'writing', readonly done: Promise<void> }
  | { readonly kind: 'failed', readonly at: number }
  /** The place is not ours. */
  | { readonly kind: 'refused' }

export class Lines {
  private readonly port: LinesPort
  private readonly open: OpenToAppend
  private readonly queue: Line[] = []
  private state: State = { kind: 'idle' }
  /** Lines left out since the last one that was written. */
  private lost = 0
  private warned = false
  private disposed = false

  constructor(port: LinesPort) {
    this.port = port
    this.open = port.open ?? openToAppend
  }

  /** Take a line. Returns at once; a line that cannot be rendered is left out. */
  append(line: Line): void {
    if (this.disposed || this.state.kind === 'refused') return
    if (this.queue.length >= QUEUE_LIMIT) {
      this.lost += 1
      this.warn(`${this.port.name} cannot be written fast enough, some of it is left out`, 'SLOW')
    } else {
      this.queue.push(line)
    }
    this.start()
  }

  /** Resolves when all that was taken is written or cannot be, 2 s at most. */
  async flush(): Promise<void> {
    this.start()
    const { state } = this
    if (state.kind !== 'writing') return
    await within(FLUSH_MS, NEVER, this.port.clock, signal => orAborted(state.done, signal))
  }

  /** Write what waits, with a last try where the disk failed, and take nothing more. A second call does nothing. */
  async dispose(): Promise<void> {
    if (this.disposed) return
    this.disposed = true
    if (this.state.kind === 'failed') this.state = { kind: 'idle' }
    await this.flush()
  }

  private start(): void {
    if (this.queue.length === 0 && this.lost === 0) return
    if (this.state.kind === 'failed' && Math.abs(this.port.clock.now() - this.state.at) >= RETRY_MS) this.state = { kind: 'idle' }
    if (this.state.kind !== 'idle') return
    // In a later turn of the event loop: rendering is no part of what the caller does.
    const done = new Promise<void>((resolve) => { setImmediate(resolve) }).then(() => this.write())
    this.state = { kind: 'writing', done }
  }

  private async write(): Promise<void> {
    try {
      while (this.queue.length > 0 || this.lost > 0) {
        const [batch, lost] = [this.queue.slice(), this.lost]
        // A folder that was taken away took the lines with it: once more, into a new one.
        if (await this.writeBatch(batch, lost)) await this.writeBatch(batch, lost)
        this.queue.splice(0, batch.length)
        this.lost -= lost
      }
      this.state = { kind: 'idle' }
    } catch (error) {
      const refused = error instanceof Refused
      this.state = refused ? { kind: 'refused' } : { kind: 'failed', at: this.port.clock.now() }
      if (refused) this.queue.length = 0
      this.warn(`${this.port.name} cannot be written (${errorMessage(error)}): reviews go on without it`, codeOf(error))
    }
  }

  /** @returns whether the file was taken away meanwhile, and the lines with it. */
  private async writeBatch(batch: readonly Line[], lost: number): Promise<boolean> {
    const target = await this.open(this.port.folder, this.port.name)
    let written = 0
    try {
      let { torn } = target
      for (const line of batch) {
        torn = await this.put(target, line, torn)
        written += 1
      }
      if (lost > 0 && this.port.lost !== undefined) await this.put(target, () => this.port.lost!(lost), torn)
      return await target.isGone()
    } catch (error) {
      // What stands in the file is not written again.
      this.queue.splice(0, written)
      throw error
    } finally {
      await target.close()
    }
  }

  /** @returns whether the file ends in the middle of a line. */
  private async put(target: AppendTarget, line: Line, torn: boolean): Promise<boolean> {
    let text: string | undefined
    try {
      text = line()
    } catch (error) {
      this.warn(`a line of ${this.port.name} is left out: ${errorMessage(error)}`, 'LINE')
    }
    if (text === undefined) return torn
    const bytes = Buffer.from(`${torn ? '\n' : ''}${text}\n`)
    const written = await target.write(bytes)
    if (written < bytes.length) throw Object.assign(new Error('no space is left on the disk'), { code: 'ENOSPC' })
    return false
  }

  private warn(line: string, cause: string): void {
    if (this.warned) return
    this.warned = true
    try {
      this.port.onTrouble(line, cause)
    } catch {
      // Nobody is left to hear it, and the writer has no caller who could.
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Refused ? 'REFUSED' : String((error as NodeJS.ErrnoException | null)?.code ?? errorMessage(error))
}

const NEVER = new AbortController().signal
