/** Which lines of a text a fresh redactor changes. */
import { Redactor } from '../../src/redact/redactor.ts'

/** The lines as they were; a block that became one placeholder counts with all of its lines. */
export function touchedLines(text: string): string[] {
  const before = text.split('\n')
  const after = new Set(new Redactor({ patterns: [], known: [] }).text(text).split('\n'))
  return before.filter(line => !after.has(line))
}
