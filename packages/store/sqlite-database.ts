import { DatabaseSync, type StatementSync } from 'node:sqlite'

/**
 * The only module that imports node:sqlite: a later Node renames DatabaseSync to Database, and only
 * this file changes then.
 */
export type Database = DatabaseSync
export type Statement = StatementSync
export type Row = Record<string, unknown>

export interface DatabaseOptions {
  isReadOnly?: boolean
}

/** Throws at once if another process holds the file; waiting would only hide the second process. */
export function openDatabase(path: string, options: DatabaseOptions = {}): Database {
  return new DatabaseSync(path, { timeout: 0, readOnly: options.isReadOnly ?? false })
}

/** The primary result codes of SQLite that the store distinguishes (sqlite3.h). */
const codes = Object.freeze({
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
})
export type SqliteFault = keyof typeof codes

/** Returns SQLite's fault, or undefined for errors of another origin or irrelevant ones. */
export function sqliteFault(error: unknown): SqliteFault | undefined {
  if (!(error instanceof Error)) return undefined
  // No integer of the store is above 2^53; only a damaged record has one.
  if ('code' in error && error.code === 'ERR_OUT_OF_RANGE') return 'corrupt'
  if (!('errcode' in error)) return undefined
  if (typeof error.errcode !== 'number') return undefined
  const primary = error.errcode & 0xff
  return (Object.keys(codes) as SqliteFault[]).find((name) => codes[name] === primary) // keys of codes
}

export function pragma(database: Database, text: string): unknown {
  const row = database.prepare(`PRAGMA ${text}`).get()
  return row === undefined ? undefined : Object.values(row)[0]
}

/** Runs `work` in a transaction: its writes are durable when this returns, and undone if it throws. */
export function inTransaction<T>(database: Database, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // SQLite rolls back by itself after some faults (disk full, I/O error).
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

export function textOf(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`Cannot read column ${column}: not text`)
  return value
}

export function numberOf(row: Row, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw new TypeError(`Cannot read column ${column}: not a number`)
  return value
}

export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw new TypeError(`Cannot read column ${column}: not bytes`)
  return value
}
