import type { Entry, StoreEvent } from '../store.ts'
import { CompactedError } from '../store.ts'
import type { WireEvent, WireKeyValue } from './etcd-schema-table.ts'

/**
 * Maps a store's keys to etcd: `<root><key>`, e.g. `/skerry/hub` + `/registry/core/secrets/…`.
 * Several stores share one etcd with separate roots; none sees another's keys.
 */
export class EtcdKeys {
  readonly #root: string
  readonly #rootBytes: number

  /** Throws RangeError for a root that is not an absolute path. */
  constructor(root: string) {
    const trimmed = root.replace(/\/+$/, '')
    if (!/^\/[\w./-]+$/.test(trimmed)) {
      throw new RangeError(`Cannot use etcd prefix "${root}": it is not a path like /skerry/hub`)
    }
    this.#root = trimmed
    this.#rootBytes = Buffer.byteLength(trimmed)
  }

  keyOf(key: string): Buffer {
    if (!key.startsWith('/')) {
      throw new RangeError(`Cannot use key ${key}: keys in etcd begin with a slash`)
    }
    return Buffer.from(`${this.#root}${key}`)
  }

  /**
   * Returns the range from `after` (exclusive) or the first key to the end of the prefix. The empty
   * prefix means all keys.
   */
  rangeOf(prefix: string, after = ''): { key: Buffer; rangeEnd: Buffer } {
    const first = this.keyOf(prefix === '' ? '/' : prefix)
    const rangeEnd = endOf(first)
    if (after === '') return { key: first, rangeEnd }
    // The next key in byte order is this one followed by a zero byte.
    const next = Buffer.concat([this.keyOf(after), Buffer.alloc(1)])
    return { key: Buffer.compare(next, first) > 0 ? next : first, rangeEnd }
  }

  entryOf({ key, value, createRevision, modRevision }: WireKeyValue): Entry {
    return { key: this.textOf(key), value: bytesOf(value), createRevision, modRevision }
  }

  /** Throws CompactedError for a change whose previous value is gone. */
  eventOf({ type, kv, prevKv }: WireEvent): StoreEvent {
    const key = this.textOf(kv.key)
    const { modRevision, createRevision } = kv
    const previous = prevKv ? this.entryOf(prevKv) : undefined
    if (type === deleteType) {
      if (!previous) throw new CompactedError(modRevision)
      const { value } = previous
      return {
        type: 'delete',
        key,
        value,
        modRevision,
        createRevision: previous.createRevision,
      }
    }
    const put = { type: 'put', key, value: bytesOf(kv.value), modRevision, createRevision } as const
    if (createRevision === modRevision) return put
    if (!previous) throw new CompactedError(modRevision)
    return { ...put, previous }
  }

  textOf(key: Uint8Array): string {
    return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('utf8', this.#rootBytes)
  }
}

const deleteType = 1

/**
 * Returns the first key after all with this prefix: UTF-8 has no byte 0xff, so the last one can be
 * incremented.
 */
function endOf(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix)
  const last = end.length - 1
  end[last] = (end[last] ?? 0) + 1
  return end
}

/** Copies a value out of the answer, because a small value must not keep a whole page of a list in memory. */
function bytesOf(value: Uint8Array): Uint8Array {
  return Uint8Array.from(value)
}
