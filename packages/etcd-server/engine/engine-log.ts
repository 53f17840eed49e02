import type { Database } from '@skerry/store'
import { DamagedValueError } from './engine-errors.ts'
import { checksumOf, intactRow, leaseText, type LogRow } from './engine-schema.ts'
import type { KeyRange } from './key-range.ts'
import { noBytes, type EngineEvent, type KeyValue } from './key-value.ts'

type Statement = ReturnType<Database['prepare']>
type Row = Readonly<Record<string, unknown>>

/** A key with the place of its newest row. */
export interface StoredKey {
  readonly key: Uint8Array
  readonly position: number
}

/** An entry with the place of its row. */
export interface StoredKeyValue {
  readonly kv: KeyValue
  readonly position: number
}

export interface PageOptions {
  readonly range: KeyRange
  readonly revision: number
  /** Continues after this key (exclusive). */
  readonly after?: Uint8Array | undefined
  readonly limit: number
}

export interface HistoryOptions {
  readonly range: KeyRange
  /** The first revision (inclusive), and the last. */
  readonly from: number
  readonly to: number
  readonly bytesMax: number
  /** True if the entries before are wanted, too, and count. */
  readonly hasPrevious: boolean
}

/** The newest row per key at a revision, in key order and from the index alone, without deleted keys. */
const newestPerKey = `
  SELECT key, max(position) AS position, version FROM log INDEXED BY log_key
  WHERE key >= :from AND (:after IS NULL OR key > :after) AND (:until IS NULL OR key < :until)
    AND revision <= :revision
  GROUP BY key HAVING version > 0 ORDER BY key LIMIT :limit`

const sql = Object.freeze({
  newestRevision: 'SELECT max(revision) AS revision FROM log',
  head: `SELECT * FROM log WHERE key = ? AND revision <= ?
    ORDER BY revision DESC, sub DESC LIMIT 1`,
  place: `SELECT position, version FROM log INDEXED BY log_key WHERE key = ? AND revision <= ?
    ORDER BY revision DESC, sub DESC LIMIT 1`,
  places: newestPerKey,
  // CROSS JOIN keeps the order of the two; otherwise SQLite may sort all rows before it takes the first.
  page: `SELECT log.* FROM (${newestPerKey}) AS newest
    CROSS JOIN log ON log.position = newest.position ORDER BY newest.key`,
  count: `SELECT count(*) AS count, max(key) AS last FROM (${newestPerKey})`,
  append: 'INSERT INTO log VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  history: `SELECT * FROM log INDEXED BY log_revision
    WHERE revision >= :from AND revision <= :to AND key >= :first AND (:until IS NULL OR key < :until)
    ORDER BY revision, sub`,
  // Deletes of the compacted revision itself stay, so that a watch from it sees them.
  scrub: `DELETE FROM log WHERE position IN (
      SELECT before.position FROM log AS now CROSS JOIN log AS before ON before.position = now.previous
        WHERE now.revision > :after AND now.revision <= :to AND before.key = now.key
      UNION ALL SELECT position FROM log
        WHERE revision >= :after AND revision < :to AND version = 0 AND length(value) = 0)`,
  sliceEnd: `SELECT revision FROM log WHERE revision > ? AND revision <= ?
    ORDER BY revision LIMIT 1 OFFSET ?`,
  leased: 'SELECT DISTINCT key FROM log WHERE lease = ? ORDER BY key',
})

/** The log in SQL. Reads of damaged rows throw DamagedValueError and are reported. */
export class EngineLog {
  readonly #statements: Readonly<Record<keyof typeof sql, Statement>>
  readonly #onDamaged: (position: unknown) => void

  constructor(database: Database, onDamaged: (position: unknown) => void) {
    this.#onDamaged = onDamaged
    const prepared = Object.entries(sql).map(([name, text]) => [name, database.prepare(text)])
    // The entries are those of `sql`.
    this.#statements = Object.fromEntries(prepared) as Record<keyof typeof sql, Statement>
  }

  newestRevision(): number {
    return Number(this.#statements.newestRevision.get()?.['revision'] ?? 0)
  }

  head(key: Uint8Array, revision: number): StoredKeyValue | undefined {
    const row = this.#statements.head.get(key, revision)
    if (row === undefined || row['version'] === 0) return undefined
    return this.#stored(row)
  }

  /** Returns where the newest entry of a key is; its value is not touched. */
  place(key: Uint8Array, revision: number): number | undefined {
    const row = this.#statements.place.get(key, revision)
    return row === undefined || row['version'] === 0 ? undefined : Number(row['position'])
  }

  /** Returns the keys of a range and where their entries are, at most `limit`; their values are not touched. */
  places({ range, revision, after, limit }: PageOptions): StoredKey[] {
    const { from, until = null } = range
    const asked = { from, until, after: after ?? null, revision, limit }
    return this.#statements.places
      .all(asked)
      .flatMap(({ key, position }) =>
        key instanceof Uint8Array ? [{ key, position: Number(position) }] : [],
      )
  }

  /** Returns entries up to `limit`, or until they have `bytesMax`; `isLast` if nothing of the range is left. */
  slice({ range, revision, after, limit, bytesMax }: PageOptions & { bytesMax: number }): {
    kvs: KeyValue[]
    isLast: boolean
  } {
    const { from, until = null } = range
    const kvs: KeyValue[] = []
    let bytes = 0
    const asked = { from, until, after: after ?? null, revision, limit }
    for (const row of this.#statements.page.iterate(asked)) {
      const { kv } = this.#stored(row)
      kvs.push(kv)
      bytes += kv.key.length + kv.value.length
      if (bytes >= bytesMax) return { kvs, isLast: false }
    }
    return { kvs, isLast: limit < 0 || kvs.length < limit }
  }

  /** Counts at most `limit` keys; `last` is the last counted one. */
  count({ range, revision, after, limit }: PageOptions): {
    count: number
    last: Uint8Array
  } {
    const { from, until = null } = range
    const row = this.#statements.count.get({ from, until, after: after ?? null, revision, limit })
    const last = row?.['last']
    return { count: Number(row?.['count'] ?? 0), last: last instanceof Uint8Array ? last : noBytes }
  }

  /**
   * Returns a function that reads, once, the entry that a watch shows as the one before a revision. A damaged one is
   * reported and not shown.
   */
  before(key: Uint8Array, revision: number): () => KeyValue | undefined {
    let found: { kv: KeyValue | undefined } | undefined
    return () => {
      found ??= { kv: this.#intactBefore(key, revision) }
      return found.kv
    }
  }

  append(row: LogRow): void {
    const { key, revision, sub, createRevision, version, previous, value } = row
    this.#statements.append.run(
      key,
      revision,
      sub,
      createRevision,
      version,
      previous,
      leaseText(row.lease),
      value,
      checksumOf(row),
    )
  }

  /** Returns events of whole revisions in order, and the revision reached; stops once they have `bytesMax`. */
  history({ range, from, to, bytesMax, hasPrevious }: HistoryOptions): {
    events: EngineEvent[]
    revision: number
  } {
    const events: EngineEvent[] = []
    const { until = null } = range
    let bytes = 0
    const rows = this.#statements.history.iterate({ from, to, first: range.from, until })
    for (const row of rows) {
      const last = events.at(-1)?.kv.modRevision
      if (bytes >= bytesMax && last !== undefined && row['revision'] !== last) {
        return { events, revision: last }
      }
      const event = this.#eventOf(row)
      events.push(event)
      const before = hasPrevious ? event.previous() : undefined
      bytes += event.kv.value.length + event.kv.key.length + (before?.value.length ?? 0)
    }
    return { events, revision: to }
  }

  /** Returns all changes of these revisions in order. */
  rows(from: number, to: number): LogRow[] {
    const every = { from, to, first: noBytes, until: null }
    return this.#statements.history.all(every).map((row) => this.#intact(row))
  }

  /** Returns the revision at which `rows` rows after `after` end, at most `revisionMax`. */
  sliceEnd(after: number, rows: number, revisionMax: number): number {
    const row = this.#statements.sliceEnd.get(after, revisionMax, rows - 1)
    return row === undefined ? revisionMax : Number(row['revision'])
  }

  /** Deletes what revisions above `after` up to `to` superseded. Nobody may read below `to` any more. */
  scrub(after: number, to: number): void {
    this.#statements.scrub.run({ after, to })
  }

  /** Returns the keys that were ever written under the lease, in order; some may have another one now. */
  leasedKeys(lease: bigint): Uint8Array[] {
    return this.#statements.leased
      .all(leaseText(lease))
      .flatMap(({ key }) => (key instanceof Uint8Array ? [key] : []))
  }

  #intact(row: Row): LogRow & { position: number } {
    const read = intactRow(row)
    if (read !== undefined) return read
    this.#onDamaged(row['position'])
    throw new DamagedValueError('Cannot read: a stored value is damaged; restore a backup')
  }

  #stored(row: Row): StoredKeyValue {
    const read = this.#intact(row)
    const { key, value, createRevision, revision: modRevision, version, lease, position } = read
    return { position, kv: { key, value, createRevision, modRevision, version, lease } }
  }

  #eventOf(row: Row): EngineEvent {
    const { kv } = this.#stored(row)
    const type = kv.version === 0 ? 'delete' : 'put'
    return { type, kv, previous: this.before(kv.key, kv.modRevision) }
  }

  #intactBefore(key: Uint8Array, revision: number): KeyValue | undefined {
    try {
      return this.head(key, revision - 1)?.kv
    } catch {
      // The change itself is durable by now, and must not look as if it had failed. Damage is reported.
      return undefined
    }
  }
}
