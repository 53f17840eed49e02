import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { systemRandom } from '@skerry/base'
import { inTransaction, type Database } from './sqlite-database.ts'
import { readMeta, writeMeta } from './file-schema.ts'
import { pathBesideStore, type RecentPlace } from './recent-place.ts'
import { readRecentWrites, removeIfThere } from './recent-writes.ts'
import { SqliteLog } from './sqlite-log.ts'

export interface LastProcess {
  /** The path of the store. */
  readonly path: string
  readonly place: RecentPlace
  /** Differs from that of the last open if the power may have been cut. Default: the kernel's. */
  readonly bootId?: string | undefined
}

/**
 * Takes back what the last process had in its file of recent writes. Relaxed writes that were lost with the power, or with
 * the memory of a container, had revisions that others may have seen; the next revision is then above all of them, and
 * history up to it is compacted, so that nobody takes a new revision for one that is lost.
 */
export function recover(database: Database, { path, place, bootId }: LastProcess): void {
  const log = new SqliteLog(database)
  const beside: RecentPlace = { path: pathBesideStore(path), headBytes: 0, mark: '' }
  const boot = 1 + crc32(`${bootId ?? kernelBootId()}${place.mark}`)
  // 0: the last close was clean. Another number: the file in memory is not that of the last process.
  const known = readMeta(database, 'boot')
  const rows = known === 0 ? [] : readRecentWrites(known === boot ? place : beside, log.newestRow())
  if (rows.length === 0 && known === boot) return
  inTransaction(database, () => {
    for (const row of rows) log.append(row)
    const promised = readMeta(database, 'promised')
    const newest = Math.max(log.newestRevision(), readMeta(database, 'compacted'))
    // In the same boot the kernel has kept all.
    const mayHaveLost = known !== 0 && known !== boot && promised > newest
    if (mayHaveLost) writeMeta(database, 'compacted', promised)
    writeMeta(database, 'boot', boot)
  })
  if (place.mark !== '') removeIfThere(beside.path)
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
