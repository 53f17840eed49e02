/** The path at which a hub accepts connections inside a WebSocket. */
export const carrierPath = '/tunnel/v1/carrier'

/** Names the content: the raw bytes of one TLS connection. */
export const carrierProtocol = 'tls.v1.skerry'

/** The limits of carriers. */
export const carrierLimits = Object.freeze({
  /** Open at once; each holds what a TLS connection holds, twice. */
  carriersMax: 10_000,
  /** The limit of one message; writers make smaller ones. */
  messageBytesMax: 1_048_576,
  /** The time from the first byte to an open WebSocket, in milliseconds: several round trips over a slow link. */
  openMs: 20_000,
  /** The value of Retry-After when there are too many. */
  retryAfterSeconds: 30,
})
