// The budgets of the design, each answered by the benchmark that measures it. Printed, never asserted.

import { printTable } from './table.ts'

/** One bound of the design with what was measured against it. */
export interface BudgetRow {
  readonly what: string
  readonly bound: string
  readonly measured: string
  readonly met: boolean
}

export function printBudget(rows: readonly BudgetRow[]): void {
  if (rows.length === 0) return
  printTable('budget', ['what', 'bound', 'measured', ''],
    rows.map(row => [row.what, row.bound, row.measured, row.met ? 'met' : 'NOT MET']))
}
