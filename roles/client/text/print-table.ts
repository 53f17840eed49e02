import { padWidth, textWidth } from './text-width.ts'

/** Prints columns as wide as their widest cell, three spaces apart. The first row is the head. */
export function printTable(rows: readonly (readonly string[])[]): void {
  for (const line of tableLines(rows, [])) console.log(line)
}

/** The same as lines. `widths` is what columns have at least, and grows with them: for rows that follow. */
export function tableLines(rows: readonly (readonly string[])[], widths: number[]): string[] {
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, textWidth(cell))
    }
  }
  return rows.map((row) =>
    row
      .map((cell, column) => padWidth(cell, widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  )
}
