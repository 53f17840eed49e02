import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { systemRandom } from '@skerry/base'
import { inTransaction, type Database } from './sqlite-database.ts'
import { readMeta, writeMeta } from './file-schema.ts'
import { readRecentWrites } from './recent-writes.ts'
import { SqliteLog } from './sqlite-log.ts'

/** Where a store keeps writes that SQLite does not have yet. */
export function recentPath(path: string): string {
  return `${path}-recent`
}

/**
 * Takes back what the last process had in its file of recent writes. Relaxed writes that a power cut has lost had
 * revisions that others may have seen; the next revision is then above all of them, and history up to it is compacted,
 * so that nobody takes a new revision for one that is lost.
 */
export function recover(database: Database, path: string, bootId = kernelBootId()): void {
  const log = new SqliteLog(database)
  const rows = readRecentWrites(recentPath(path), log.newestRow())
  const boot = 1 + crc32(bootId)
  const known = readMeta(database, 'boot')
  if (rows.length === 0 && known === boot) return
  inTransaction(database, () => {
    for (const row of rows) log.append(row)
    const promised = readMeta(database, 'promised')
    const newest = Math.max(log.newestRevision(), readMeta(database, 'compacted'))
    // 0: the last close was clean. The same boot: the kernel has kept all.
    const mayHaveLost = known !== 0 && known !== boot && promised > newest
    if (mayHaveLost) writeMeta(database, 'compacted', promised)
    writeMeta(database, 'boot', boot)
  })
}

/** Call this when nothing is held any more. */
export function markClosed(database: Database): void {
  if (readMeta(database, 'boot') !== 0) writeMeta(database, 'boot', 0)
}

/** Changes with each start of the machine. Where it cannot be read, each start counts as one after a power cut. */
function kernelBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
  } catch {
    return String(systemRandom.next())
  }
}
