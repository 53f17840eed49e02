/** Reports a read or a watch of history that is gone. */
export class CompactedRevisionError extends Error {
  override name = 'CompactedRevisionError'
  constructor() {
    super('Cannot read: the revision is compacted')
  }
}

/** Reports a revision that has not happened yet. */
export class FutureRevisionError extends Error {
  override name = 'FutureRevisionError'
  constructor() {
    super('Cannot read: the revision is in the future')
  }
}

/** Reports a lease that does not exist, expired, or was revoked. */
export class NoLeaseError extends Error {
  override name = 'NoLeaseError'
  constructor() {
    super('Cannot find the lease: it does not exist')
  }
}

/** Reports a put that keeps the value or the lease of a key that does not exist. */
export class NoKeyError extends Error {
  override name = 'NoKeyError'
  constructor() {
    super('Cannot keep the value or the lease: the key does not exist')
  }
}

/** Reports stored bytes that are not those that were written. */
export class DamagedValueError extends Error {
  override name = 'DamagedValueError'
}

/** Reports that the store is full, or was, and nobody has disarmed the alarm. */
export class NoSpaceError extends Error {
  override name = 'NoSpaceError'
  constructor(options?: ErrorOptions) {
    super('Cannot write: the store is full; compact, defragment and disarm the alarm', options)
  }
}

/** Reports a transaction that would keep everybody waiting, or that reads more than the server would hold in memory. */
export class TransactionTooLargeError extends Error {
  override name = 'TransactionTooLargeError'
}

/** Reports an answer that is larger than the server would hold in memory. */
export class AnswerTooLargeError extends Error {
  override name = 'AnswerTooLargeError'
  constructor(bytesMax: number) {
    super(`Cannot answer: more than ${bytesMax} bytes are in the range; set a limit`)
  }
}
