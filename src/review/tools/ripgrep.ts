// ripgrep as the host's search tools start it, but ended in time and in size, with what it had found until then.
// It may stop a search early; it never lets an early end look like a whole one.

import { AsyncLocalStorage } from 'node:async_hooks'
import { StringDecoder } from 'node:string_decoder'
import type { SubprocessHandle, SubprocessOutcome, SubprocessSpawnSpec } from '@deepseek-ai/dsh-subprocess'
import type { SearchEnd } from './answer.ts'

/** Characters of one line of output; a matching line of a bundled file is one of them and can be megabytes. */
const RECORD_CHARS = 32_000

/** The host's process service, as far as searches use it. */
export interface Processes {
  spawn(spec: SubprocessSpawnSpec): SubprocessHandle
}

/** One search under way. */
export class Search {
  /** Where patterns of file names start. */
  readonly folder: string
  ended: SearchEnd | undefined
  files: number | undefined
  unread: readonly string[] = []
  private readonly output: Lines
  private handle: SubprocessHandle | undefined

  /** @param chars - of output that are kept: the host reads them in one go, and everything waits for that. */
  constructor(folder: string, chars: number) {
    this.folder = folder
    this.output = new Lines(chars, () => this.stop('size'))
  }

  /** Files with a match on a line too long to show. */
  get long(): readonly string[] {
    return [...new Set(this.output.long)]
  }

  /** End it; what it has found is its result. */
  stop(reason: SearchEnd): void {
    this.ended ??= reason
    this.handle?.terminate()
  }

  /** Leave nothing behind, however it ended. */
  close(): void {
    this.handle?.terminate()
  }

  /** Start the process of this search. */
  start(processes: Processes, spec: SubprocessSpawnSpec): SubprocessHandle {
    const handle = processes.spawn({ ...spec, cwd: this.folder, stdio: { ...spec.stdio, stdout: 'pipe' } })
    this.handle = handle
    if (this.ended !== undefined) handle.terminate()
    const { output } = this
    handle.stdout?.on('data', (chunk: Buffer) => { output.push(chunk) })
    // A pipe that breaks is the end of it; the exit says the rest.
    handle.stdout?.on('error', () => {})
    return {
      pid: handle.pid, stdin: undefined, stdout: undefined, stderr: handle.stderr,
      collected: { ...handle.collected, stdout: { readFrom: () => ({ text: output.text, nextOffset: output.text.length, lossy: false }) } },
      done: handle.done.then(outcome => this.conclude(outcome, handle.collected.stderr?.readFrom(0).text ?? '')),
      terminate: () => handle.terminate(),
      waitForExit: signal => handle.waitForExit(signal),
    }
  }

  /** What the host's tool is told of the exit: a search that was ended, or could not read all, still has a result. */
  private conclude(outcome: SubprocessOutcome, stderr: string): SubprocessOutcome {
    const whole = { exitCode: 0, signal: null }
    if (this.ended !== undefined) return whole
    this.output.end()
    this.files = filesSearched(this.output.text)
    if (outcome.exitCode !== PROBLEM) return outcome
    this.unread = unreadPlaces(stderr)
    return this.unread.length > 0 ? whole : outcome
  }
}

/** The `subprocess` service of the private registry. */
export class Searches {
  private readonly current = new AsyncLocalStorage<Search>()
  private readonly processes: () => Processes | undefined

  constructor(processes: () => Processes | undefined) {
    this.processes = processes
  }

  /** Let whatever `work` starts belong to this search. */
  within<T>(search: Search, work: () => T): T {
    return this.current.run(search, work)
  }

  spawn(spec: SubprocessSpawnSpec): SubprocessHandle {
    const processes = this.processes()
    const search = this.current.getStore()
    if (processes === undefined) throw new Error('the host starts no processes here')
    if (search === undefined) throw new Error('a reviewer starts no processes but its searches')
    return search.start(processes, spec)
  }
}

/** ripgrep's exit code when something went wrong, be it one file of many or the pattern. */
const PROBLEM = 2

/** Places that ripgrep complained about and passed over; nothing when the complaint is about the request itself. */
export function unreadPlaces(stderr: string): string[] {
  const lines = stderr.split('\n').map(line => line.trim()).filter(line => line !== '')
  const places = lines.flatMap(line => /^(?:rg: )?(.+ \(os error \d+\))$/.exec(line)?.[1] ?? [])
  return places.map(place => place.replace(/ \(os error \d+\)$/, ''))
}

/** The number of files in ripgrep's closing record. */
export function filesSearched(output: string): number | undefined {
  const last = output.trimEnd()
  const record = last.slice(last.lastIndexOf('\n') + 1)
  try {
    const { type, data } = JSON.parse(record) as { type?: unknown, data?: { stats?: { searches?: unknown } } }
    const files = type === 'summary' ? data?.stats?.searches : undefined
    return typeof files === 'number' ? files : undefined
  } catch {
    return undefined
  }
}

/** The first lines of a stream, without those that are too long. */
class Lines {
  /** Whole lines. */
  text = ''
  /** Files that lines too long were about. */
  readonly long: string[] = []
  private readonly limit: number
  private readonly onFull: () => void
  private readonly decoder = new StringDecoder('utf8')
  private line = ''
  private tooLong = false

  constructor(limit: number, onFull: () => void) {
    this.limit = limit
    this.onFull = onFull
  }

  push(chunk: Buffer): void {
    const [rest = '', ...lines] = this.decoder.write(chunk).split('\n')
    this.extend(rest)
    for (const line of lines) {
      this.close()
      this.extend(line)
    }
  }

  /** The stream is over: what came last is a line too. */
  end(): void {
    if (this.line !== '') this.close()
  }

  private extend(part: string): void {
    if (this.line.length + part.length > RECORD_CHARS) this.tooLong = true
    this.line += this.tooLong ? part.slice(0, Math.max(0, RECORD_CHARS - this.line.length)) : part
  }

  private close(): void {
    if (this.text.length < this.limit) {
      if (this.tooLong) this.long.push(matchedFile(this.line))
      else this.text += `${this.line}\n`
      if (this.text.length >= this.limit) this.onFull()
    }
    this.line = ''
    this.tooLong = false
  }
}

/** The file in a record of a match, of which only the beginning is known. */
export function matchedFile(record: string): string {
  const name = /^\{"type":"match","data":\{"path":\{"text":("(?:[^"\\]|\\.)*")/.exec(record)?.[1]
  return name === undefined ? 'a file' : String(JSON.parse(name))
}
