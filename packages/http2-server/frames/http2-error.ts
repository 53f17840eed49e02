/** RFC 9113, section 7. */
export const errorCodes = Object.freeze({
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
})
export type ErrorCode = keyof typeof errorCodes

/** Ends the connection with this code (RFC 9113, section 5.4.1). */
export class ConnectionError extends Error {
  override name = 'ConnectionError'
  readonly code: ErrorCode
  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Ends one stream with this code (RFC 9113, section 5.4.2). */
export class StreamError extends Error {
  override name = 'StreamError'
  readonly code: ErrorCode
  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
