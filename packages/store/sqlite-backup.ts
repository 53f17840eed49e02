import { constants } from 'node:fs'
import { access, link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  diskFullError,
  ExpectedError,
  exitCodes,
  isDiskFull,
  makeDirectoryDurably,
  syncDirectory,
} from '@skerry/base'
import {
  inTransaction,
  openDatabase,
  pragma,
  sqliteFault,
  type Database,
} from './sqlite-database.ts'
import { damagedRows } from './row-checksum.ts'
import { SqliteLog } from './sqlite-log.ts'
import { migrate, readMeta, readSchemaVersion, sealMeta, writeMeta } from './file-schema.ts'
import { storeSchema } from './sqlite-schema.ts'
import { exists, verifyContent } from './store-file.ts'

interface RowName {
  readonly key: string
  readonly revision: number
}

export interface CopySource {
  readonly database: Database
  readonly log: SqliteLog
  /** Returns the newest durable revision. */
  readonly revision: () => number
  readonly rowsPerSlice: number
}

/**
 * Copies the store as of one revision, verifies and syncs the copy, and only then gives it its
 * name. The log only grows at its end, so slices of it make a consistent copy while writes go on;
 * the caller prevents compaction meanwhile. (node:sqlite's backup() runs in another thread and
 * fails at random if this thread writes in between.) Throws ExpectedError if the target's disk is
 * full.
 */
export async function copyStore(
  source: CopySource,
  targetPath: string,
  signal?: AbortSignal,
): Promise<{ bytes: number; revision: number }> {
  if (await exists(targetPath)) {
    const text = `Cannot back up to ${targetPath}: the file exists; choose another name`
    throw new ExpectedError(text, exitCodes.dataDirectory)
  }
  const partPath = `${targetPath}.part`
  try {
    await makeDirectoryDurably(dirname(targetPath))
    await makePrivateFile(partPath)
    createEmpty(partPath)
    const revision = await copyRows(source, partPath, signal)
    const damaged = checkCopy(partPath, partPath)
    for (const row of damaged) requireDamaged(source.log, row, targetPath)
    const bytes = await syncFile(partPath)
    await rename(partPath, targetPath)
    await syncDirectory(dirname(targetPath))
    return { bytes, revision }
  } catch (error) {
    throw shownFault(error, `back up to ${targetPath}`)
  } finally {
    await removeDatabase(partPath)
  }
}

export function createEmpty(path: string): void {
  using database = openDatabase(path)
  migrate(database, storeSchema, 0)
}

async function copyRows(
  source: CopySource,
  partPath: string,
  signal?: AbortSignal,
): Promise<number> {
  const { database, log, rowsPerSlice } = source
  database.prepare('ATTACH DATABASE ? AS copy').run(partPath)
  try {
    // The copy is synced as a whole at its end; until then it has no name.
    pragma(database, 'copy.journal_mode = OFF')
    pragma(database, 'copy.synchronous = OFF')
    // Leases and marks are copied before the first await, so that they belong to this revision,
    // too.
    const revision = source.revision()
    database.exec('INSERT INTO copy.lease SELECT * FROM main.lease')
    database.exec('INSERT OR REPLACE INTO copy.meta SELECT * FROM main.meta')
    // A copy has lost nothing, whichever machine opens it.
    database.exec("UPDATE copy.meta SET value = 0 WHERE name IN ('promised', 'boot')")
    sealMeta(database, 'copy')
    const sql = 'INSERT INTO copy.log SELECT * FROM main.log WHERE revision > ? AND revision <= ?'
    const copySlice = database.prepare(sql)
    for (let copied = 0; copied < revision;) {
      const to = log.sliceEnd(copied, rowsPerSlice, revision)
      copySlice.run(copied, to)
      copied = to
      await nextTurn()
      signal?.throwIfAborted()
    }
    return revision
  } finally {
    if (database.isOpen) database.exec('DETACH DATABASE copy')
  }
}

export interface RestoreOptions {
  /**
   * The jump of the revision. Clients may have seen revisions newer than the backup. The jump, with
   * all history marked compacted, makes each of them list again instead of trusting a revision that
   * now has another meaning. Default: one thousand million, as etcd's guide advises.
   */
  bumpRevision?: number
}

export interface RestoreResult {
  readonly revision: number
  /** Where the previous store is kept; omitted if there was none. */
  readonly replacedPath?: string
  /** Keys whose value in the backup is damaged. The store reports them when they are read. */
  readonly damagedKeys: readonly string[]
}

/**
 * Replaces a store with a backup. Everything is checked before the old store is touched: the
 * backup's content, its version, and that no process has the target open. Throws ExpectedError if
 * the disk is full.
 */
export async function restoreSqliteStore(
  backupPath: string,
  targetPath: string,
  options: RestoreOptions = {},
): Promise<RestoreResult> {
  const { bumpRevision = 1_000_000_000 } = options
  await assertReadable(backupPath)
  const partPath = `${targetPath}.part`
  try {
    await makeDirectoryDurably(dirname(targetPath))
    await removeDatabase(partPath)
    await makePrivateFile(partPath)
    await copyFileInto(backupPath, partPath)
    const damagedKeys = checkCopy(partPath, backupPath).map(({ key }) => key)
    const revision = bump(partPath, bumpRevision)
    await syncFile(partPath)
    const replacedPath = await setAside(targetPath)
    await rename(partPath, targetPath)
    await syncDirectory(dirname(targetPath))
    return { revision, damagedKeys, ...(replacedPath ? { replacedPath } : {}) }
  } catch (error) {
    throw shownFault(error, `restore to ${targetPath}`)
  } finally {
    await removeDatabase(partPath)
  }
}

export function shownFault(error: unknown, action: string): unknown {
  return !(error instanceof ExpectedError) && isDiskFull(error)
    ? diskFullError(action, error)
    : error
}

async function assertReadable(backupPath: string): Promise<void> {
  try {
    await access(backupPath, constants.R_OK)
  } catch (error) {
    const text = `Cannot restore from ${backupPath}: the file cannot be read`
    throw new ExpectedError(text, exitCodes.dataDirectory, { cause: error })
  }
}

export async function makePrivateFile(path: string): Promise<void> {
  await removeDatabase(path)
  await using _file = await open(path, 'wx', 0o600)
}

async function copyFileInto(fromPath: string, toPath: string): Promise<void> {
  await using from = await open(fromPath, 'r')
  await using to = await open(toPath, 'r+')
  await to.writeFile(from.readableWebStream())
}

/** A backup copies a damaged value of the store unchanged, and has no damage of its own. */
function requireDamaged(log: SqliteLog, { key, revision }: RowName, targetPath: string): void {
  const { entry } = log.head(key, revision) ?? {}
  if (entry?.modRevision === revision && entry.isDamaged) return
  const text = `Cannot back up to ${targetPath}: the value written for ${key} reads back damaged`
  throw new ExpectedError(`${text}; check that disk`, exitCodes.dataDirectory)
}

/**
 * Migrates the file to this program's schema and returns its damaged values. Throws an
 * ExpectedError that names the backup if it is not a complete store.
 */
export function checkCopy(path: string, shownPath: string): RowName[] {
  try {
    using database = openDatabase(path)
    pragma(database, 'locking_mode = EXCLUSIVE')
    if (pragma(database, 'application_id') !== storeSchema.applicationId) {
      throw new ExpectedError(`Cannot use ${shownPath}: it is not a store`, exitCodes.dataDirectory)
    }
    const version = readSchemaVersion(database)
    const schemaVersion = storeSchema.migrations.length
    if (version > schemaVersion) {
      const text = `Cannot use ${shownPath}: its schema version ${version} is newer than ${schemaVersion}`
      throw new ExpectedError(`${text}; run the newer program`, exitCodes.dataDirectory)
    }
    if (version < schemaVersion) migrate(database, storeSchema, version)
    verifyContent(database, shownPath, storeSchema)
    const damaged = damagedRows(database, { uncheckedMax: readMeta(database, 'unchecked') })
    pragma(database, 'wal_checkpoint(TRUNCATE)')
    return damaged
  } catch (error) {
    if (sqliteFault(error) === undefined || isDiskFull(error)) throw error
    const text = `Cannot use ${shownPath}: it is damaged or is not a store`
    throw new ExpectedError(text, exitCodes.dataDirectory, { cause: error })
  }
}

function bump(path: string, bumpRevision: number): number {
  using database = openDatabase(path)
  pragma(database, 'locking_mode = EXCLUSIVE')
  const newest = Math.max(
    1,
    new SqliteLog(database).newestRevision(),
    readMeta(database, 'compacted'),
  )
  const revision = newest + bumpRevision
  inTransaction(database, () => writeMeta(database, 'compacted', revision))
  pragma(database, 'wal_checkpoint(TRUNCATE)')
  return revision
}

/** Keeps the old store next to the new one, so that a wrong restore can be undone. */
export async function setAside(targetPath: string): Promise<string | undefined> {
  if (!(await exists(targetPath))) return undefined
  foldWal(targetPath)
  const asidePath = await freePath(`${targetPath}.replaced`)
  await link(targetPath, asidePath)
  for (const end of ['-wal', '-recent']) {
    if (await exists(`${targetPath}${end}`))
      await rename(`${targetPath}${end}`, `${asidePath}${end}`)
  }
  return asidePath
}

/** Moves the old store's last writes into its main file. A damaged one stays as it is. */
function foldWal(targetPath: string): void {
  try {
    using database = openDatabase(targetPath)
    pragma(database, 'locking_mode = EXCLUSIVE')
    pragma(database, 'wal_checkpoint(TRUNCATE)')
  } catch (error) {
    const fault = sqliteFault(error)
    if (fault === 'busy') {
      const text = `Cannot restore ${targetPath}: a process has it open; stop it first`
      throw new ExpectedError(text, exitCodes.alreadyRunning, { cause: error })
    }
    if (fault !== 'corrupt' && fault !== 'notADatabase') throw error
  }
}

export async function freePath(wanted: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const path = `${wanted}-${number}`
    if (!(await exists(path))) return path
  }
}

export async function syncFile(path: string): Promise<number> {
  await using file = await open(path, 'r')
  await file.sync()
  return (await file.stat()).size
}

export async function removeDatabase(path: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal'])
    await rm(`${path}${suffix}`, { force: true })
}
