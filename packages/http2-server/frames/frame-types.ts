/** RFC 9113, section 6. */
export const frameTypes = Object.freeze({
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
})

export const frameFlags = Object.freeze({
  ack: 0x01,
  endStream: 0x01,
  endHeaders: 0x04,
  padded: 0x08,
  priority: 0x20,
})

export const frameHeadBytes = 9
/** The size of a frame that every peer accepts (RFC 9113, section 4.2); this server asks for no more. */
export const frameBytesMax = 16_384
/** The window of a stream, and of a connection, at its start (RFC 9113, section 6.9.2). */
export const firstWindowBytes = 65_535
export const windowBytesMax = 2 ** 31 - 1
