// What a reviewer said, judged before it leaves: unsupported findings weigh less, and some are no advice at all.

import type { Config } from '../config/schema.ts'
import type { Finding } from '../finding.ts'
import { checkEvidence } from './evidence.ts'
import { ProofFiles, type ProofPort, type Quotable } from './proof-files.ts'
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

export interface Scales extends ProofPort {
  readonly policy: Config['evidence']
  readonly seen: Quotable
}

/** Notes of one reply that are looked at. */
const FINDINGS_LIMIT = 8

/** Judge each finding of a verdict by itself. */
export async function weigh(verdict: Verdict, { policy, seen, ...port }: Scales): Promise<Weighed> {
  const heard: HeardCall[] = verdict.kind === 'silent' ? [] : [...verdict.calls]
  const findings: Finding[] = []
  const remarks: string[] = []
  const refused: string[] = []
  const files = new ProofFiles(port)
  for (const [index, finding] of (verdict.kind === 'advice' ? verdict.findings : []).entries()) {
    if (index >= FINDINGS_LIMIT) {
      refused.push(`one of more than ${FINDINGS_LIMIT} in a reply: ${finding.note}`)
      continue
    }
    // An empty note only takes an older one back.
    const advice = finding.note === '' ? { kind: 'fine' as const } : judgeAdvice(finding.note)
    if (advice.kind === 'refuse') {
      refused.push(`${advice.reason}: ${finding.note}`)
      continue
    }
    const weighed = finding.note === '' ? { kind: 'fine' as const, finding } : await checkEvidence(finding, policy, seen, path => files.look(path))
    findings.push(weighed.finding)
    if (weighed.kind === 'fine') continue
    const told = `Recorded as a ${weighed.finding.severity}: ${weighed.reason}.`
    const at = heard.findIndex(call => call.finding === finding)
    if (at < 0) remarks.push(`[${told}]`)
    else heard[at] = { ...heard[at]!, answer: told }
  }
  return { findings, heard, remarks, refused }
}
