import { plainText } from '../text/plain-text.ts'
import { printTable } from '../text/print-table.ts'
import type { DrillFinding } from './drill-plan.ts'

/** Prints a table, or JSON for `json`. */
export function printFindings(findings: readonly DrillFinding[], output: string | undefined): void {
  if (output === 'json') return console.log(JSON.stringify(findings))
  printTable([
    ['SUBJECT', 'RESULT', 'REASON'],
    ...findings.flatMap(({ subject, result, reasons: [first = '-', ...rest] }) => [
      [subject, result, plainText(first)],
      ...rest.map((reason) => ['', '', plainText(reason)]),
    ]),
  ])
}
