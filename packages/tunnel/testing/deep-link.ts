import type { Clock } from '@skerry/base'
import {
  linkHeadBytes,
  type LinkListener,
  type OnPiece,
  type TunnelLink,
} from '../frame/tunnel-link.ts'

export interface DeepLinkOptions {
  readonly clock: Clock
  /** The rate each way; may change. */
  bytesPerSecond: number
  /** The rate of what `near` sends, if it differs. */
  readonly nearBytesPerSecond?: number
  /** The time from either end to the other, without queueing; may change. */
  oneWayMs: number
  /** Bytes of other traffic queued before what is sent, at any time and each way. */
  foreignBytes?: number
  /** Selects the pings that the far end answers. If omitted, all. */
  answers?: (payload: string) => boolean
}

/** Bytes of a ping or its answer, with what TLS and TCP add. */
const pingBytes = 76

/**
 * Creates two ends of a link whose buffers take everything at once, as the kernel's do, and release it in
 * order at the link's rate: sent bytes cannot be overtaken.
 */
export function deepLinks(options: DeepLinkOptions) {
  const { nearBytesPerSecond } = options
  const near = createEnd(options, () => ({ peer: far, bytesPerSecond: nearBytesPerSecond }))
  const far = createEnd(options, () => ({ peer: near }))
  return { near: near.link, far: far.link, sent: { near: near.sizes, far: far.sizes } }
}

interface End {
  readonly link: TunnelLink
  /** The sizes of its messages, in order. */
  readonly sizes: number[]
  take(message: Buffer): void
  ping(payload: string): void
  pong(payload: string): void
}

interface Way {
  readonly peer: End
  readonly bytesPerSecond?: number | undefined
}

function createEnd(options: DeepLinkOptions, way: () => Way): End {
  const { clock } = options
  const counts = { bytesIn: 0, bytesOut: 0 }
  const sizes: number[] = []
  let listener: LinkListener | undefined
  let receiver: OnPiece | undefined
  let freeMs = 0
  let arrivesMs = 0
  const pass = (bytes: number, onPassed: () => void): void => {
    const nowMs = clock.monotonicMs()
    const { oneWayMs, foreignBytes = 0 } = options
    const bytesPerSecond = way().bytesPerSecond ?? options.bytesPerSecond
    freeMs = Math.max(freeMs, nowMs) + (bytes * 1_000) / bytesPerSecond
    const atMs = freeMs + oneWayMs + (foreignBytes * 1_000) / bytesPerSecond
    // A way that becomes shorter does not change the order.
    arrivesMs = Math.max(arrivesMs, atMs)
    clock.setTimer(arrivesMs - nowMs, onPassed)
  }
  return {
    sizes,
    link: {
      features: new Set(['traffic'] as const),
      send(bytes, onSent) {
        const copy = Buffer.from(bytes.subarray(linkHeadBytes))
        counts.bytesOut += copy.length
        sizes.push(copy.length)
        pass(copy.length, () => way().peer.take(copy))
        setImmediate(onSent)
      },
      receive: (onPiece) => void (receiver = onPiece),
      get bytesHeard() {
        return counts.bytesIn
      },
      get bytesIn() {
        return counts.bytesIn
      },
      get bytesOut() {
        return counts.bytesOut
      },
      listen: (next) => void (listener = next),
      ping: (payload) => pass(pingBytes, () => way().peer.ping(payload)),
      close: () => undefined,
      terminate: () => undefined,
      closed: new Promise(() => undefined),
    },
    take(message) {
      counts.bytesIn += message.length
      listener?.onHeard()
      receiver?.(message, true)
    },
    ping(payload) {
      listener?.onHeard()
      listener?.onPing?.(payload)
      if (options.answers?.(payload) ?? true) pass(pingBytes, () => way().peer.pong(payload))
    },
    pong(payload) {
      listener?.onHeard()
      listener?.onPong(payload)
    },
  }
}
