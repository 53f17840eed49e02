import { rename, rm, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { diskFullError, ExpectedError, exitCodes, isDiskFull, type Logger } from '@skerry/base'
import type { EtcdRecord, Snapshot } from '@skerry/etcd-snapshot'
import { closeStoreFile, openStoreFile, writeMeta, type Database } from '@skerry/store'
import { checksumOf, engineSchema, leaseText } from '../engine/engine-schema.ts'
import { etcdServerBounds } from '../limits-table.ts'

const { walPagesMax } = etcdServerBounds.etcdEngine

/**
 * Makes the store of an etcd server of a snapshot, with all revisions and the history. Throws ExpectedError if there is a
 * store already, if the snapshot is damaged or has users, or the disk is full; then there is no store.
 */
export async function storeFromSnapshot(
  path: string,
  snapshot: Snapshot,
  { log, signal, onProgress }: ImportDeps,
): Promise<{ revision: number; records: number }> {
  await refuseExisting(path)
  if (snapshot.hasUsers) {
    const text = `Cannot make ${path}: the snapshot has users with passwords, which an import does not take along`
    throw new ExpectedError(`${text}; disable authentication, and save it again`, exitCodes.usage)
  }
  const partPath = `${path}.part`
  try {
    await removeFile(partPath)
    const database = await openStoreFile(
      partPath,
      { schema: engineSchema, check: 'never', walPagesMax },
      log,
    )
    let filled: { revision: number; records: number }
    try {
      filled = await fill(database, snapshot, { signal, onProgress })
    } finally {
      closeStoreFile(database, log)
    }
    await sync(partPath)
    await rename(partPath, path)
    await sync(dirname(path))
    return filled
  } catch (error) {
    if (error instanceof ExpectedError || !isDiskFull(error)) throw error
    throw diskFullError(`make ${path}`, error)
  } finally {
    await removeFile(partPath)
  }
}

export interface ImportDeps {
  readonly log: Logger
  readonly signal: AbortSignal
  readonly onProgress?: ((records: number) => void) | undefined
}

async function fill(
  database: Database,
  snapshot: Snapshot,
  { signal, onProgress }: Omit<ImportDeps, 'log'>,
): Promise<{ revision: number; records: number }> {
  const addLease = database.prepare('INSERT INTO lease VALUES (?, ?)')
  const add = adder(database, snapshot.compacted)
  let revision = snapshot.compacted
  let records = 0
  for (const { id, ttlSeconds } of snapshot.leases) addLease.run(leaseText(id), ttlSeconds)
  for await (const slice of snapshot.records()) {
    signal.throwIfAborted()
    database.exec('BEGIN IMMEDIATE')
    for (const record of slice) add(record)
    database.exec('COMMIT')
    revision = Math.max(revision, slice.at(-1)?.revision ?? 0)
    records += slice.length
    onProgress?.(records)
  }
  writeMeta(database, 'compacted', snapshot.compacted)
  return { revision: Math.max(1, revision), records }
}

/** Returns a function that appends a change, which knows the row that it supersedes. */
function adder(database: Database, compacted: number): (record: EtcdRecord) => void {
  const head = database.prepare(
    'SELECT position, version FROM log WHERE key = ? ORDER BY revision DESC, sub DESC LIMIT 1',
  )
  const append = database.prepare('INSERT INTO log VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  return (record) => {
    const { key, revision, sub, createRevision, version, lease, value, isDeleted } = record
    const before = head.get(key)
    const isAlive = before !== undefined && before['version'] !== 0
    const previous = isAlive ? Number(before['position']) : 0
    const isWhole = isAlive || (!isDeleted && createRevision === revision)
    if (revision > compacted && !isWhole) {
      const text = `Cannot use the snapshot: revision ${revision} changes a key that is not there`
      throw new ExpectedError(text, exitCodes.dataDirectory)
    }
    const row = { key, revision, sub, createRevision, version, previous, lease, value }
    const fields = [key, revision, sub, createRevision, version, previous, leaseText(lease), value]
    append.run(...fields, checksumOf(row))
  }
}

async function refuseExisting(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) return
  const text = `Cannot make ${path}: a store is there; move it away, or choose another directory`
  throw new ExpectedError(text, exitCodes.dataDirectory)
}

async function removeFile(path: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal']) {
    await rm(`${path}${suffix}`, { force: true })
  }
}

async function sync(path: string): Promise<void> {
  await using file = await open(path, 'r')
  await file.sync()
}
