// Printing: titles, aligned tables, and numbers a reader can compare.

export type Cell = string | number | undefined

/** Print rows under a header; columns of numbers stand to the right, an absent cell is a dash. */
export function printTable(title: string, header: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const lines = [header, ...rows.map(row => row.map(text))]
  const widths = header.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  const right = header.map((_, column) => column > 0 && rows.every(row => isNumeric(text(row[column]))))
  const pad = (cell: string, column: number) => right[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)
  const draw = (line: readonly string[]) => line.map(pad).join('  ').trimEnd()
  console.log(`\n${title}\n${draw(header)}\n${widths.map(width => '-'.repeat(width)).join('  ')}`)
  for (const line of lines.slice(1)) console.log(draw(line))
}

export function printNote(note: string): void {
  console.log(`  ${note}`)
}

/** A number with thousands separated and so many decimals. */
export function number(value: number, decimals = 0): string {
  if (!Number.isFinite(value)) return '–'
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
}

export function percent(share: number, decimals = 2): string {
  return Number.isFinite(share) ? `${(share * 100).toFixed(decimals)} %` : '–'
}

/** `a / b`, as in `0.52 ×`. */
export function ratio(a: number, b: number): string {
  return Number.isFinite(a / b) ? `${(a / b).toFixed(2)} ×` : '–'
}

/** Median, p90 and p99 in milliseconds, as in `1.2 / 2.0 / 3.1`. */
export function spread(values: readonly [number, number, number], decimals = 1): string {
  return values.map(value => number(value, decimals)).join(' / ')
}

function text(cell: Cell): string {
  return typeof cell === 'number' ? number(cell) : cell ?? '–'
}

function isNumeric(cell: string): boolean {
  return /^[-–+\d., /×%]*$/.test(cell)
}
