import type { Transaction } from '@skerry/store'
import { FutureRevisionError } from './engine-errors.ts'
import type { EngineLog, StoredKey, StoredKeyValue } from './engine-log.ts'
import type { KeyRange } from './key-range.ts'
import { noBytes, type EngineEvent, type KeyValue } from './key-value.ts'
import { etcdServerBounds } from '../limits-table.ts'

const { deletedAtOnceMax, keptBytesMax } = etcdServerBounds.engineTransaction

/** All keys of a range in one slice. */
const allKeys = -1

export interface ReadOptions {
  readonly revision?: number
  readonly limit: number
  readonly bytesMax: number
}

export interface PutValue {
  readonly value: Uint8Array
  readonly lease: bigint
}

/**
 * The changes of one request, which share one revision, and what they see: the newest entries, their own among them.
 * Unless the request is undone alone, check everything before the first change.
 */
export class EngineTransaction {
  readonly #log: EngineLog
  readonly #group: Transaction<EngineEvent>
  readonly #before: number
  #sub = 0
  /** The newest entry that was read last: a request that compares a key mostly puts it, too. */
  #newest: { readonly key: Uint8Array; readonly stored: StoredKeyValue | undefined } | undefined

  constructor(log: EngineLog, group: Transaction<EngineEvent>) {
    this.#log = log
    this.#group = group
    this.#before = group.revision
  }

  /** The newest revision, that of these changes if there are some. */
  get revision(): number {
    return this.#sub === 0 ? this.#before : this.#before + 1
  }

  head(key: Uint8Array): StoredKeyValue | undefined {
    if (this.#newest === undefined || Buffer.compare(this.#newest.key, key) !== 0) {
      this.#newest = { key, stored: this.#log.head(key, this.#before + 1) }
    }
    return this.#newest.stored
  }

  /** Returns entries as of a revision, at most `limit`, or until they have `bytesMax`; 0 stands for the newest. */
  read(range: KeyRange, { revision = 0, limit, bytesMax }: ReadOptions): KeyValue[] {
    const at = this.#readable(revision)
    if (!range.isOneKey) return this.#log.slice({ range, revision: at, limit, bytesMax }).kvs
    const head = at > this.#before ? this.head(range.from) : this.#log.head(range.from, at)
    return head ? [head.kv] : []
  }

  /** Counts the keys of a range after `after` as of a revision; 0 stands for the newest. */
  count(range: KeyRange, revision = 0, after?: Uint8Array): number {
    const at = this.#readable(revision)
    if (range.isOneKey) return this.#log.place(range.from, at) === undefined ? 0 : 1
    return this.#log.count({ range, revision: at, after, limit: allKeys }).count
  }

  /** Returns the entry that the put supersedes. */
  put(key: Uint8Array, { value, lease }: PutValue): KeyValue | undefined {
    const known = this.head(key)
    const revision = this.#before + 1
    const kv: KeyValue = {
      key: new Uint8Array(key),
      value: new Uint8Array(value),
      createRevision: known?.kv.createRevision ?? revision,
      modRevision: revision,
      version: (known?.kv.version ?? 0) + 1,
      lease,
    }
    this.#append(kv, known?.position)
    this.#group.events.push({ type: 'put', kv, previous: this.#previousOf(kv, known?.kv) })
    return known?.kv
  }

  /** Returns the number of deleted entries. Their values are not read, so that damaged ones can be deleted, too. */
  delete(range: KeyRange): number {
    if (range.isOneKey) {
      const position = this.#log.place(range.from, this.#before + 1)
      return position === undefined ? 0 : this.#deleteAll([{ key: range.from, position }])
    }
    let deleted = 0
    for (let after: Uint8Array | undefined; ;) {
      const page = { range, revision: this.#before + 1, after, limit: deletedAtOnceMax }
      const places = this.#log.places(page)
      deleted += this.#deleteAll(places)
      if (places.length < deletedAtOnceMax) return deleted
      after = places.at(-1)?.key
    }
  }

  #deleteAll(places: readonly StoredKey[]): number {
    const modRevision = this.#before + 1
    for (const { key, position } of places) {
      const gone = { createRevision: 0, version: 0, lease: 0n, value: noBytes }
      const kv: KeyValue = { key, modRevision, ...gone }
      this.#append(kv, position)
      const previous = this.#log.before(key, modRevision)
      this.#group.events.push({ type: 'delete', kv, previous })
    }
    return places.length
  }

  /** Small entries are at hand, and most watches want them. */
  #previousOf({ key, modRevision }: KeyValue, known?: KeyValue): EngineEvent['previous'] {
    if (known === undefined) return () => undefined
    const isAtHand = known.modRevision < modRevision && known.value.length <= keptBytesMax
    return isAtHand ? () => known : this.#log.before(key, modRevision)
  }

  #readable(revision: number): number {
    if (revision > this.revision) throw new FutureRevisionError()
    return revision === 0 ? this.#before + 1 : revision
  }

  #append(kv: KeyValue, previous = 0): void {
    const { key, value, createRevision, modRevision: revision, version, lease } = kv
    const sub = this.#sub
    this.#log.append({ key, revision, sub, createRevision, version, previous, lease, value })
    this.#newest = undefined
    this.#sub += 1
    this.#group.revision = revision
  }
}
