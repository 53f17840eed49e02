import { readFile, writeFile } from 'node:fs/promises'
import type {
  LeaseRecord,
  Operation,
  Version,
  WatchRecord,
} from '../../../testing/histories/history.ts'

/** The findings of the clients of `history-load.ts`. */
export interface HistoryReport {
  readonly operations: readonly Operation[]
  /** Acknowledged writes of objects that are written once. */
  readonly written: readonly (Version & { readonly key: string })[]
  readonly watches: readonly WatchRecord[]
  /** All versions of the leaders' lease. */
  readonly leases: readonly LeaseRecord[]
  /** The objects at the end, by name. */
  readonly stored: Readonly<Record<string, Version>>
}

/** The state of the load since the last mark. */
export interface LoadMark {
  readonly mark: string
  /** Objects that were acknowledged. */
  readonly acknowledged: number
  /** The longest time without an acknowledgement. */
  readonly pauseMs: number
  /** Namespaces that controllers have furnished. */
  readonly namespaces: number
  /** The longest time that controllers took to furnish a namespace. */
  readonly controllersMs: number
}

export async function writeReport(path: string, report: HistoryReport): Promise<void> {
  await writeFile(path, JSON.stringify(report))
}

export async function readReport(path: string): Promise<HistoryReport> {
  // This file wrote it; JSON has no infinity.
  const report = JSON.parse(await readFile(path, 'utf8')) as HistoryReport
  const operations = report.operations.map((each) => ({
    ...each,
    answeredMs: each.answeredMs ?? Infinity,
  }))
  return { ...report, operations }
}
