import { rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { ExpectedError, asError, exitCodes, type Logger } from '@skerry/base'
import {
  closeStoreFile,
  inTransaction,
  openStoreFile,
  pragma,
  type Database,
  type StoreEvent,
} from '@skerry/store'
import { nodeApiBounds } from '../limits-table.ts'
import { copySchema } from './copy-schema.ts'
import type { CopyEvent, KnownObject } from './plan-relist.ts'

const { bytesMax, walPagesMax } = nodeApiBounds.copyFile

export interface StoredScope {
  readonly id: number
  readonly key: string
  readonly revision: number
  /** When the control plane was last heard of it, in milliseconds since the Unix epoch. */
  readonly readAtMs: number
  readonly bytes: number
  /** True if the copy contains changes of this node that the control plane's history does not have. */
  readonly isAhead: boolean
}

export interface StoredObject {
  readonly key: string
  readonly revision: number
  readonly value: Uint8Array
}

/** An answer that was kept for callers who ask again. */
export interface StoredAnswer {
  readonly readAtMs: number
  readonly value: Uint8Array
}

/** Reports that stored bytes are not those that were written. */
export class DamagedCopyError extends Error {
  override name = 'DamagedCopyError'
}

/**
 * The copies of this node on its disk. A killed process loses nothing; a power cut may lose the last seconds, and
 * never leaves half a change. A damaged file is removed and fetched again, because the control plane has the original.
 */
export class CopyFile implements Disposable {
  readonly #database: Database
  readonly #log: Logger

  private constructor(database: Database, log: Logger) {
    this.#database = database
    this.#log = log
  }

  static async open(path: string, log: Logger): Promise<CopyFile> {
    const options = { schema: copySchema, check: 'afterCrash', bytesMax, walPagesMax } as const
    let database: Database
    try {
      database = await openStoreFile(path, options, log)
    } catch (error) {
      if (!(error instanceof ExpectedError) || error.exitCode !== exitCodes.dataDirectory)
        throw error
      log.error('Damaged copies are removed, and fetched again', { path, error: asError(error) })
      for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true })
      database = await openStoreFile(path, options, log)
    }
    pragma(database, 'synchronous = NORMAL')
    return new CopyFile(database, log)
  }

  scopes(): StoredScope[] {
    const sql = `SELECT id, key, revision, read_at, ahead,
      (SELECT coalesce(sum(length(value)), 0) FROM object WHERE scope = id) AS bytes
      FROM scope ORDER BY used_at`
    return this.#rows(sql).map((row) => ({
      id: Number(row['id']),
      key: String(row['key']),
      revision: Number(row['revision']),
      readAtMs: Number(row['read_at']),
      bytes: Number(row['bytes']),
      isAhead: row['ahead'] === 1,
    }))
  }

  /** Returns the id of a new scope without objects. */
  addScope(key: string, nowMs: number): number {
    this.#run('INSERT INTO scope (key, revision, read_at, used_at) VALUES (?, 0, 0, ?)', key, nowMs)
    return Number(this.#rows('SELECT id FROM scope WHERE key = ?', key)[0]?.['id'])
  }

  dropScope(id: number): void {
    inTransaction(this.#database, () => {
      this.#run('DELETE FROM object WHERE scope = ?', id)
      this.#run('DELETE FROM scope WHERE id = ?', id)
    })
  }

  /** Notes when the scope was used, and how far its copy is. */
  touch(id: number, at: { usedAtMs: number; readAtMs: number }): void {
    this.#run(
      'UPDATE scope SET used_at = ?, read_at = ? WHERE id = ?',
      at.usedAtMs,
      at.readAtMs,
      id,
    )
  }

  /** Returns objects in the order of their keys. Throws DamagedCopyError. */
  objects(id: number, page: { after: string; limit: number }): StoredObject[] {
    const sql = `SELECT key, revision, value, sum FROM object
      WHERE scope = ? AND key > ? ORDER BY key LIMIT ?`
    return this.#rows(sql, id, page.after, page.limit).map((row) => ({
      key: String(row['key']),
      revision: Number(row['revision']),
      value: intact(row),
    }))
  }

  /** Returns one object. Throws DamagedCopyError. */
  object(id: number, key: string): StoredObject | undefined {
    const sql = 'SELECT revision, value, sum FROM object WHERE scope = ? AND key = ?'
    const [row] = this.#rows(sql, id, key)
    return row && { key, revision: Number(row['revision']), value: intact(row) }
  }

  setAhead(id: number, isAhead: boolean): void {
    this.#run('UPDATE scope SET ahead = ? WHERE id = ?', isAhead ? 1 : 0, id)
  }

  bytesOf(id: number): number {
    const sql = 'SELECT coalesce(sum(length(value)), 0) AS bytes FROM object WHERE scope = ?'
    return Number(this.#rows(sql, id)[0]?.['bytes'])
  }

  known(id: number): Map<string, KnownObject> {
    const rows = this.#rows('SELECT key, revision, uid FROM object WHERE scope = ?', id)
    return new Map(
      rows.map((row) => [
        String(row['key']),
        { revision: Number(row['revision']), uid: String(row['uid']) },
      ]),
    )
  }

  /** Applies events and moves the scope to the revision, together. Returns them for readers, with last values. */
  apply(
    id: number,
    events: readonly CopyEvent[],
    at: { revision: number; readAtMs: number },
  ): Omit<StoreEvent, 'createRevision'>[] {
    return inTransaction(this.#database, () => {
      const applied = events.flatMap((event) => this.#apply(id, event))
      const sql = 'UPDATE scope SET revision = ?, read_at = ? WHERE id = ?'
      this.#run(sql, at.revision, at.readAtMs, id)
      return applied
    })
  }

  single(key: string): (StoredAnswer & { revision: number }) | undefined {
    const [row] = this.#rows('SELECT revision, read_at, value, sum FROM single WHERE key = ?', key)
    const answer = row && this.#answerOf(row, () => this.dropSingle(key))
    return answer && { ...answer, revision: Number(row?.['revision']) }
  }

  putSingle(key: string, revision: number, { readAtMs, value }: StoredAnswer): void {
    const sql = 'INSERT OR REPLACE INTO single VALUES (?, ?, ?, ?, ?)'
    this.#run(sql, key, revision, readAtMs, value, crc32(value))
    this.#trim('single', nodeApiBounds.copySet.singlesMax, nodeApiBounds.copySet.singlesBytesMax)
  }

  dropSingle(key: string): void {
    this.#run('DELETE FROM single WHERE key = ?', key)
  }

  document(key: string): (StoredAnswer & { headers: Record<string, string> }) | undefined {
    const [row] = this.#rows('SELECT read_at, headers, value, sum FROM document WHERE key = ?', key)
    const answer = row && this.#answerOf(row, () => this.#run(dropDocument, key))
    // putDocument wrote them.
    return answer && { ...answer, headers: JSON.parse(String(row?.['headers'])) }
  }

  putDocument(key: string, headers: Readonly<Record<string, string>>, answer: StoredAnswer): void {
    const { readAtMs, value } = answer
    const sql = 'INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?, ?)'
    this.#run(sql, key, readAtMs, JSON.stringify(headers), value, crc32(value))
    const { documentsMax, documentsBytesMax } = nodeApiBounds.copySet
    this.#trim('document', documentsMax, documentsBytesMax)
  }

  /** Returns the remembered rights, with those whose rows are damaged left out. */
  rights(): { key: string; user: string; checkedAtMs: number }[] {
    return this.#rows('SELECT key, user, checked_at, sum FROM reader').flatMap((row) => {
      const [key, user] = [String(row['key']), String(row['user'])]
      if (crc32(`${key}\n${user}`) !== row['sum']) return []
      return { key, user, checkedAtMs: Number(row['checked_at']) }
    })
  }

  putRight(key: string, user: string, checkedAtMs: number): void {
    const sql = 'INSERT OR REPLACE INTO reader VALUES (?, ?, ?, ?)'
    this.#run(sql, key, user, checkedAtMs, crc32(`${key}\n${user}`))
  }

  dropRight(key: string): void {
    this.#run('DELETE FROM reader WHERE key = ?', key)
  }

  fact(name: string): string | undefined {
    const [row] = this.#rows('SELECT text, sum FROM fact WHERE name = ?', name)
    const text = row && String(row['text'])
    return text !== undefined && crc32(text) === row?.['sum'] ? text : undefined
  }

  putFact(name: string, text: string): void {
    this.#run('INSERT OR REPLACE INTO fact VALUES (?, ?, ?)', name, text, crc32(text))
  }

  [Symbol.dispose](): void {
    closeStoreFile(this.#database, this.#log)
  }

  #apply(id: number, event: CopyEvent): Omit<StoreEvent, 'createRevision'>[] {
    const { type, key, uid, revision, value } = event
    if (type === 'put') {
      const sql = 'INSERT OR REPLACE INTO object VALUES (?, ?, ?, ?, ?, ?)'
      this.#run(sql, id, key, uid, revision, value, crc32(value))
      return [{ type, key, value, modRevision: revision }]
    }
    const lookUp = 'SELECT value, sum FROM object WHERE scope = ? AND key = ?'
    const [row] = this.#rows(lookUp, id, key)
    if (!row) return []
    const last = value.length > 0 ? value : intact(row)
    this.#run('DELETE FROM object WHERE scope = ? AND key = ?', id, key)
    return [{ type, key, value: last, modRevision: revision }]
  }

  #answerOf(row: Row, drop: () => void): StoredAnswer | undefined {
    try {
      return { readAtMs: Number(row['read_at']), value: intact(row) }
    } catch (error) {
      this.#log.error('Damaged copy is ignored', { error: asError(error) })
      drop()
      return undefined
    }
  }

  /** Drops the answers that were read longest ago. */
  #trim(table: 'single' | 'document', rowsMax: number, valuesBytesMax: number): void {
    for (;;) {
      const sql = `SELECT count(*) AS count, coalesce(sum(length(value)), 0) AS bytes FROM ${table}`
      const [row] = this.#rows(sql)
      if (Number(row?.['count']) <= rowsMax && Number(row?.['bytes']) <= valuesBytesMax) return
      this.#run(
        `DELETE FROM ${table} WHERE key IN (SELECT key FROM ${table} ORDER BY read_at LIMIT 16)`,
      )
    }
  }

  #rows(sql: string, ...values: (string | number)[]): Row[] {
    return this.#database.prepare(sql).all(...values)
  }

  #run(sql: string, ...values: (string | number | Uint8Array)[]): void {
    this.#database.prepare(sql).run(...values)
  }
}

type Row = Record<string, unknown>

const dropDocument = 'DELETE FROM document WHERE key = ?'

function intact(row: Row): Uint8Array {
  const { value, sum } = row
  if (value instanceof Uint8Array && crc32(value) === sum) return value
  throw new DamagedCopyError('Cannot read a copy: its bytes are not those that were written')
}
