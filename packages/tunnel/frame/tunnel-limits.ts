/** Every bound of a tunnel, in one place. Both ends have their own copy. */
export interface TunnelLimits {
  /** Streams open at once in one tunnel; more are refused. */
  streamsMax: number
  /** Most that a peer may send on one stream before its reader catches up. */
  streamWindowBytes: number
  /** Least, when `bufferedBytesMax` is used up: slow readers must not stop the others. */
  streamWindowBytesMin: number
  /** Bytes received and not yet read, in all streams; windows shrink as this fills. */
  bufferedBytesMax: number
  /** Names and values of one request's or answer's headers. */
  headerBytesMax: number
  headersMax: number
  pathBytesMax: number
  /** How often each end pings when all is well. */
  pingMs: number
  /** Nothing heard for this long: the link is dead. Keep below 30 s: NAT forgets idle flows. */
  deadMs: number
  /** An answer that does not begin for this long makes the hub ask whether the link still lives. */
  answerMs: number
  /** For as long as this the other end may take to say so; then what waits on it fails. */
  pongMs: number
  dialMs: number
  /** Of that, for TCP to answer: two round trips over the slowest satellite, and two packets lost. */
  connectMs: number
  /** On a graceful end, how long open streams may take. */
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
