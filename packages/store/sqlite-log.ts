import type { KeyRange } from './key-range.ts'
import {
  bytesOf,
  numberOf,
  textOf,
  type Database,
  type Row,
  type Statement,
} from './sqlite-database.ts'
import { checksumOf, isIntact } from './row-checksum.ts'
import { readMeta } from './file-schema.ts'
import type { Entry, StoreEvent } from './store.ts'

/** The state of a key before a write. */
export interface Head {
  readonly entry: Entry
  readonly leaseId: number
}

export interface LogRow {
  readonly revision: number
  readonly key: string
  readonly createRevision: number
  /** The modRevision of the entry that this row supersedes; 0 if there was none. */
  readonly previousRevision: number
  readonly isDeleted: boolean
  readonly leaseId: number
  readonly value: Uint8Array
}

export interface PageOptions {
  range: KeyRange
  revision: number
  /** Continues after this key (exclusive). */
  after?: string
  limit: number
}

export interface HistoryOptions {
  range: KeyRange
  /** The revision to start after (exclusive). */
  after: number
  to: number
  bytesMax: number
}

/** The newest row per key at a revision, in key order and from the index alone, without deleted keys. */
const newestPerKey = `
  SELECT key, max(revision) AS revision, is_deleted FROM log INDEXED BY log_key
  WHERE key >= :from AND key > :after AND (:until IS NULL OR key < :until) AND revision <= :revision
  GROUP BY key HAVING is_deleted = 0 ORDER BY key LIMIT :limit`

const sql = Object.freeze({
  newestRevision: 'SELECT max(revision) AS revision FROM log',
  newestRow: 'SELECT revision, checksum FROM log ORDER BY revision DESC LIMIT 1',
  head: `SELECT * FROM log
    WHERE key = ? AND revision <= ? ORDER BY revision DESC LIMIT 1`,
  // CROSS JOIN keeps the order of the two; otherwise SQLite may sort all rows before it takes the
  // first.
  page: `SELECT newest.key AS indexed_key, log.*
    FROM (${newestPerKey}) AS newest CROSS JOIN log ON log.revision = newest.revision
    ORDER BY newest.key`,
  count: `SELECT count(*) AS count, max(key) AS last FROM (${newestPerKey})`,
  append: 'INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  history: `SELECT * FROM log
    WHERE revision > :after AND revision <= :to AND key >= :from AND (:until IS NULL OR key < :until)
    ORDER BY revision`,
  byRevision: 'SELECT * FROM log WHERE revision = ?',
  // A damaged row must not lead to the removal of another key's row, nor be taken for a delete and removed itself.
  scrub: `DELETE FROM log WHERE revision IN (
      SELECT before.revision FROM log AS now CROSS JOIN log AS before ON before.revision = now.previous_revision
        WHERE now.revision > :after AND now.revision <= :to
          AND before.revision < now.revision AND before.key = now.key
      UNION ALL SELECT revision FROM log
        WHERE revision > :after AND revision <= :to AND is_deleted = 1 AND length(value) = 0)`,
  sliceEnd: `SELECT revision FROM log WHERE revision > ? AND revision <= ?
    ORDER BY revision LIMIT 1 OFFSET ?`,
  leased: 'SELECT DISTINCT key FROM log WHERE lease_id = ? ORDER BY key',
})

export type DamageListener = (key: string, revision: number) => void

const noBytes = new Uint8Array(0)

/** Prepares the log table's statements once. Synchronous; knows neither turns nor watchers. */
export class SqliteLog {
  readonly #statements: Readonly<Record<keyof typeof sql, Statement>>
  readonly #uncheckedMax: number
  readonly #onDamaged: DamageListener

  /** Calls `onDamaged` with each damaged value, each time it is read. */
  constructor(database: Database, onDamaged: DamageListener = () => {}) {
    this.#onDamaged = onDamaged
    this.#uncheckedMax = readMeta(database, 'unchecked')
    this.#statements = {
      newestRevision: database.prepare(sql.newestRevision),
      newestRow: database.prepare(sql.newestRow),
      head: database.prepare(sql.head),
      page: database.prepare(sql.page),
      count: database.prepare(sql.count),
      append: database.prepare(sql.append),
      history: database.prepare(sql.history),
      byRevision: database.prepare(sql.byRevision),
      scrub: database.prepare(sql.scrub),
      sliceEnd: database.prepare(sql.sliceEnd),
      leased: database.prepare(sql.leased),
    }
  }

  /** Returns 0 for an empty log. */
  newestRevision(): number {
    return Number(this.#statements.newestRevision.get()?.['revision'] ?? 0)
  }

  /** Returns zeros for an empty log. */
  newestRow(): { revision: number; checksum: number } {
    const row = this.#statements.newestRow.get()
    return { revision: Number(row?.['revision'] ?? 0), checksum: Number(row?.['checksum'] ?? 0) }
  }

  head(key: string, revision: number): Head | undefined {
    const row: Row | undefined = this.#statements.head.get(key, revision)
    if (row === undefined || row['is_deleted'] === 1) return undefined
    return { entry: this.#entryOf(key, row), leaseId: Number(row['lease_id']) }
  }

  page(options: PageOptions): Entry[] {
    const rows = this.#statements.page.all({ ...rangeParameters(options), limit: options.limit })
    return rows.map((row) => this.#entryOf(textOf(row, 'indexed_key'), row))
  }

  /** Counts at most `limit` entries; `last` is the last counted key. */
  count(options: PageOptions): { count: number; last: string } {
    const row: Row = this.#statements.count.get({
      ...rangeParameters(options),
      limit: options.limit,
    }) ?? { count: 0 }
    const count = numberOf(row, 'count')
    return { count, last: count === 0 ? '' : textOf(row, 'last') }
  }

  append(row: LogRow): void {
    this.#statements.append.run(
      row.revision,
      row.key,
      row.createRevision,
      row.previousRevision,
      row.isDeleted ? 1 : 0,
      row.leaseId,
      row.value,
      checksumOf(row),
    )
  }

  /**
   * Returns events in order. Stops before `to` once they have `bytesMax`, and returns the revision
   * reached.
   */
  history(options: HistoryOptions): { events: StoreEvent[]; revision: number } {
    const { range, after, to, bytesMax } = options
    const { from, until = null } = range
    const events: StoreEvent[] = []
    let bytes = 0
    for (const row of this.#statements.history.iterate({ from, until, after, to })) {
      const event = this.#eventOf(row)
      events.push(event)
      bytes += event.value.length
      if (bytes >= bytesMax) return { events, revision: event.modRevision }
    }
    return { events, revision: to }
  }

  /** Returns the revision at which `rows` rows after `after` end, at most `revisionMax`. */
  sliceEnd(after: number, rows: number, revisionMax: number): number {
    const row = this.#statements.sliceEnd.get(after, revisionMax, rows - 1)
    return row === undefined ? revisionMax : numberOf(row, 'revision')
  }

  /**
   * Deletes entries that revisions above `after` up to `to` superseded, and their deletes. Only
   * valid if everything up to `after` is scrubbed and nobody may read below `to` any more.
   */
  scrub(after: number, to: number): void {
    this.#statements.scrub.run({ after, to })
  }

  /** Returns the keys that were ever written under the lease; some may have another one now. */
  leasedKeys(leaseId: number): string[] {
    return this.#statements.leased.all(leaseId).map((row) => textOf(row, 'key'))
  }

  #entryOf(key: string, row: Row): Entry {
    const modRevision = numberOf(row, 'revision')
    if (isIntact(row, key, this.#uncheckedMax)) {
      const value = bytesOf(row, 'value')
      return { key, value, createRevision: numberOf(row, 'create_revision'), modRevision }
    }
    this.#onDamaged(key, modRevision)
    const { create_revision: created } = row
    const createRevision = typeof created === 'number' ? created : modRevision
    return { key, value: noBytes, createRevision, modRevision, isDamaged: true }
  }

  #eventOf(row: Row): StoreEvent {
    const now = this.#entryOf(textOf(row, 'key'), row)
    const before: Row | undefined = this.#statements.byRevision.get(
      Number(row['previous_revision']),
    )
    const previous = before && this.#entryOf(now.key, before)
    if (row['is_deleted'] !== 1 || now.isDamaged) {
      return { type: 'put', ...now, ...(previous ? { previous } : {}) }
    }
    // History that a watch may read still has the deleted value.
    const { value, isDamaged } = previous ?? { value: noBytes, isDamaged: true }
    return { type: 'delete', ...now, value, ...(isDamaged ? { isDamaged } : {}) }
  }
}

function rangeParameters(options: Omit<PageOptions, 'limit'>) {
  const { from, until = null } = options.range
  return { from, until, after: options.after ?? '', revision: options.revision }
}
