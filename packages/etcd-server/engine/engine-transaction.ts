import type { Transaction } from '@skerry/store'
import { FutureRevisionError } from './engine-errors.ts'
import type { EngineLog, StoredKeyValue } from './engine-log.ts'
import type { KeyRange } from './key-range.ts'
import { noBytes, type EngineEvent, type KeyValue } from './key-value.ts'

/** All keys of a range in one slice. */
const allKeys = -1

export interface PutValue {
  readonly value: Uint8Array
  readonly lease: bigint
}

/**
 * The changes of one request, which share one revision, and what they see: the newest entries, their own among them.
 * Check everything before the first change, because a request that fails later cannot be undone alone.
 */
export class EngineTransaction {
  readonly #log: EngineLog
  readonly #group: Transaction<EngineEvent>
  readonly #before: number
  #sub = 0

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
    return this.#log.head(key, this.#before + 1)
  }

  /** Returns entries as of a revision; 0 stands for the newest. */
  read(range: KeyRange, revision = 0): KeyValue[] {
    if (revision > this.revision) throw new FutureRevisionError()
    const at = revision === 0 ? this.#before + 1 : revision
    if (range.isOneKey) {
      const head = this.#log.head(range.from, at)
      return head ? [head.kv] : []
    }
    return this.#log.page({ range, revision: at, limit: allKeys })
  }

  /** Returns the entry that the put supersedes. */
  put(key: Uint8Array, { value, lease }: PutValue): KeyValue | undefined {
    const known = this.head(key)
    const revision = this.#before + 1
    const kv: KeyValue = {
      key: Uint8Array.from(key),
      value: Uint8Array.from(value),
      createRevision: known?.kv.createRevision ?? revision,
      modRevision: revision,
      version: (known?.kv.version ?? 0) + 1,
      lease,
    }
    this.#append(kv, known)
    const previous = this.#log.beforeRevision(known?.kv, revision)
    this.#group.events.push({ type: 'put', kv, previous })
    return known?.kv
  }

  /** Returns the deleted entries. */
  delete(range: KeyRange): KeyValue[] {
    const deleted = this.read(range)
    for (const kv of deleted) this.#deleteOne(kv.key)
    return deleted
  }

  #deleteOne(key: Uint8Array): void {
    const known = this.head(key)
    if (known === undefined) return
    const modRevision = this.#before + 1
    const gone = { createRevision: 0, version: 0, lease: 0n, value: noBytes }
    const kv: KeyValue = { key, modRevision, ...gone }
    this.#append(kv, known)
    const previous = this.#log.beforeRevision(known.kv, modRevision)
    this.#group.events.push({ type: 'delete', kv, previous })
  }

  #append(kv: KeyValue, known: StoredKeyValue | undefined): void {
    const { key, value, createRevision, modRevision: revision, version, lease } = kv
    const previous = known?.position ?? 0
    const sub = this.#sub
    this.#log.append({ key, revision, sub, createRevision, version, previous, lease, value })
    this.#sub += 1
    this.#group.revision = revision
  }
}
