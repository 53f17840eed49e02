/** The records of clients of several API servers, from which the checkers of this folder judge. */

/** A stored value and the resourceVersion at which it was written. */
export interface Version {
  readonly value: string
  readonly revision: number
}

/** One request of a client for one key. All times are of one clock. */
export interface Operation {
  readonly client: string
  readonly key: string
  readonly calledMs: number
  /** Infinity if no answer came: a write may then take effect at any time after its call, or never. */
  readonly answeredMs: number
  readonly action: ReadAction | WriteAction
}

export interface ReadAction {
  readonly kind: 'read'
  /** Undefined if the key did not exist. */
  readonly found: Version | undefined
}

export interface WriteAction {
  readonly kind: 'write'
  /** No two writes of a history have the same value. */
  readonly value: string
  /** The revision that the key had to have, 0 if it must not exist. If omitted, any. */
  readonly expect?: number
  /** The revision at which it was written; `refused` if the key had another one; `unknown` without an answer. */
  readonly outcome: number | 'refused' | 'unknown'
}

/** Everything that one watch of a kind has shown, in the order in which it came, over all its connections. */
export interface WatchRecord {
  readonly watcher: string
  /** The revision of the list after which it began, and the objects of that list by key. */
  readonly from: number
  readonly listed: Readonly<Record<string, Version>>
  readonly events: readonly WatchedEvent[]
  /** Everything up to this revision must have been shown. */
  readonly until: number
}

export interface WatchedEvent extends Version {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly key: string
}

/** A version of the leaders' lease. */
export interface LeaseRecord {
  readonly revision: number
  /** Empty after a leader that stopped has given it back. */
  readonly holder: string
  /** The time at which a watcher saw it, of a clock that is right. */
  readonly seenMs: number
}

/** A write that a process made as the leader. */
export interface LeaderAct {
  readonly revision: number
  readonly holder: string
  /** A text that names it for the reader of a fault. */
  readonly what: string
}
