/** The limits of a server that its owner may set. */
export interface Http2Limits {
  /** The number of streams of one connection that are open at once. */
  streamsMax: number
  /** The size of the fields of one request (RFC 9113, section 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE). */
  headerBytesMax: number
  /** The number of the fields of one request. */
  headerFieldsMax: number
  /** The bytes of one connection that may be on their way to the server, or are not read yet. */
  windowBytes: number
  /** The time in which a reader must take some of an answer that is complete, in milliseconds. */
  unreadMs: number
}

export const http2Defaults: Http2Limits = Object.freeze({
  streamsMax: 1_000,
  headerBytesMax: 16_384,
  headerFieldsMax: 64,
  windowBytes: 1_048_576,
  unreadMs: 60_000,
})

/** The bounds of the server that no caller sets, by the file that keeps them; times are in milliseconds. */
export const http2Bounds = Object.freeze({
  headerDecoder: Object.freeze({
    /** The size of the table that a peer may fill; what HTTP/2 starts with. */
    tableBytesMax: 4_096,
  }),
  frameOutput: Object.freeze({
    slabBytes: 65_536,
    /** Longer pieces are written from where they are. */
    copiedBytesMax: 4_096,
  }),
  frameSender: Object.freeze({
    /** The bytes that are given to a socket at once. */
    flushBytesMax: 262_144,
    /** The size of acknowledgements and resets that a peer has caused and does not read. */
    controlBytesMax: 65_536,
    /** The time for which the acknowledgement of a ping waits for a frame that takes it along, in milliseconds. */
    patienceMs: 5,
  }),
  http2Connection: Object.freeze({
    /** The time in which a peer must send its settings. */
    greetMs: 10_000,
    /** The frames in which the fields of one request may come. */
    blockFramesMax: 16,
    /** The number of streams that the server has reset and whose frames, still on their way, are ignored. */
    resetStreamsMax: 1_024,
    /** The streams that a peer may reset, at once and then for each second. */
    resetBurst: 1_000,
    resetsPerSecond: 33,
    /** The frames of a peer that carry nothing (empty data, settings, priorities), at once and then for each second. */
    idleFrameBurst: 2_000,
    idleFramesPerSecond: 100,
    /** The time in which a peer may read why its connection ends. */
    lingerMs: 1_000,
  }),
})
