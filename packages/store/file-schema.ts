import { crc32 } from 'node:zlib'
import { inTransaction, pragma, type Database } from './sqlite-database.ts'

/**
 * The content of one kind of file. Each has a table `meta (name, value)` with the row `isOpen`, so that an
 * open can tell whether the last close was clean, and `sum`, the checksum of the others.
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
    sealMeta(database)
    database.exec(`PRAGMA application_id = ${applicationId}`)
    database.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

export function readMeta(database: Database, name: string): number {
  const row = database.prepare('SELECT value FROM meta WHERE name = ?').get(name)
  return Number(row?.['value'] ?? 0)
}

export function writeMeta(database: Database, name: string, value: number): void {
  // A killed process starts again on a full disk, as long as it changes nothing.
  if (readMeta(database, name) === value) return
  const write = (): void => {
    database.prepare('UPDATE meta SET value = ? WHERE name = ?').run(value, name)
    sealMeta(database)
  }
  // A power cut between the two would leave marks that do not fit their checksum.
  if (database.isTransaction) write()
  else inTransaction(database, write)
}

/** Writes the checksum of all marks, a mark itself. Call this after each change of them. */
export function sealMeta(database: Database, schemaName: 'main' | 'copy' = 'main'): void {
  const sql = `INSERT OR REPLACE INTO ${schemaName}.meta VALUES ('sum', ?)`
  database.prepare(sql).run(sumOfMeta(database, schemaName))
}

/** Returns true if the marks are as they were written. */
export function isMetaIntact(database: Database): boolean {
  return readMeta(database, 'sum') === sumOfMeta(database, 'main')
}

function sumOfMeta(database: Database, schemaName: string): number {
  const sql = `SELECT name, value FROM ${schemaName}.meta WHERE name <> 'sum' ORDER BY name`
  const rows = database.prepare(sql).all()
  return crc32(rows.map(({ name, value }) => `${String(name)} ${String(value)}`).join('\n'))
}
