// What a reviewer said, judged before it leaves: unsupported findings weigh less, and some are no advice at all.

import type { Config } from '../config/schema.ts'
import type { Finding } from '../finding.ts'
import { checkEvidence, type Seen } from './evidence.ts'
import { judgeAdvice } from './quarantine.ts'
import type { Verdict } from './reply.ts'
import type { HeardCall } from './tidy.ts'

export interface Weighed {
  /** What goes on to delivery. */
  readonly findings: readonly Finding[]
  /** Every call of the verdict with its answer. */
  readonly heard: readonly HeardCall[]
  /** For a reviewer that made no call and so gets no answer. */
  readonly remarks: readonly string[]
  /** For the host's log. */
  readonly refused: readonly string[]
}

export interface Scales {
  readonly policy: Config['evidence']
  readonly seen: Pick<Seen, 'has'>
  /** A file of the workspace as it is now, or undefined. */
  readFile(path: string): Promise<string | undefined>
}

/** Judge each finding of a verdict by itself. */
export async function weigh(verdict: Verdict, { policy, seen, readFile }: Scales): Promise<Weighed> {
  const heard: HeardCall[] = verdict.kind === 'silent' ? [] : [...verdict.calls]
  const findings: Finding[] = []
  const remarks: string[] = []
  const refused: string[] = []
  for (const finding of verdict.kind === 'advice' ? verdict.findings : []) {
    // An empty note only takes an older one back.
    const advice = finding.note === '' ? { kind: 'fine' as const } : judgeAdvice(finding.note)
    if (advice.kind === 'refuse') {
      refused.push(`${advice.reason}: ${finding.note}`)
      continue
    }
    const weighed = finding.note === '' ? { kind: 'fine' as const, finding } : await checkEvidence(finding, policy, seen, readFile)
    findings.push(weighed.finding)
    if (weighed.kind === 'fine') continue
    const told = `Recorded as a ${weighed.finding.severity}: ${weighed.reason}.`
    const at = heard.findIndex(call => call.finding === finding)
    if (at < 0) remarks.push(`[${told}]`)
    else heard[at] = { ...heard[at]!, answer: told }
  }
  return { findings, heard, remarks, refused }
}
