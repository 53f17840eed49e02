import { rename } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { StatusError, type GroupVersionResource } from '@skerry/api'
import {
  ExpectedError,
  asError,
  exitCodes,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import {
  closeStoreFile,
  inTransaction,
  openStoreFile,
  sqliteFault,
  type Database,
} from '@skerry/store'
import type { ConflictSpec } from '../kinds/conflict.ts'
import { nodeApiBounds } from '../limits-table.ts'
import { journalSchema } from './journal-schema.ts'
import {
  joinWrites,
  objectText,
  parseWrite,
  resourceOf,
  resourceOfObject,
  type JournaledWrite,
} from './journaled-write.ts'

const { entriesMax, entryBytesMax, bytesMax, fileBytesMax, walPagesMax, spansMax } =
  nodeApiBounds.writeJournal
const { retryAfterSeconds } = nodeApiBounds.awayRefusals

/** The last request of an entry. */
export interface Attempt {
  /** True if a create may have reached the control plane. */
  readonly isSent: boolean
  /** The Conflict that goes with the request. */
  readonly conflict: ConflictSpec | undefined
}

export interface JournalEntry extends Attempt {
  readonly seq: number
  /** Undefined if the row is damaged. */
  readonly write: JournaledWrite | undefined
  /** Names the object, even where the rest is damaged. */
  readonly object: string
}

export interface WriteJournalDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/**
 * The writes that this node has acknowledged while the control plane was away. An entry is on disk when `append`
 * returns, whatever happens then, and stays until the control plane has it or an object there says what became of it.
 */
export class WriteJournal implements Disposable {
  /** Distinguishes this journal from others in the marks of objects. */
  readonly id: string
  readonly #database: Database
  readonly #log: Logger
  /** The entries of each resource. */
  readonly #counts = new Map<string, number>()
  #entries = 0
  #bytes = 0

  private constructor(database: Database, id: string, log: Logger) {
    this.#database = database
    this.#log = log
    this.id = id
    this.#countAll()
  }

  /** A damaged file is moved aside and named; what is left of it is never served. */
  static async open(path: string, { clock, random, log }: WriteJournalDeps): Promise<WriteJournal> {
    const options = {
      schema: journalSchema,
      check: 'afterCrash',
      bytesMax: fileBytesMax,
      walPagesMax,
    } as const
    let aside: string | undefined
    let database: Database
    try {
      database = await openStoreFile(path, options, log)
    } catch (error) {
      if (!(error instanceof ExpectedError) || error.exitCode !== exitCodes.dataDirectory) {
        throw error
      }
      aside = `${path}.damaged-${clock.now()}`
      log.error('Damaged journal of writes is moved aside; its writes did not reach the site', {
        path: aside,
        error: asError(error),
      })
      for (const suffix of ['', '-wal', '-shm']) await renameIfThere(path, aside, suffix)
      database = await openStoreFile(path, options, log)
    }
    const id = readFact(database, 'id') ?? newId(random)
    writeFact(database, 'id', id)
    if (aside !== undefined) writeFact(database, 'damaged', aside)
    return new WriteJournal(database, id, log)
  }

  get size(): number {
    return this.#entries
  }

  /** The path of a journal that was damaged, until `forgetDamage`. */
  get damagedPath(): string | undefined {
    return readFact(this.#database, 'damaged')
  }

  forgetDamage(): void {
    this.#run("DELETE FROM fact WHERE name = 'damaged'")
  }

  /** Returns true if there are entries of the resource. */
  holds(resource: Pick<GroupVersionResource, 'group' | 'resource'>): boolean {
    return (this.#counts.get(resourceOf(resource)) ?? 0) > 0
  }

  /** Makes the write durable. Throws StatusError with code 507 if there is no room for it. */
  append(write: JournaledWrite): void {
    const object = objectText(write)
    try {
      inTransaction(this.#database, () => this.#append(write, object))
    } catch (error) {
      this.#countAll()
      if (sqliteFault(error) === 'full') throw fullJournal('no space is left on its disk', error)
      throw error
    }
  }

  /** Returns the oldest entry after this one. */
  next(afterSeq: number): JournalEntry | undefined {
    const sql = 'SELECT * FROM entry WHERE seq > ? ORDER BY seq LIMIT 1'
    const [row] = this.#rows(sql, afterSeq)
    return row && this.#entryOf(row)
  }

  /** Call this before a request is sent that cannot be recognized afterwards, or whose Conflict must not be lost. */
  prepare(entry: JournalEntry, attempt: Attempt): void {
    const conflict = attempt.conflict === undefined ? '' : JSON.stringify(attempt.conflict)
    const sent = attempt.isSent ? 1 : 0
    const [row] = this.#rows('SELECT * FROM entry WHERE seq = ?', entry.seq)
    if (!row || (row['sent'] === sent && row['conflict'] === conflict)) return
    const sum = sumOf({ ...row, sent, conflict })
    const sql = 'UPDATE entry SET sent = ?, conflict = ?, sum = ? WHERE seq = ?'
    this.#run(sql, sent, conflict, sum, entry.seq)
  }

  /** Call this when the control plane has the write, or an object there says why not. */
  finish(entry: JournalEntry, uids?: { readonly local: string; readonly given: string }): void {
    inTransaction(this.#database, () => {
      if (uids) this.#run('INSERT OR REPLACE INTO uid VALUES (?, ?)', uids.local, uids.given)
      this.#remove(entry)
      if (this.#entries === 0) this.#run('DELETE FROM uid')
    })
  }

  /** Returns the uid that the control plane gave to an object that was created here. */
  givenUid(local: string): string | undefined {
    const [row] = this.#rows('SELECT given FROM uid WHERE local = ?', local)
    return row && String(row['given'])
  }

  /** Returns true if a reader got this revision from this node, and the control plane does not know it. */
  isOwnRevision(
    resource: Pick<GroupVersionResource, 'group' | 'resource'>,
    revision: number,
  ): boolean {
    const sql = 'SELECT 1 FROM span WHERE resource = ? AND low < ? AND high >= ?'
    return this.#rows(sql, resourceOf(resource), revision, revision).length > 0
  }

  /** Returns the newest revision that this node has given out; 0 if there is none. */
  highestRevision(): number {
    return Number(this.#rows('SELECT coalesce(max(high), 0) AS high FROM span')[0]?.['high'])
  }

  [Symbol.dispose](): void {
    closeStoreFile(this.#database, this.#log)
  }

  #append(write: JournaledWrite, object: string): void {
    const last = this.#last(object)
    const joined = last?.write && !last.isSent ? joinWrites(last.write, write) : 'two'
    this.#extendSpan(write)
    if (last && joined === 'none') return this.#remove(last)
    const body = utf8.encode(JSON.stringify(joined === 'two' ? write : joined))
    if (body.length > entryBytesMax) {
      throw fullJournal(`the write has more than ${entryBytesMax} bytes`)
    }
    const replaced = joined === 'two' ? undefined : last
    this.#requireRoom(body.length, replaced)
    if (replaced) {
      const sum = sumOf({ seq: replaced.seq, object, sent: 0, conflict: '', body })
      const before = this.#lengthOf(replaced)
      this.#run('UPDATE entry SET body = ?, sum = ? WHERE seq = ?', body, sum, replaced.seq)
      this.#bytes += body.length - before
      return
    }
    const sql = `INSERT INTO entry (object, sent, conflict, body, sum)
      VALUES (?, 0, '', ?, 0) RETURNING seq`
    const seq = Number(this.#rows(sql, object, body)[0]?.['seq'])
    const sum = sumOf({ seq, object, ...unsent, body })
    this.#run('UPDATE entry SET sum = ? WHERE seq = ?', sum, seq)
    this.#bytes += body.length
    this.#count(object, 1)
  }

  #requireRoom(length: number, replaced: JournalEntry | undefined): void {
    const freed = replaced ? this.#lengthOf(replaced) : 0
    if (!replaced && this.#entries >= entriesMax) {
      throw fullJournal(`it has ${entriesMax} writes`)
    }
    if (this.#bytes + length - freed > bytesMax) {
      throw fullJournal(`its writes have ${bytesMax} bytes`)
    }
  }

  #last(object: string): JournalEntry | undefined {
    const sql = 'SELECT * FROM entry WHERE object = ? ORDER BY seq DESC LIMIT 1'
    const [row] = this.#rows(sql, object)
    return row && this.#entryOf(row)
  }

  #remove(entry: JournalEntry): void {
    const length = this.#lengthOf(entry)
    if (length === 0) return
    this.#run('DELETE FROM entry WHERE seq = ?', entry.seq)
    this.#bytes -= length
    this.#count(entry.object, -1)
  }

  #lengthOf({ seq }: JournalEntry): number {
    const [row] = this.#rows('SELECT length(body) AS length FROM entry WHERE seq = ?', seq)
    return Number(row?.['length'] ?? 0)
  }

  /** Revisions of one absence are one span. The newest few spans are kept. */
  #extendSpan({ resource, revision }: JournaledWrite): void {
    const name = resourceOf(resource)
    const [last] = this.#rows(
      'SELECT low, high FROM span WHERE resource = ? ORDER BY high DESC LIMIT 1',
      name,
    )
    const [low, high] = [Number(last?.['low']), Number(last?.['high'])]
    const isSame = last !== undefined && (this.holds(resource) || revision - 1 <= high)
    if (isSame) this.#run('DELETE FROM span WHERE resource = ? AND low = ?', name, low)
    const from = isSame ? Math.min(low, revision - 1) : revision - 1
    const to = isSame ? Math.max(high, revision) : revision
    this.#run('INSERT OR REPLACE INTO span VALUES (?, ?, ?)', name, from, to)
    const old = `DELETE FROM span WHERE resource = ? AND low NOT IN
      (SELECT low FROM span WHERE resource = ? ORDER BY high DESC LIMIT ?)`
    this.#run(old, name, name, spansMax)
  }

  #entryOf(row: Row): JournalEntry {
    const { seq, object, sent, conflict, body, sum } = row
    const entry = { seq: Number(seq), object: String(object) }
    if (!(body instanceof Uint8Array) || sumOf(row) !== sum) {
      this.#log.error('Entry of the journal of writes is damaged', entry)
      return { ...entry, isSent: false, conflict: undefined, write: undefined }
    }
    return {
      ...entry,
      isSent: sent === 1,
      // prepare() wrote it, as the checksum has shown.
      conflict: conflict === '' ? undefined : (JSON.parse(String(conflict)) as ConflictSpec),
      write: parseWrite(text.decode(body)),
    }
  }

  #countAll(): void {
    this.#counts.clear()
    this.#entries = 0
    this.#bytes = 0
    const sql = `SELECT object, count(*) AS count, sum(length(body)) AS bytes
      FROM entry GROUP BY object`
    for (const row of this.#rows(sql)) {
      this.#bytes += Number(row['bytes'])
      this.#count(String(row['object']), Number(row['count']))
    }
  }

  #count(object: string, change: number): void {
    this.#entries += change
    const name = resourceOfObject(object)
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + change)
  }

  #rows(sql: string, ...values: (string | number | Uint8Array)[]): Row[] {
    return this.#database.prepare(sql).all(...values)
  }

  #run(sql: string, ...values: (string | number | Uint8Array)[]): void {
    this.#database.prepare(sql).run(...values)
  }
}

type Row = Record<string, unknown>

const utf8 = new TextEncoder()
const text = new TextDecoder()

const unsent = Object.freeze({ sent: 0, conflict: '' })

function sumOf({ seq, object, sent, conflict, body }: Row): number {
  const head = crc32([seq, object, sent, conflict, ''].map(String).join('\n'))
  return body instanceof Uint8Array ? crc32(body, head) : -1
}

function readFact(database: Database, name: string): string | undefined {
  const row = database.prepare('SELECT text, sum FROM fact WHERE name = ?').get(name)
  const found = row && String(row['text'])
  return found !== undefined && crc32(found) === row?.['sum'] ? found : undefined
}

function writeFact(database: Database, name: string, value: string): void {
  if (readFact(database, name) === value) return
  const sql = 'INSERT OR REPLACE INTO fact VALUES (?, ?, ?)'
  database.prepare(sql).run(name, value, crc32(value))
}

function newId(random: Random): string {
  return Math.floor(random.next() * 0xffff_ffff)
    .toString(16)
    .padStart(8, '0')
}

async function renameIfThere(path: string, aside: string, suffix: string): Promise<void> {
  try {
    await rename(`${path}${suffix}`, `${aside}${suffix}`)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
    throw error
  }
}

function fullJournal(why: string, cause?: unknown): StatusError {
  const message = `Cannot keep the write on this node: the journal of writes is full (${why}); it empties when the control plane answers`
  return new StatusError('ServiceUnavailable', message, {
    code: 507,
    cause,
    details: { retryAfterSeconds, causes: [{ reason: 'JournalFull', message: why }] },
  })
}
