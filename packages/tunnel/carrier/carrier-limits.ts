/** Where a hub takes connections that come inside a WebSocket. */
export const carrierPath = '/tunnel/v1/carrier'

/** Names what is inside: one TLS connection, as its bytes come. */
export const carrierProtocol = 'tls.v1.skerry'

/** Every bound of carriers, in one place. */
export const carrierLimits = Object.freeze({
  /** Open at once; each holds what a TLS connection holds, twice. */
  carriersMax: 10_000,
  /** Of one message; writers make them smaller. */
  messageBytesMax: 1_048_576,
  /** From the first byte to an open WebSocket: several round trips over a slow link. */
  openMs: 20_000,
  /** When there are too many. */
  retryAfterSeconds: 30,
})
