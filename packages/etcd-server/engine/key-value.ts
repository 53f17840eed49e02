/** A key as etcd has it: bytes, with the counters of its history. */
export interface KeyValue {
  readonly key: Uint8Array
  readonly value: Uint8Array
  /** The revision at which the key was last created. */
  readonly createRevision: number
  /** The revision of this value. */
  readonly modRevision: number
  /** The number of puts since the key was created. */
  readonly version: number
  /** 0 if the key has no lease. */
  readonly lease: bigint
}

export interface EngineEvent {
  readonly type: 'put' | 'delete'
  /** For a delete, the key and its modRevision alone. */
  readonly kv: KeyValue
  /**
   * Returns the entry before it, or undefined if there was none, or it is compacted. It is read when the first watcher
   * wants it: the values of all keys that one request deletes might not fit into memory.
   */
  readonly previous: () => KeyValue | undefined
}

export const noBytes = new Uint8Array(0)
