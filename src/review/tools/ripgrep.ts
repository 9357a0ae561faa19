// ripgrep as the host's search tools start it, but ended in time and in size, with what it had found until then.
// It may stop a search early; it never lets an early end look like a whole one.

import { AsyncLocalStorage } from 'node:async_hooks'
import { StringDecoder } from 'node:string_decoder'
import type { SubprocessHandle, SubprocessOutcome, SubprocessSpawnSpec } from '@deepseek-ai/dsh-subprocess'
import type { SearchEnd } from './answer.ts'

/** Bytes of output that are parsed: some thousand matches. More would keep the host's one thread busy. */
export const OUTPUT_BYTES = 2_000_000

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
  private handle: SubprocessHandle | undefined

  constructor(folder: string) {
    this.folder = folder
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
    const output = new Head(OUTPUT_BYTES, () => this.stop('size'))
    handle.stdout?.on('data', (chunk: Buffer) => { output.push(chunk) })
    // A pipe that breaks is the end of it; the exit says the rest.
    handle.stdout?.on('error', () => {})
    return {
      pid: handle.pid, stdin: undefined, stdout: undefined, stderr: handle.stderr,
      collected: { ...handle.collected, stdout: { readFrom: () => ({ text: output.text, nextOffset: output.text.length, lossy: false }) } },
      done: handle.done.then(outcome => this.conclude(outcome, output, handle.collected.stderr?.readFrom(0).text ?? '')),
      terminate: () => handle.terminate(),
      waitForExit: signal => handle.waitForExit(signal),
    }
  }

  /** What the host's tool is told of the exit: a search that was ended, or could not read all, still has a result. */
  private conclude(outcome: SubprocessOutcome, output: Head, stderr: string): SubprocessOutcome {
    const whole = { exitCode: 0, signal: null }
    if (this.ended !== undefined) {
      output.dropPartialLine()
      return whole
    }
    this.files = filesSearched(output.text)
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

/** The beginning of a stream, up to a limit. */
class Head {
  text = ''
  private readonly limit: number
  private readonly onFull: () => void
  private readonly decoder = new StringDecoder('utf8')
  private bytes = 0

  constructor(limit: number, onFull: () => void) {
    this.limit = limit
    this.onFull = onFull
  }

  push(chunk: Buffer): void {
    if (this.bytes >= this.limit) return
    this.bytes += chunk.length
    this.text += this.decoder.write(chunk)
    if (this.bytes >= this.limit) this.onFull()
  }

  dropPartialLine(): void {
    this.text = this.text.slice(0, this.text.lastIndexOf('\n') + 1)
  }
}
