/** One change of a key, as etcd's bucket `key` has it. */
export interface EtcdRecord {
  readonly revision: number
  /** The place of the change within its revision. */
  readonly sub: number
  /** A delete has its key alone; its other fields are 0 and empty. */
  readonly isDeleted: boolean
  readonly key: Uint8Array
  readonly value: Uint8Array
  /** The revision at which the key was last created. */
  readonly createRevision: number
  /** The number of puts since then, this one included. */
  readonly version: number
  /** 0 if the key has no lease. */
  readonly lease: bigint
}

export interface EtcdLease {
  readonly id: bigint
  readonly ttlSeconds: number
}
