// Small arithmetic over samples, and the clock that all processes of a benchmark share.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The middle of the samples, or NaN of none. */
export function median(samples: readonly number[]): number {
  return percentile(samples, 50)
}

/** The smallest sample that `percent` of them do not exceed, or NaN of none. */
export function percentile(samples: readonly number[], percent: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * percent / 100) - 1)] ?? NaN
}

export function sum(samples: readonly number[]): number {
  return samples.reduce((total, sample) => total + sample, 0)
}

export function mean(samples: readonly number[]): number {
  return sum(samples) / samples.length
}

/** By how much y grows with x: the line of least squares through the points. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const [centerX, centerY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))]
  return sum(points.map(([x, y]) => (x - centerX) * (y - centerY))) / sum(points.map(([x]) => (x - centerX) ** 2))
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text)
}

/** A full collection, so that no sample pays for the one before. */
export function collectGarbage(): void {
  collect()
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Milliseconds of processor time that this thread has had: what other programs take from the machine does not count. */
export function cpuNow(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Milliseconds of the machine's monotonic clock, which is the same in every process. */
export function machineNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Add this to a time of this process's `performance.now()` to get one of {@link machineNow}. */
export const MACHINE_OFFSET = machineNow() - performance.now()
