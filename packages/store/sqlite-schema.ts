import { inTransaction, pragma, type Database } from './sqlite-database.ts'

/** Marks the file as ours in its header ("SKRY"), so that a foreign database is never touched. */
export const applicationId = 0x534b5259

/**
 * log: one row per applied write, never updated. `previous_revision` is the row that this one
 * superseded (0: none), so compaction finds its victims by primary key.
 * log_key answers "newest row of a key at a revision" and counts without touching values.
 * meta.compacted also carries the revision forward when compaction removed the newest row.
 */
const versionOne = `
  CREATE TABLE log (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    create_revision INTEGER NOT NULL,
    previous_revision INTEGER NOT NULL,
    is_deleted INTEGER NOT NULL,
    lease_id INTEGER NOT NULL,
    value BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX log_key ON log (key, revision, is_deleted);
  CREATE INDEX log_lease ON log (lease_id, key) WHERE lease_id <> 0;
  CREATE TABLE lease (
    lease_id INTEGER PRIMARY KEY,
    ttl_ms INTEGER NOT NULL,
    remaining_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES ('compacted', 0), ('scrubbed', 0), ('isOpen', 0);
`

/**
 * checksum covers the other columns of its row (row-checksum.ts). Rows up to meta.unchecked were written before
 * it existed and have none. Adding the column touches no row.
 */
const versionTwo = `
  ALTER TABLE log ADD COLUMN checksum INTEGER;
  INSERT INTO meta SELECT 'unchecked', coalesce(max(revision), 0) FROM log;
`

/** migrations[n] takes schema version n to n + 1. Released entries never change. */
const migrations: readonly string[] = [versionOne, versionTwo]

export const schemaVersion = migrations.length

/** Returns 0 for a file that is empty or was cut off before its first commit. */
export function readSchemaVersion(database: Database): number {
  return Number(pragma(database, 'user_version'))
}

/** All steps are in one transaction, so an interruption leaves the old version intact. */
export function migrate(database: Database, fromVersion: number): void {
  inTransaction(database, () => {
    for (const step of migrations.slice(fromVersion)) database.exec(step)
    database.exec(`PRAGMA application_id = ${applicationId}`)
    database.exec(`PRAGMA user_version = ${schemaVersion}`)
  })
}

export type MetaName = 'compacted' | 'scrubbed' | 'isOpen' | 'unchecked'

export function readMeta(database: Database, name: MetaName): number {
  const row = database.prepare('SELECT value FROM meta WHERE name = ?').get(name)
  return Number(row?.['value'] ?? 0)
}

export function writeMeta(database: Database, name: MetaName, value: number): void {
  database.prepare('UPDATE meta SET value = ? WHERE name = ?').run(value, name)
}
