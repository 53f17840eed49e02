import { inTransaction, pragma, type Database } from './sqlite-database.ts'

/**
 * The content of one kind of file. Each has a table `meta (name, value)` with the row `isOpen`, so that an
 * open can tell whether the last close was clean.
 */
export interface FileSchema {
  /** Marks the file as ours in its header, so that a foreign database is never touched. */
  readonly applicationId: number
  /** migrations[n] takes schema version n to n + 1. Released entries never change. */
  readonly migrations: readonly string[]
  /** True if freed pages can be given back to the disk step by step, at the cost of a map of all pages. */
  readonly isShrinkable?: boolean
  /** Returns true if each row is provably as it was written; reads tables alone, and no index. */
  readonly hasIntactRows: (database: Database) => boolean
}

/** Returns 0 for a file that is empty or was cut off before its first commit. */
export function readSchemaVersion(database: Database): number {
  return Number(pragma(database, 'user_version'))
}

/** All steps are in one transaction, so an interruption leaves the old version intact. */
export function migrate(database: Database, schema: FileSchema, fromVersion: number): void {
  const { applicationId, migrations } = schema
  inTransaction(database, () => {
    for (const step of migrations.slice(fromVersion)) database.exec(step)
    database.exec(`PRAGMA application_id = ${applicationId}`)
    database.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

export function readMeta(database: Database, name: string): number {
  const row = database.prepare('SELECT value FROM meta WHERE name = ?').get(name)
  return Number(row?.['value'] ?? 0)
}

export function writeMeta(database: Database, name: string, value: number): void {
  database.prepare('UPDATE meta SET value = ? WHERE name = ?').run(value, name)
}
