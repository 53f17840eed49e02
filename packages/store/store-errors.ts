/**
 * Reports that no space is left, on the disk or within `bytesMax`. Nothing was written. Compact or
 * free space.
 */
export class StoreFullError extends Error {
  override name = 'StoreFullError'
  /** The system's error code, so that code that detects a full disk need not know about stores. */
  readonly code = 'ENOSPC'
}

/** Reports that too many writes wait already. Nothing was written. Try again later. */
export class StoreBusyError extends Error {
  override name = 'StoreBusyError'
}

/** Reports use after the store was closed. */
export class StoreClosedError extends Error {
  override name = 'StoreClosedError'
  constructor() {
    super('Cannot use store: it is closed')
  }
}

/** Reports that the lease does not exist, expired, or was revoked. */
export class LeaseNotFoundError extends Error {
  override name = 'LeaseNotFoundError'
  readonly leaseId: number
  constructor(leaseId: number) {
    super(`Cannot find lease ${leaseId}: it does not exist or has expired`)
    this.leaseId = leaseId
  }
}

/** Reports that the value is above `valueBytesMax`. The same write will never succeed. */
export class ValueTooLargeError extends RangeError {
  override name = 'ValueTooLargeError'
}

/** Reports that no server of the store answered in time. */
export class StoreUnavailableError extends Error {
  override name = 'StoreUnavailableError'
  /** True if the request was sent and may have been carried out or not. */
  readonly isSent: boolean
  constructor(message: string, options: ErrorOptions & { isSent: boolean }) {
    super(message, options)
    this.isSent = options.isSent
  }
}
