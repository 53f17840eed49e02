import { open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  asError,
  ExpectedError,
  exitCodes,
  makeDirectoryDurably,
  messageOf,
  syncDirectory,
  type Logger,
} from '@skerry/base'
import { openDatabase, pragma, sqliteFault, type Database } from './sqlite-database.ts'
import {
  isMetaIntact,
  migrate,
  readMeta,
  readSchemaVersion,
  writeMeta,
  type FileSchema,
} from './file-schema.ts'
import { restoreAdvice } from './last-backup.ts'
import { walDamage } from './wal-damage.ts'
import { storeBounds } from './limits-table.ts'

/** When to check the whole file at open. `afterCrash`: only if the last close was not clean. */
export type CheckPolicy = 'afterCrash' | 'always' | 'never'

export interface StoreFileOptions {
  schema: FileSchema
  check: CheckPolicy
  /** Writes that would grow the file above this are refused. If omitted, the disk is the limit. */
  bytesMax?: number
  walPagesMax: number
}

const pageBytes = 4_096
const { cacheKibibytes } = storeBounds.storeFile

/**
 * Opens or creates the file, locks it, migrates it to this program's schema and checks it. Every
 * failure that a person can correct is an ExpectedError that names the file.
 */
export async function openStoreFile(
  path: string,
  options: StoreFileOptions,
  log: Logger,
): Promise<Database> {
  await prepareFile(path)
  await checkLog(path, options.schema)
  let database: Database | undefined
  try {
    database = openDatabase(path)
    takeLock(database, path, options.schema)
    upgrade(database, path, options.schema, log)
    checkContent(database, path, options, log)
    configure(database, options)
    // A clean close clears this mark; an open that finds it set checks the file.
    writeMeta(database, 'isOpen', 1)
    return database
  } catch (error) {
    database?.close()
    throw explain(path, error)
  }
}

async function prepareFile(path: string): Promise<void> {
  try {
    await makeDirectoryDurably(dirname(path))
    if (await exists(path)) return
    if (await exists(`${path}-wal`)) {
      const text = `Cannot open store ${path}: the file is missing but its ${path}-wal is there`
      throw new ExpectedError(`${text}; ${restoreAdvice(path)}`, exitCodes.dataDirectory)
    }
    // Only this user may read the file, because the store holds Secrets. SQLite gives its -wal the
    // same mode.
    await using file = await open(path, 'wx', 0o600)
    await file.sync()
    await syncDirectory(dirname(path))
  } catch (error) {
    if (error instanceof ExpectedError) throw error
    const isCircle = error instanceof Error && 'code' in error && error.code === 'ELOOP'
    const reason = isCircle
      ? 'its symbolic link leads in a circle; remove the link, and restore a backup'
      : messageOf(error)
    const text = `Cannot open store ${path}: ${reason}`
    throw new ExpectedError(text, exitCodes.dataDirectory, { cause: error })
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

/** It counts for an empty file alone, and only before the first transaction. */
function makeShrinkable(database: Database): void {
  if (pragma(database, 'page_count') === 0) pragma(database, 'auto_vacuum = INCREMENTAL')
}

/** The kernel releases this lock with the process, so a killed one never blocks the next. */
function takeLock(
  database: Database,
  path: string,
  { applicationId, isShrinkable = false }: FileSchema,
): void {
  pragma(database, 'locking_mode = EXCLUSIVE')
  if (isShrinkable) makeShrinkable(database)
  database.exec('BEGIN IMMEDIATE')
  database.exec('COMMIT')
  const isEmpty =
    database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'] === 0
  const owner = pragma(database, 'application_id')
  if (!isEmpty && owner !== applicationId) {
    const text = `Cannot open store ${path}: the file is another program's database; choose another path`
    throw new ExpectedError(text, exitCodes.dataDirectory)
  }
}

/**
 * Call this before SQLite opens the file: when it closes it again, it takes what it can read of the log into the file,
 * and removes the log. A log that an older program has left is not empty at its start, and tells less.
 */
async function checkLog(path: string, schema: FileSchema): Promise<void> {
  const damage = walDamage(`${path}-wal`)
  if (damage === undefined) return
  const { applicationId, migrations } = schema
  const header = await headerOf(path)
  if (header?.applicationId !== applicationId || header.version !== migrations.length) return
  // The second look is for a process that has the file open, and was writing during the first.
  if (walDamage(`${path}-wal`) !== damage) return
  const text = `Cannot open store ${path}: ${damage} is damaged, and acknowledged changes follow it`
  throw new ExpectedError(`${text}; ${restoreAdvice(path)}`, exitCodes.dataDirectory)
}

/** Reads what the main file says of itself, at the places of SQLite's file format (section 1.3). */
async function headerOf(
  path: string,
): Promise<{ version: number; applicationId: number } | undefined> {
  try {
    await using file = await open(path, 'r')
    const header = Buffer.alloc(100)
    const { bytesRead } = await file.read(header, 0, header.length, 0)
    if (bytesRead < header.length) return undefined
    return { version: header.readUInt32BE(60), applicationId: header.readUInt32BE(68) }
  } catch {
    // SQLite says what it is.
    return undefined
  }
}

function upgrade(database: Database, path: string, schema: FileSchema, log: Logger): void {
  const version = readSchemaVersion(database)
  const schemaVersion = schema.migrations.length
  if (version > schemaVersion) {
    const text = `Cannot open store ${path}: its schema version ${version} is newer than ${schemaVersion}`
    const advice = 'run the newer program or restore a backup made by this one'
    throw new ExpectedError(`${text}; ${advice}`, exitCodes.dataDirectory)
  }
  if (version === 0) pragma(database, `page_size = ${pageBytes}`)
  pragma(database, 'journal_mode = WAL')
  pragma(database, 'synchronous = FULL')
  if (version < schemaVersion) migrate(database, schema, version)
  emptyLog(database)
  if (version === schemaVersion) return
  log.info('Store schema upgraded', { path, fromVersion: version, toVersion: schemaVersion })
}

/** walDamage reads the log of one process, and needs the version in the main file. */
function emptyLog(database: Database): void {
  try {
    pragma(database, 'wal_checkpoint(TRUNCATE)')
  } catch (error) {
    // The log goes on; only two power cuts while the disk is full could leave remains that look like damage.
    if (sqliteFault(error) !== 'full') throw error
  }
}

function checkContent(
  database: Database,
  path: string,
  { check: policy, schema }: StoreFileOptions,
  log: Logger,
): void {
  const wasCut = readMeta(database, 'isOpen') === 1
  if (policy === 'never' || (policy === 'afterCrash' && !wasCut)) return
  const { isReindexed } = verifyContent(database, path, schema)
  if (isReindexed) log.error('Store index was damaged and has been rebuilt', { path })
}

/**
 * Reads the whole file, in about 0.1 s for 100 MB. Rebuilds damaged indexes if every row is
 * provably intact. Throws ExpectedError for other damage, except inside values, which each read
 * checks.
 */
export function verifyContent(
  database: Database,
  path: string,
  schema: FileSchema,
): { isReindexed: boolean } {
  const result = pragma(database, 'integrity_check(1)')
  if (!isMetaIntact(database)) throw damagedFile(path, 'its marks are not as they were written')
  if (result === 'ok') return { isReindexed: false }
  if (schema.hasIntactRows(database)) {
    database.exec('REINDEX')
    if (pragma(database, 'integrity_check(1)') === 'ok') return { isReindexed: true }
  }
  throw damagedFile(path, String(result))
}

function damagedFile(path: string, what: string): ExpectedError {
  const text = `Cannot open store ${path}: it is damaged (${what}); ${restoreAdvice(path)}`
  return new ExpectedError(text, exitCodes.dataDirectory)
}

function configure(database: Database, options: StoreFileOptions): void {
  pragma(database, `cache_size = -${cacheKibibytes}`)
  pragma(database, 'temp_store = MEMORY')
  pragma(database, `wal_autocheckpoint = ${options.walPagesMax}`)
  pragma(database, `journal_size_limit = ${2 * options.walPagesMax * pageBytes}`)
  if (options.bytesMax !== undefined) {
    pragma(database, `max_page_count = ${Math.ceil(options.bytesMax / pageBytes)}`)
  }
}

function explain(path: string, error: unknown): unknown {
  const fault = sqliteFault(error)
  const cause = { cause: error }
  switch (fault) {
    case undefined:
      return error
    case 'busy': {
      const text = `Cannot open store ${path}: another process has it open; stop that one first`
      return new ExpectedError(text, exitCodes.alreadyRunning, cause)
    }
    case 'full': {
      const text = `Cannot open store ${path}: no space is left on the disk; free some`
      return new ExpectedError(text, exitCodes.diskFull, cause)
    }
    case 'notADatabase':
    case 'corrupt': {
      const text = `Cannot open store ${path}: the file is damaged or is not a store; ${restoreAdvice(path)}`
      return new ExpectedError(text, exitCodes.dataDirectory, cause)
    }
    case 'readOnly':
    case 'cannotOpen':
    case 'ioError': {
      const text = `Cannot open store ${path}: it cannot be read or written; check its rights and disk`
      return new ExpectedError(text, exitCodes.dataDirectory, cause)
    }
  }
}

/** Closes a file so that the next open need not check it. */
export function closeStoreFile(database: Database, log: Pick<Logger, 'error'>): void {
  try {
    writeMeta(database, 'isOpen', 0)
    pragma(database, 'wal_checkpoint(TRUNCATE)')
  } catch (error) {
    // Nothing is lost: the write-ahead log stays next to the file, and the next open checks both.
    log.error('Store not closed cleanly', { error: asError(error) })
  } finally {
    database.close()
  }
}
