import { mkdir, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { writeMeta } from './file-schema.ts'
import { storeBounds } from './limits-table.ts'
import {
  checkCopy,
  createEmpty,
  makePrivateFile,
  removeDatabase,
  setAside,
  shownFault,
  syncFile,
} from './sqlite-backup.ts'
import { numberOf, openDatabase, pragma, type Database, type Statement } from './sqlite-database.ts'
import { SqliteLog, type LogRow } from './sqlite-log.ts'
import type { StoreLease } from './store-rows.ts'

const { gapsMax } = storeBounds.storeFromRows

/** One change of another store's history. */
export type ForeignRow = Omit<LogRow, 'previousRevision'>

export interface ForeignHistory {
  /** The newest revision of that store, even if it belongs to none of these rows. */
  readonly revision: number
  /** No reader gets an older state. At least the newest revision that several rows share. */
  readonly compacted: number
  readonly leases: readonly StoreLease[]
  /** All rows in the order of their revisions, in slices. */
  readonly rows: AsyncIterable<readonly ForeignRow[]>
}

export interface StoreFromRows {
  readonly revision: number
  /** Keys that shared their revision with another one, and have a new one. */
  readonly renumbered: number
  /** True if all readers must list again. */
  readonly isHistoryLost: boolean
  /** The place where the previous store is kept; omitted if there was none. */
  readonly replacedPath?: string
}

/**
 * Makes a store of another store's history, verifies and syncs it, and only then gives it its name; a store that is
 * there is kept next to it. Revisions stay as they are. Here each revision has one row: of several that share one, the
 * first keeps it, and each other key is written once more, with a revision after all others, so that every watch learns
 * the new one. Throws ExpectedError if the disk is full, the target is in use, or the history contradicts itself.
 */
export async function createStoreFromRows(
  targetPath: string,
  history: ForeignHistory,
  signal?: AbortSignal,
): Promise<StoreFromRows> {
  const partPath = `${targetPath}.part`
  try {
    await mkdir(dirname(targetPath), { recursive: true, mode: 0o700 })
    await makePrivateFile(partPath)
    createEmpty(partPath)
    const result = await fill(partPath, history, signal)
    const [damaged] = checkCopy(partPath, partPath)
    if (damaged !== undefined) {
      const text = `Cannot make ${targetPath}: the value written for ${damaged.key} reads back damaged`
      throw new ExpectedError(`${text}; check that disk`, exitCodes.dataDirectory)
    }
    await syncFile(partPath)
    const replacedPath = await setAside(targetPath)
    await rename(partPath, targetPath)
    await syncFile(dirname(targetPath))
    return { ...result, ...(replacedPath ? { replacedPath } : {}) }
  } catch (error) {
    throw shownFault(error, `make ${targetPath}`)
  } finally {
    await removeDatabase(partPath)
  }
}

async function fill(
  path: string,
  history: ForeignHistory,
  signal: AbortSignal | undefined,
): Promise<StoreFromRows> {
  using database = openDatabase(path)
  // The file is synced as a whole at its end; until then it has no name.
  pragma(database, 'journal_mode = OFF')
  pragma(database, 'synchronous = OFF')
  const target = new RowTarget(database, history)
  const insertLease = database.prepare('INSERT INTO lease VALUES (?, ?, ?)')
  database.exec('BEGIN IMMEDIATE')
  for (const { leaseId, ttlSeconds } of history.leases) {
    insertLease.run(leaseId, ttlSeconds * 1_000, ttlSeconds * 1_000)
  }
  for await (const slice of history.rows) {
    signal?.throwIfAborted()
    for (const row of slice) target.take(row)
    await nextTurn()
  }
  const result = target.finish()
  writeMeta(database, 'compacted', result.isHistoryLost ? result.revision : history.compacted)
  // Only the newest compacted row of each living key was taken.
  writeMeta(database, 'scrubbed', history.compacted)
  database.exec('COMMIT')
  return result
}

interface Known {
  readonly revision: number
  readonly isDeleted: boolean
  readonly createRevision: number
}

/** Puts rows of another store into the log, each at a revision of its own. */
class RowTarget {
  readonly #history: ForeignHistory
  readonly #log: SqliteLog
  readonly #newest: Statement
  readonly #delete: Statement
  readonly #row: Statement
  readonly #free = new FreeRevisions(gapsMax)
  /** Rows that could not keep their revision: where they are, and when the key was created. */
  readonly #moved: { key: string; at: number; createRevision: number }[] = []
  #last = 0
  #revision: number
  #isHistoryLost = false

  constructor(database: Database, history: ForeignHistory) {
    this.#history = history
    this.#revision = history.revision
    this.#log = new SqliteLog(database)
    this.#newest = database.prepare(
      'SELECT revision, is_deleted, create_revision FROM log WHERE key = ? ORDER BY revision DESC LIMIT 1',
    )
    this.#delete = database.prepare('DELETE FROM log WHERE revision = ?')
    this.#row = database.prepare('SELECT * FROM log WHERE revision = ?')
  }

  take(row: ForeignRow): void {
    const isShared = row.revision === this.#last
    if (row.revision < this.#last || row.revision > this.#history.revision) {
      throw contradiction(row, 'it is out of order')
    }
    if (!isShared) this.#free.skip(this.#last, row.revision)
    this.#last = row.revision
    if (row.revision > this.#history.compacted) {
      if (isShared) throw contradiction(row, 'another change has the same revision')
      this.#takeHistory(row)
    } else this.#takeCompacted(row, isShared)
  }

  finish(): StoreFromRows {
    const moved = this.#moved.filter(({ key, at }) => this.#known(key)?.revision === at)
    const behind = moved.filter(({ at }) => at <= this.#history.revision)
    for (const each of behind) this.#writeAgain(each)
    // The newest revision counts, even if it was another key's than these.
    const isBehind = this.#log.newestRevision() < this.#revision
    if (isBehind && !this.#isHistoryLost) this.#appendMark()
    return {
      revision: this.#revision,
      renumbered: moved.length,
      isHistoryLost: this.#isHistoryLost,
    }
  }

  #takeHistory(row: ForeignRow): void {
    const before = this.#living(row)
    if (row.isDeleted) {
      if (before === undefined) throw contradiction(row, 'it deletes a key that is not there')
      const { revision: previousRevision, createRevision } = before
      return this.#log.append({ ...row, createRevision, previousRevision, leaseId: 0 })
    }
    if (before === undefined && row.createRevision !== row.revision && !this.#isHistoryLost) {
      throw contradiction(row, `nothing of it is left since revision ${row.createRevision}`)
    }
    this.#log.append({ ...row, previousRevision: before?.revision ?? 0 })
  }

  /** Nobody can read what these rows superseded, so only the newest of each key is taken. */
  #takeCompacted(row: ForeignRow, isShared: boolean): void {
    const before = this.#known(row.key)
    if (before) {
      this.#delete.run(before.revision)
      if (before.revision <= row.revision) this.#free.add(before.revision)
    }
    if (row.isDeleted) {
      if (!isShared) this.#free.add(row.revision)
      return
    }
    const revision = isShared ? this.#revisionFor() : row.revision
    const createRevision = Math.min(row.createRevision, revision)
    this.#log.append({ ...row, revision, createRevision, previousRevision: 0 })
    if (revision === row.revision) return
    this.#moved.push({ key: row.key, at: revision, createRevision: row.createRevision })
  }

  /** Returns a compacted revision that nobody has; if there is none, a new one, and then all must list again. */
  #revisionFor(): number {
    const free = this.#free.take()
    if (free !== undefined) return free
    this.#isHistoryLost = true
    this.#revision += 1
    return this.#revision
  }

  #living(row: ForeignRow): Known | undefined {
    const known = this.#known(row.key)
    if (known === undefined || known.revision <= this.#history.revision) {
      return known?.isDeleted ? undefined : known
    }
    // It was moved behind everything, and this row is newer.
    this.#delete.run(known.revision)
    return row.isDeleted ? known : undefined
  }

  #known(key: string): Known | undefined {
    const row = this.#newest.get(key)
    if (row === undefined) return undefined
    return {
      revision: numberOf(row, 'revision'),
      isDeleted: row['is_deleted'] === 1,
      createRevision: numberOf(row, 'create_revision'),
    }
  }

  #writeAgain({ key, at, createRevision }: { key: string; at: number; createRevision: number }) {
    const row = this.#row.get(at)
    const { value } = this.#log.head(key, at)?.entry ?? {}
    if (row === undefined || value === undefined) return
    this.#revision += 1
    this.#log.append({
      revision: this.#revision,
      key,
      createRevision,
      previousRevision: at,
      isDeleted: false,
      leaseId: numberOf(row, 'lease_id'),
      value,
    })
  }

  #appendMark(): void {
    const revision = this.#revision
    const before = this.#known(markKey)
    this.#log.append({
      revision,
      key: markKey,
      createRevision: before?.createRevision ?? revision,
      previousRevision: before?.revision ?? 0,
      isDeleted: false,
      leaseId: 0,
      value: new Uint8Array(0),
    })
  }
}

/** Carries the newest revision of the store that these rows came from. */
const markKey = '/revision'

/** Remembers revisions that no row has, up to a number of gaps. */
class FreeRevisions {
  readonly #gaps: { from: number; to: number }[] = []
  readonly #gapsMax: number

  constructor(max: number) {
    this.#gapsMax = max
  }

  /** Between these two, both exclusive, there is no row. Revision 1 is that of an empty etcd. */
  skip(last: number, next: number): void {
    this.#push({ from: Math.max(1, last) + 1, to: next - 1 })
  }

  /** The row of this revision is gone. */
  add(revision: number): void {
    this.#push({ from: revision, to: revision })
  }

  #push(gap: { from: number; to: number }): void {
    if (gap.from <= gap.to && this.#gaps.length < this.#gapsMax) this.#gaps.push(gap)
  }

  take(): number | undefined {
    const gap = this.#gaps.at(-1)
    if (gap === undefined) return undefined
    const { to } = gap
    gap.to -= 1
    if (gap.from > gap.to) this.#gaps.pop()
    return to
  }
}

function contradiction({ revision, key }: ForeignRow, why: string): ExpectedError {
  return new ExpectedError(
    `Cannot use the history: revision ${revision} of ${key} contradicts it: ${why}`,
    exitCodes.dataDirectory,
  )
}
