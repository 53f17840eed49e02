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

export const tunnelLimitDefaults: Readonly<TunnelLimits> = Object.freeze({
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

export function validateTunnelLimits(overrides: Partial<TunnelLimits> = {}): TunnelLimits {
  const limits = { ...tunnelLimitDefaults, ...overrides }
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw new RangeError(
      `Cannot make tunnel: limit ${name} is ${value}, want a whole number above 0`,
    )
  }
  if (limits.streamWindowBytesMin > limits.streamWindowBytes) {
    throw new RangeError('Cannot make tunnel: streamWindowBytesMin is above streamWindowBytes')
  }
  return limits
}

/** A message is one head, or as many frames as the sender puts together, which is less. */
export function messageBytesMax(limits: TunnelLimits): number {
  return 262_144 + limits.headerBytesMax + limits.pathBytesMax + 4 * limits.headersMax
}
