/** No space left, on the disk or within `bytesMax`. Nothing was written; compact or free space. */
export class StoreFullError extends Error {
  override name = 'StoreFullError'
  /** The system's word for it, so that whoever looks for a full disk need not know of stores. */
  readonly code = 'ENOSPC'
}

/** Too many writes wait already. Nothing was written; try again later. */
export class StoreBusyError extends Error {
  override name = 'StoreBusyError'
}

/** Used after it was closed. */
export class StoreClosedError extends Error {
  override name = 'StoreClosedError'
  constructor() {
    super('Cannot use store: it is closed')
  }
}

/** The lease does not exist, expired, or was revoked. */
export class LeaseNotFoundError extends Error {
  override name = 'LeaseNotFoundError'
  readonly leaseId: number
  constructor(leaseId: number) {
    super(`Cannot find lease ${leaseId}: it does not exist or has expired`)
    this.leaseId = leaseId
  }
}

/** The value is above `valueBytesMax`; the same write will never succeed. */
export class ValueTooLargeError extends RangeError {
  override name = 'ValueTooLargeError'
}

/** No server of the store answered in time. */
export class StoreUnavailableError extends Error {
  override name = 'StoreUnavailableError'
  /** True: the request left, and may have been carried out or not. */
  readonly isSent: boolean
  constructor(message: string, options: ErrorOptions & { isSent: boolean }) {
    super(message, options)
    this.isSent = options.isSent
  }
}
