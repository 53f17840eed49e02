export const peerAnswerLimits = Object.freeze({ fieldsMax: 512, fieldBytesMax: 131_072 })

/** Bounds of base that no caller sets, by the file that keeps them. */
export const baseBounds = Object.freeze({
  backoff: Object.freeze({
    initialMs: 500,
    maxMs: 30_000,
    factor: 2,
    jitter: 0.5,
  }),
  /** The defaults of OpenTelemetry's batch processor. Times are in milliseconds. */
  spanQueue: Object.freeze({
    spansMax: 2_048,
    batchMax: 512,
    scheduleMs: 5_000,
    exportMs: 10_000,
    /** The time to export the remaining spans at the end. */
    flushMs: 2_000,
  }),
  clock: Object.freeze({
    /** setTimeout fires at once above this many milliseconds (2^31 - 1, about 24.8 days). */
    timerMsMax: 2_147_483_647,
  }),
  simulatedClock: Object.freeze({
    /** The timers that may fire one after the other without any time between them. */
    timersAtOnceMax: 20_000,
  }),
  diskFull: Object.freeze({
    depthMax: 8,
  }),
  boundedLog: Object.freeze({
    bytesMax: 10 * 1024 * 1024,
    copiesMax: 4,
    checkMs: 60_000,
  }),
  giveWay: Object.freeze({
    /** All loops of a process together may block the event loop for this long. */
    turnMsMax: 10,
    /**
     * They then rest for as long, or until a pass of the event loop has nothing to serve, which is a
     * shorter one.
     */
    restMsMax: 10,
    idlePassMs: 0.05,
  }),
  peerAnswer: Object.freeze({
    /** The length of a peer's text that a message quotes. */
    namedCharsMax: 64,
  }),
  connectByTcp: Object.freeze({
    /**
     * After this time the next address is tried in parallel with the one that has not answered (RFC
     * 8305, section 5).
     */
    staggerMs: 250,
    /** The number of addresses of one name that are tried. */
    addressesMax: 8,
  }),
  protoWriter: Object.freeze({
    startBytes: 4096,
  }),
  random: Object.freeze({
    poolBytes: 8_192,
    pooledMax: 256,
  }),
  sleepUnlessClockIsSet: Object.freeze({
    /** The interval at which a change of the clock is detected. */
    lookMs: 5_000,
    /** NTP slews by less than this in that time, and a smaller change does not matter. */
    setMsMin: 1_000,
  }),
  span: Object.freeze({
    /** The length at which an attribute's text is cut: a path may be long, and many spans wait. */
    textMax: 2_048,
  }),
  traceContext: Object.freeze({
    stateBytesMax: 512,
  }),
})
