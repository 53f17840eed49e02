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

/** The limits of a tunnel. Each end has its own copy. */
export interface TunnelLimits {
  /** The streams open at once in one tunnel; more are refused. */
  streamsMax: number
  /** The most that a peer may send on one stream before its reader catches up. */
  streamWindowBytes: number
  /** The least window, if `bufferedBytesMax` is used up: slow readers must not stop the others. */
  streamWindowBytesMin: number
  /** Bytes received and not yet read, in all streams; windows shrink as this fills. */
  bufferedBytesMax: number
  /** Names and values of one request's or answer's headers. */
  headerBytesMax: number
  headersMax: number
  pathBytesMax: number
  /** The interval of pings from each end on a healthy link. */
  pingMs: number
  /**
   * A link on which nothing was heard for this long is dead. Keep it below 30 s, because NAT forgets idle
   * flows.
   */
  deadMs: number
  /** An answer that does not begin for this long makes the hub ask whether the link still lives. */
  answerMs: number
  /** The time for the other end to answer a ping; after it, the requests that wait for it fail. */
  pongMs: number
  dialMs: number
  /** The part of dialMs for TCP to connect: two round trips over the slowest satellite, and two lost packets. */
  connectMs: number
  /** The time that open streams may take after a graceful end. */
  drainMs: number
}

export const tunnelLimitDefaults = Object.freeze({
  streamsMax: 1_000,
  streamWindowBytes: 8_388_608,
  streamWindowBytesMin: 65_536,
  bufferedBytesMax: 67_108_864,
  headerBytesMax: 65_536,
  headersMax: 256,
  pathBytesMax: 16_384,
  pingMs: 10_000,
  deadMs: 25_000,
  answerMs: 2_000,
  pongMs: 3_000,
  dialMs: 20_000,
  connectMs: 4_000,
  drainMs: 30_000,
})

/**
 * Bounds of the tunnel that no caller sets, by the file that keeps them: `lostAddress` is lost-address.ts.
 */
export const tunnelBounds = Object.freeze({
  lostAddress: Object.freeze({
    lookMs: 2_000,
  }),
  openTunnels: Object.freeze({
    /** The number of tunnels that a hub accepts from one agent at each of its replicas. */
    tunnelsMax: 8,
    /** A tunnel that lived this long shows that the way is good. */
    provenMs: 10_000,
  }),
  tunnelAgent: Object.freeze({
    /** A link that broke is mostly back soon, and is noticed within this. */
    eagerMs: 60_000,
    eagerRetryMsMax: 1_000,
    pauseMsMin: 50,
    /** The pause after the hub refused, in milliseconds: asking every few seconds does not help. */
    refusedMs: 15_000,
    retryAfterMsMax: 300_000,
    /** A dial costs a few packets, and an operator waits: so the pause stays short. */
    networkBackoff: Object.freeze({ initialMs: 250, maxMs: 3_000, factor: 1.7, jitter: 0.5 }),
    /** A replica answered that has a tunnel already: a balancer may lead to the others at the next dial, or never. */
    repeatBackoff: Object.freeze({ initialMs: 500, maxMs: 120_000, factor: 1.7, jitter: 0.5 }),
  }),
  tunnelMessage: Object.freeze({
    /** Bodies up to this length are passed on whole, if their length is known. */
    wholeBytesMax: 16_384,
  }),
  acceptRate: Object.freeze({
    /** The longest time to stay away, whatever the number of agents, in milliseconds. */
    awayMsMax: 300_000,
  }),
  tunnelRegistry: Object.freeze({
    /** The number of identities whose last end is remembered. */
    endsMax: 50_000,
  }),
  agentSession: Object.freeze({
    dropBytesMax: 262_144,
  }),
  answerProbe: Object.freeze({
    /**
     * The rate of the thinnest supported link, 64 kbit/s: bytes in flight have arrived after the time that it
     * takes.
     */
    slowestBytesPerMs: 8,
    /** A timer that is later than this does not measure the link. */
    lateMs: 500,
  }),
  multiplexer: Object.freeze({
    /** The limit of frames without a body that wait for the link; an end that takes none is not waited for. */
    controlBytesMax: 16_777_216,
    reasonBytesMax: 1_024,
    /** The open requests of one agent at its hub: some watches, and a few writes. */
    agentStreamsMax: 128,
    rulesBytesMax: 4_096,
  }),
  sessionWindow: Object.freeze({
    /** The number of streams that may stall at the full window before windows shrink. */
    sharesMin: 8,
    /** The first window of a stream while first windows use less than a quarter of the budget. */
    eagerWindowBytes: 262_144,
  }),
  tunnelStream: Object.freeze({
    /** A stream's writer waits above this. */
    queuedBytesMax: 65_536,
  }),
  byteRate: Object.freeze({
    /** A younger link has moved too little to distinguish a rate from its first burst. */
    spanMsMin: 1_000,
  }),
  delayWindow: Object.freeze({
    /** Marks that have not been answered yet. */
    marksMax: 16,
    markEveryMs: 2,
    messageBytesMin: 1_024,
    /** After a pause of this length the link may be another one, so its window starts over. */
    pauseMs: 60_000,
  }),
  leastRoundTrip: Object.freeze({
    /** The way may become longer, and is then not known by what it was. */
    rememberedMs: 300_000,
  }),
  linkPings: Object.freeze({
    pingsMax: 16,
  }),
  rateLimit: Object.freeze({
    /** The time that one message may take of the rate, at most: urgent data waits no longer than that. */
    messageMsMax: 50,
    messageBytesMin: 1_024,
  }),
  sendQueue: Object.freeze({
    /**
     * With the link's head these are three full TLS records at most. It is also just below the size that a hub's
     * allocator, under the launcher's settings, would map afresh each time.
     */
    messageBytesMax: 3 * 16_384 - 32,
    /** The bytes given to the link and not yet taken by the kernel: more would only delay small frames. */
    unsentBytesMax: 131_072,
    /** Smaller messages are copied out of their buffer, which is then reused. */
    copiedBytesMax: 8_192,
    /** The buffers of the process that wait for reuse. */
    spareBuffersMax: 32,
  }),
  trafficRules: Object.freeze({
    /** The window after which a stream's past traffic is forgotten. */
    bulkWindowMs: 10_000,
    bulkAfterBytes: 262_144,
  }),
  webSocketEndpoint: Object.freeze({
    /** The time that a close waits for the other end's, in milliseconds. */
    closeMs: 5_000,
    /**
     * The number of answers to pings that the kernel may not have taken. Beyond it, only the newest ping is
     * answered.
     */
    pongsUnsentMax: 16,
  }),
  streamAdapter: Object.freeze({
    /** Credit is given for bytes handed over, so only this much is kept in addition to it. */
    readableHighWaterMark: 16_384,
  }),
})

export const registryDefaults = Object.freeze({ sessionsMax: 20_000, sessionsPerIdentityMax: 8 })

export const tunnelServerDefaults = Object.freeze({ acceptsPerSecond: 500, handshakesMax: 1_000 })

export const trafficBounds = Object.freeze({
  /** At a lower rate, one frame of minimum size would take longer than the timeout of a link. */
  bytesPerSecondMin: 1_024,
  bytesPerSecondMax: 125_000_000_000,
  burstBytesMax: 1_073_741_824,
  bulkAfterBytesMin: 16_384,
})

/** The bounds, all in bytes or milliseconds. */
export const windowBounds = Object.freeze({
  /** The first size, the same as TCP's; it doubles a round trip later. */
  startBytes: 16_384,
  /** At 64 kbit/s these take half a second. */
  leastBytes: 4_096,
  /** The bytes that all streams of a tunnel may have in flight. */
  mostBytes: 67_108_864,
  /** The time that bytes may queue on the way, or half a round trip if that is more. */
  standingMs: 250,
  /** The time after which a foreign delay is tested again. */
  doubtMs: 120_000,
})
