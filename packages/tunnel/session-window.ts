import type { Http2Session, Http2Stream } from 'node:http2'
import type { TunnelLimits } from './tunnel-limits.ts'

export type WindowLimits = Pick<
  TunnelLimits,
  'streamWindowBytes' | 'streamWindowBytesMin' | 'bufferedBytesMax'
>

/** So many streams may stall at the full window before windows shrink. */
const sharesMin = 8
/** Of so many open streams one is expected to carry bulk; most are idle watches. */
const streamsPerShare = 8

/**
 * Decides the window of each stream: what is left of the budget, shared by those that may fill
 * theirs. A power of two times the least window, so that it changes rarely.
 */
export function planWindow(
  use: { bufferedBytes: number; streams: number },
  limits: WindowLimits,
): number {
  const { streamWindowBytes, streamWindowBytesMin, bufferedBytesMax } = limits
  const shares = Math.max(sharesMin, use.streams / streamsPerShare)
  const share = (bufferedBytesMax - use.bufferedBytes) / shares
  let window = streamWindowBytesMin
  while (window * 2 <= Math.min(share, streamWindowBytes)) window *= 2
  return window
}

const unused = Object.freeze({ bufferedBytes: 0, streams: 0 })

export function sessionOptions(limits: TunnelLimits) {
  return {
    settings: {
      enablePush: false,
      initialWindowSize: planWindow(unused, limits),
      maxFrameSize: limits.frameBytesMax,
      maxConcurrentStreams: limits.streamsMax,
      maxHeaderListSize: limits.headerBytesMax,
    },
    peerMaxConcurrentStreams: limits.streamsMax,
    // The names that HTTP/2 adds itself count, too.
    maxHeaderListPairs: limits.headersMax + 16,
    maxOutstandingSettings: settingsWaitingMax,
    maxSessionMemory: Math.ceil((2 * limits.bufferedBytesMax + sessionBytes) / 1_000_000),
  }
}

const sessionBytes = 64_000_000
const settingsWaitingMax = 16
/** Buffered bytes are counted anew when this much has arrived. */
const countEveryBytes = 262_144

export interface SessionStreams {
  readonly count: number
  readonly bufferedBytes: number
  /** Counts the stream until it closes. */
  add(stream: Http2Stream): void
  /** Bytes arrived in the session. */
  onBytes(bytes: number): void
}

/**
 * Keeps what all streams hold unread near `bufferedBytesMax`. HTTP/2's session window does not: it
 * opens again as soon as bytes are handed to a stream, read or not. So streams' windows shrink for
 * all at once (RFC 9113, 6.9.2) as stalled readers pile up, down to the least window.
 */
export function governStreams(session: Http2Session, limits: TunnelLimits): SessionStreams {
  const streams = new Set<Http2Stream>()
  const windowMax = planWindow(unused, limits)
  let window = windowMax
  let uncounted = 0
  let settingsWaiting = 0
  const bufferedBytes = (): number => {
    let bytes = 0
    for (const stream of streams) bytes += stream.readableLength
    return bytes
  }
  const adjust = (): void => {
    uncounted = 0
    const wanted = planWindow({ bufferedBytes: bufferedBytes(), streams: streams.size }, limits)
    if (wanted === window || session.destroyed || session.closed) return
    // Growing may wait, shrinking may not; Node refuses more than it allows to wait.
    if (settingsWaiting >= (wanted > window ? 1 : settingsWaitingMax - 2)) return
    window = wanted
    settingsWaiting += 1
    session.settings({ initialWindowSize: window }, () => (settingsWaiting -= 1))
  }
  return {
    get count() {
      return streams.size
    },
    get bufferedBytes() {
      return bufferedBytes()
    },
    add(stream) {
      streams.add(stream)
      if (streams.size % streamsPerShare === 0) adjust()
      stream.once('close', () => {
        streams.delete(stream)
        if (window < windowMax) adjust()
      })
    },
    onBytes(bytes) {
      uncounted += bytes
      if (uncounted >= countEveryBytes) adjust()
    },
  }
}
