// `npm run bench [-- names]`: prints figures beside a baseline of the same run. It asserts nothing; only a crash fails it.

import { cpus, loadavg } from 'node:os'
import { printBudget, type BudgetRow } from './budget.ts'
import { Lab, type Benchmark } from './lab.ts'
import { exit } from './exit.ts'
import { journal } from './journal.ts'
import { latency } from './latency.ts'
import { listener } from './listener.ts'
import { memory } from './memory.ts'
import { packaged } from './package.ts'
import { processCost } from './process.ts'
import { redaction } from './redaction.ts'
import { render } from './render.ts'
import { steps } from './steps.ts'
import { upkeep } from './upkeep.ts'

const BENCHMARKS: Record<string, Benchmark> = {
  'steps-20': lab => steps(lab, 20),
  'steps-100': lab => steps(lab, 100),
  upkeep,
  listener,
  render,
  redaction,
  memory,
  latency,
  exit,
  journal,
  'process': processCost,
  'package': packaged,
}

const wanted = process.argv.slice(2)
/** `steps` means every benchmark that starts so. */
const matches = (name: string, want: string) => name === want || name.startsWith(`${want}-`)
const unknown = wanted.find(want => !Object.keys(BENCHMARKS).some(name => matches(name, want)))
if (unknown !== undefined) {
  console.error(`no benchmark "${unknown}"; there are: ${Object.keys(BENCHMARKS).join(', ')}`)
  process.exit(1)
}

console.log(`node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`)
const rows: BudgetRow[] = []
await using lab = new Lab()
for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
  if (wanted.length > 0 && !wanted.some(want => matches(name, want))) continue
  console.log(`\n# ${name}`)
  rows.push(...await benchmark(lab))
}
printBudget(rows)
