/** The path at which a hub accepts connections inside a WebSocket. */
export const carrierPath = '/tunnel/v1/carrier'

/** Names the content: the raw bytes of one TLS connection. */
export const carrierProtocol = 'tls.v1.skerry'
