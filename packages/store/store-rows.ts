import { renameSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ExpectedError, exitCodes, type Logger } from '@skerry/base'
import { markClosed, recover } from './boot.ts'
import { readMeta, writeMeta } from './file-schema.ts'
import { freePath, syncFile } from './sqlite-backup.ts'
import { storeBounds, storeLimitDefaults } from './limits-table.ts'
import { findRecentPlace } from './recent-place.ts'
import { removeIfThere } from './recent-writes.ts'
import { isIntact } from './row-checksum.ts'
import {
  bytesOf,
  numberOf,
  pragma,
  textOf,
  type Database,
  type Row,
  type Statement,
} from './sqlite-database.ts'
import type { LogRow } from './sqlite-log.ts'
import { storeSchema } from './sqlite-schema.ts'
import { closeStoreFile, exists, openStoreFile } from './store-file.ts'

const { sliceRows } = storeBounds.storeRows

export interface StoreRow extends LogRow {
  /** The number of puts since the key was created. If compacted rows are gone, a number that may be too small. */
  readonly version: number
}

export interface StoreLease {
  readonly leaseId: number
  readonly ttlSeconds: number
}

/** A closed store with its whole history. The file is locked until this is disposed. */
export interface StoreRows extends Disposable {
  readonly revision: number
  readonly compacted: number
  /** The revision up to which compacted history has been removed. */
  readonly scrubbed: number
  readonly leases: readonly StoreLease[]
  /** Returns the number of living keys that begin with none of these. */
  count(except: readonly string[]): number
  /**
   * Gives the file another name before anybody else can open it, so that nobody continues with a store that was moved
   * elsewhere. Resolves to that name; the store is closed then.
   */
  retire(suffix: string): Promise<string>
  /** Yields all rows in the order of their revisions, in slices. Throws ExpectedError at a damaged one. */
  rows(): AsyncGenerator<StoreRow[], void>
}

/** Opens a store's file to read all of it. Throws ExpectedError if it is missing, in use or damaged. */
export async function openStoreRows(path: string, log: Logger): Promise<StoreRows> {
  if (!(await exists(path))) {
    throw new ExpectedError(`Cannot read ${path}: there is no such store`, exitCodes.dataDirectory)
  }
  const { walPagesMax } = storeLimitDefaults
  const options = { schema: storeSchema, check: 'always', walPagesMax } as const
  const database = await openStoreFile(path, options, log)
  const place = findRecentPlace(path)
  recover(database, { path, place })
  markClosed(database)
  removeIfThere(place.path)
  const compacted = readMeta(database, 'compacted')
  const newest = database.prepare('SELECT max(revision) AS revision FROM log').get()
  return {
    revision: Math.max(1, Number(newest?.['revision'] ?? 0), compacted),
    compacted,
    scrubbed: readMeta(database, 'scrubbed'),
    leases: leasesOf(database),
    count: (except) => countOf(database, except),
    rows: () => rowsOf(database, path),
    retire: (suffix) => retire(database, path, suffix),
    [Symbol.dispose]: () => {
      if (database.isOpen) closeStoreFile(database, log)
    },
  }
}

async function retire(database: Database, path: string, suffix: string): Promise<string> {
  const retiredPath = await freePath(`${path}.${suffix}`)
  writeMeta(database, 'isOpen', 0)
  // Everything is in the main file now, and the lock keeps it so until the new name is there.
  pragma(database, 'wal_checkpoint(TRUNCATE)')
  renameSync(path, retiredPath)
  database.close()
  // Empty since the checkpoint; next to a missing store it would look like the rest of a lost one.
  for (const suffix of ['-wal', '-shm', '-recent']) await rm(`${path}${suffix}`, { force: true })
  await syncFile(dirname(path))
  return retiredPath
}

function leasesOf(database: Database): StoreLease[] {
  return database
    .prepare('SELECT lease_id, ttl_ms FROM lease')
    .all()
    .map((row) => ({
      leaseId: numberOf(row, 'lease_id'),
      ttlSeconds: Math.max(1, Math.ceil(numberOf(row, 'ttl_ms') / 1_000)),
    }))
}

function countOf(database: Database, except: readonly string[]): number {
  const newest = `SELECT key, max(revision), is_deleted FROM log INDEXED BY log_key
    WHERE substr(key, 1, length(:prefix)) = :prefix GROUP BY key HAVING is_deleted = 0`
  const statement = database.prepare(`SELECT count(*) AS count FROM (${newest})`)
  const below = (prefix: string): number => Number(statement.get({ prefix })?.['count'])
  return except.reduce((count, prefix) => count - below(prefix), below(''))
}

async function* rowsOf(database: Database, path: string): AsyncGenerator<StoreRow[], void> {
  const uncheckedMax = readMeta(database, 'unchecked')
  const slice: Statement = database.prepare(
    'SELECT * FROM log WHERE revision > ? ORDER BY revision LIMIT ?',
  )
  /** The version of the newest row of each living key, by its revision. */
  const versions = new Map<number, number>()
  for (let after = 0; ;) {
    const found = slice.all(after, sliceRows)
    if (found.length === 0) return
    const rows = found.map((row) => rowOf(row, { uncheckedMax, path }))
    yield rows.map((row) => ({ ...row, version: versionOf(row, versions) }))
    after = rows.at(-1)?.revision ?? after
    await nextTurn()
  }
}

/** A row that supersedes a compacted one is at least the second. */
function versionOf(row: LogRow, versions: Map<number, number>): number {
  const { revision, previousRevision, isDeleted } = row
  const before = previousRevision === 0 ? 0 : (versions.get(previousRevision) ?? 1)
  versions.delete(previousRevision)
  if (isDeleted) return 0
  versions.set(revision, before + 1)
  return before + 1
}

function rowOf(row: Row, { uncheckedMax, path }: { uncheckedMax: number; path: string }): LogRow {
  const key = textOf(row, 'key')
  const revision = numberOf(row, 'revision')
  if (!isIntact(row, key, uncheckedMax)) {
    const text = `Cannot read ${path}: the value of ${key} at revision ${revision} is damaged`
    const remedy = 'delete that object and compact, or restore a backup'
    throw new ExpectedError(`${text}; ${remedy}`, exitCodes.dataDirectory)
  }
  return {
    revision,
    key,
    createRevision: numberOf(row, 'create_revision'),
    previousRevision: numberOf(row, 'previous_revision'),
    isDeleted: numberOf(row, 'is_deleted') === 1,
    leaseId: numberOf(row, 'lease_id'),
    value: bytesOf(row, 'value'),
  }
}
