import type { FileSchema } from './file-schema.ts'
import { damagedRows } from './row-checksum.ts'

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

/**
 * promised: relaxed writes have no revision above it. boot: the start of the machine in which the file is open, 0 if it
 * was closed; see boot.ts. From this version on the marks have a checksum.
 */
const versionThree = `
  INSERT OR IGNORE INTO meta VALUES ('promised', 0), ('boot', 0);
`

/** The site's and the hub's own store ("SKRY" in the header of the file). */
export const storeSchema = Object.freeze<FileSchema>({
  applicationId: 0x534b5259,
  migrations: [versionOne, versionTwo, versionThree],
  hasIntactRows: (database) => damagedRows(database, { uncheckedMax: 0 }).length === 0,
})

/** The version of the store's tables that this program reads and writes; it migrates older ones. */
export const schemaVersion = storeSchema.migrations.length
