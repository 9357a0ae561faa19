// The rival's figures for the same two scripted runs, measured by running it: version 18.3.4 of OMP's advisor.

import type { Cost } from './cost.ts'

/** One column of its tables. */
export interface RivalRun extends Cost {
  readonly primaryRequests: number
  /** Of the primary's own tokens. */
  readonly tokenShare: number
  readonly equivalentShare: number
  readonly loopSeconds: number
  readonly gapMs: number
  readonly exitSeconds: number
  readonly userSeconds: number
  readonly peakMiB: number
  /** Primary's reply end to the review's request: median, p90, p99. Not measured everywhere. */
  readonly reviewStartMs?: readonly [number, number, number]
}

/** What is known of a run without the advisor. */
export type RivalControl = Pick<RivalRun, 'loopSeconds' | 'gapMs' | 'exitSeconds' | 'userSeconds' | 'peakMiB'>

/** By the number of steps. */
export const OMP: Readonly<Record<number, { off: RivalControl, silent: RivalRun, advising: RivalRun }>> = {
  20: {
    off: { loopSeconds: 7.48, gapMs: 49, exitSeconds: 0.20, userSeconds: 4.43, peakMiB: 333 },
    silent: {
      primaryRequests: 21, requests: 21, firstBytes: 9_946, lastBytes: 19_280, growth: 467, totalBytes: 305_360, tokens: 76_340,
      shareMedian: 0.9665, shareMin: 0.9562, shareTotal: 0.9367, fresh: 4_791, equivalent: 11_886,
      tokenShare: 0.43, equivalentShare: 0.45,
      loopSeconds: 7.62, gapMs: 57, exitSeconds: 0.40, userSeconds: 4.45, peakMiB: 342, reviewStartMs: [41, 61, 196],
    },
    advising: {
      primaryRequests: 21, requests: 21, firstBytes: 9_943, lastBytes: 20_358, growth: 521, totalBytes: 319_450, tokens: 79_862,
      shareMedian: 0.9668, shareMin: 0.9320, shareTotal: 0.9361, fresh: 5_060, equivalent: 12_481,
      tokenShare: 0.45, equivalentShare: 0.47,
      loopSeconds: 7.41, gapMs: 49, exitSeconds: 0.44, userSeconds: 4.63, peakMiB: 332,
    },
  },
  100: {
    off: { loopSeconds: 34.62, gapMs: 37.4, exitSeconds: 0.15, userSeconds: 6.32, peakMiB: 330 },
    silent: {
      primaryRequests: 101, requests: 101, firstBytes: 9_947, lastBytes: 68_589, growth: 586, totalBytes: 3_883_815,
      tokens: 970_954, tokenShare: 0.67, equivalentShare: 0.68,
      shareMedian: 0.9840, shareMin: 0.9562, shareTotal: 0.9823, fresh: 17_118, equivalent: 112_212,
      loopSeconds: 35.36, gapMs: 42.6, exitSeconds: 0.41, userSeconds: 7.23, peakMiB: 343, reviewStartMs: [35, 47, 115],
    },
    advising: {
      primaryRequests: 101, requests: 101, firstBytes: 9_944, lastBytes: 69_677, growth: 597, totalBytes: 3_950_663,
      tokens: 987_666, tokenShare: 0.68, equivalentShare: 0.69,
      shareMedian: 0.9840, shareMin: 0.9507, shareTotal: 0.9823, fresh: 17_390, equivalent: 114_128,
      loopSeconds: 35.23, gapMs: 42.6, exitSeconds: 0.40, userSeconds: 7.70, peakMiB: 339, reviewStartMs: [36, 48, 111],
    },
  },
}

/** Where its notes land when they are about step k. */
export const OMP_LANDING: Record<string, string> = {
  nit: 'never in that prompt', concern: 'never in that prompt', blocker: 'k + 2',
}

/** Seconds from the answer to the exit, eight steps: healthy, a permanent 500, no response at all. */
export const OMP_EXIT = { silent: 0.5, failing: 102, hanging: 600.2 }
