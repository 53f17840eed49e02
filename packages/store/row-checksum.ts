import { crc32 } from 'node:zlib'
import type { Database, Row } from './sqlite-database.ts'
import type { LogRow } from './sqlite-log.ts'

/**
 * Computes a CRC-32 over all columns of a row, because SQLite itself does not notice a flipped bit
 * inside a value.
 */
export function checksumOf(row: LogRow): number {
  const { revision, createRevision, previousRevision, leaseId, key, value } = row
  const isDeleted = row.isDeleted ? 1 : 0
  return crc32(
    value,
    crc32(`${revision} ${createRevision} ${previousRevision} ${isDeleted} ${leaseId} ${key}`),
  )
}

/**
 * Returns true if the row is as it was written. Rows up to `uncheckedMax` may be older than
 * checksums and have none. A damaged row may have columns of any type.
 */
export function isIntact(row: Row, key: string, uncheckedMax: number): boolean {
  const { revision, create_revision, previous_revision, is_deleted, lease_id, value, checksum } =
    row
  if (typeof revision !== 'number' || typeof create_revision !== 'number') return false
  if (!(value instanceof Uint8Array)) return false
  if (checksum === null && revision <= uncheckedMax) return true
  // If a column has another type, its text differs from that of the number that was written.
  const head = `${revision} ${create_revision} ${String(previous_revision)} ${String(is_deleted)} ${String(lease_id)} ${key}`
  return checksum === crc32(value, crc32(head))
}

/**
 * Returns rows that are not as they were written. Reads the table itself, in its order, without any
 * index.
 */
export function damagedRows(
  database: Database,
  { uncheckedMax }: { uncheckedMax: number },
): { key: string; revision: number }[] {
  const found: { key: string; revision: number }[] = []
  const rows = database.prepare('SELECT * FROM log NOT INDEXED ORDER BY revision').iterate()
  for (const row of rows) {
    const key = String(row['key'])
    if (!isIntact(row, key, uncheckedMax)) found.push({ key, revision: Number(row['revision']) })
  }
  return found
}
