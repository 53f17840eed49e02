import { crc32 } from 'node:zlib'
import type { Database, FileSchema } from '@skerry/store'

/** One change of a key. */
export interface LogRow {
  readonly key: Uint8Array
  readonly revision: number
  /** The place of the change within its revision. */
  readonly sub: number
  readonly createRevision: number
  /** 0 for a delete. */
  readonly version: number
  /** The position of the row that this one supersedes; 0 if the change created the key. */
  readonly previous: number
  readonly lease: bigint
  readonly value: Uint8Array
}

/**
 * log: one row for each change, never updated, in the order of positions. log_key answers "newest row of a key at a
 * revision" and counts without touching values; log_revision is the order of a watch.
 * Leases are numbers of 64 bits, which JavaScript's do not hold; they are stored as decimal text, none as ''.
 */
const versionOne = `
  CREATE TABLE log (
    position INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    revision INTEGER NOT NULL,
    sub INTEGER NOT NULL,
    create_revision INTEGER NOT NULL,
    version INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    lease TEXT NOT NULL,
    value BLOB NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX log_key ON log (key, revision, sub, version);
  CREATE UNIQUE INDEX log_revision ON log (revision, sub);
  CREATE INDEX log_lease ON log (lease, key) WHERE lease <> '';
  CREATE TABLE lease (lease TEXT PRIMARY KEY, ttl_seconds INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES ('compacted', 0), ('scrubbed', 0), ('isOpen', 0),
    ('isOutOfSpace', 0), ('clusterId', 0), ('memberId', 0);
`

/** From this version on the marks have a checksum, which the store's own migration writes. */
const versionTwo = ''

/** Roles of users, and permissions of roles, are JSON; a user without a password has '' in its place. */
const versionThree = `
  CREATE TABLE auth_user (name TEXT PRIMARY KEY, password TEXT NOT NULL, roles TEXT NOT NULL)
    STRICT, WITHOUT ROWID;
  CREATE TABLE auth_role (name TEXT PRIMARY KEY, permissions TEXT NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES ('authEnabled', 0), ('authRevision', 1);
`

/** The store of an etcd server ("SKRE" in the header of the file). */
export const engineSchema = Object.freeze<FileSchema>({
  applicationId: 0x534b5245,
  migrations: [versionOne, versionTwo, versionThree],
  isShrinkable: true,
  hasIntactRows: (database) => damagedRows(database).next().done === true,
})

/** Computes a CRC-32 over all columns, because SQLite does not notice a flipped bit inside a value. */
export function checksumOf(row: LogRow): number {
  const { revision, sub, createRevision, version, previous, key, value } = row
  const lease = leaseText(row.lease)
  const head = `${revision} ${sub} ${createRevision} ${version} ${previous} ${lease} ${key.length} `
  return crc32(value, crc32(key, crc32(head)))
}

export function leaseText(lease: bigint): string {
  return lease === 0n ? '' : String(lease)
}

/** Returns the row if it is as it was written. A damaged row may have columns of any type. */
export function intactRow(
  row: Readonly<Record<string, unknown>>,
): (LogRow & { position: number }) | undefined {
  const { position, key, revision, sub, create_revision, version, previous, lease, value } = row
  if (typeof position !== 'number' || typeof revision !== 'number') return undefined
  if (typeof sub !== 'number' || typeof create_revision !== 'number') return undefined
  if (typeof version !== 'number' || typeof previous !== 'number') return undefined
  if (!(key instanceof Uint8Array) || !(value instanceof Uint8Array)) return undefined
  if (typeof lease !== 'string' || !/^(?:-?\d+)?$/.test(lease)) return undefined
  const read = {
    position,
    key,
    revision,
    sub,
    version,
    previous,
    value,
    createRevision: create_revision,
    lease: lease === '' ? 0n : BigInt(lease),
  }
  return checksumOf(read) === row['checksum'] ? read : undefined
}

/** Yields positions of rows that are not as they were written, read from the table without any index. */
export function* damagedRows(database: Database): Generator<unknown> {
  const rows = database.prepare('SELECT * FROM log NOT INDEXED ORDER BY position').iterate()
  for (const row of rows) if (intactRow(row) === undefined) yield row['position']
}
