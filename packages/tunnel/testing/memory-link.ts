import type { Clock } from '@skerry/base'
import {
  linkHeadBytes,
  type LinkListener,
  type OnPiece,
  type TunnelLink,
} from '../frame/tunnel-link.ts'

export interface MemoryLinkOptions {
  /** If omitted, both ends know all features of this version. */
  readonly features?: TunnelLink['features']
  /** The speed at which messages travel. If omitted, they arrive at once. */
  readonly speed?: { readonly clock: Clock; readonly bytesPerSecond: number }
}

/** Two ends of one link in memory, for simulations: messages arrive in order and in a later turn. */
export function memoryLinks(options: MemoryLinkOptions = {}): {
  near: TunnelLink
  far: TunnelLink
} {
  const near = createEnd(options)
  const far = createEnd(options)
  near.peer = far
  far.peer = near
  return { near: near.link, far: far.link }
}

interface End {
  readonly link: TunnelLink
  peer?: End
  listener?: LinkListener
  /** A message arrives. */
  take(message: Buffer): void
  end(reason: string): void
}

/** Calls back when so many bytes have passed; all that was sent before passes first. */
function passing({ speed }: MemoryLinkOptions): (bytes: number, onPassed: () => void) => void {
  if (!speed) return (_bytes, onPassed) => void setImmediate(onPassed)
  let freeMs = 0
  return (bytes, onPassed) => {
    const nowMs = speed.clock.monotonicMs()
    freeMs = Math.max(freeMs, nowMs) + (bytes * 1_000) / speed.bytesPerSecond
    speed.clock.setTimer(freeMs - nowMs, onPassed)
  }
}

function createEnd(options: MemoryLinkOptions): End {
  const pass = passing(options)
  const closed = Promise.withResolvers<string>()
  let bytesIn = 0
  let bytesOut = 0
  let isOpen = true
  let early: Buffer[] = []
  let receiver: OnPiece | undefined
  const end: End = {
    link: {
      features: options.features ?? new Set(['traffic'] as const),
      send(bytes, onSent) {
        // The sender may reuse its memory after onSent.
        const copy = Buffer.from(bytes.subarray(linkHeadBytes))
        bytesOut += copy.length
        pass(copy.length, () => {
          if (isOpen) end.peer?.take(copy)
          onSent()
        })
      },
      receive(onPiece) {
        receiver = onPiece
        for (const message of early) onPiece(message, true)
        early = []
      },
      closed: closed.promise,
      get bytesHeard() {
        return bytesIn
      },
      get bytesIn() {
        return bytesIn
      },
      get bytesOut() {
        return bytesOut
      },
      listen: (listener) => void (end.listener = listener),
      ping: (payload) => {
        end.peer?.listener?.onHeard()
        end.peer?.listener?.onPing?.(payload)
        end.listener?.onHeard()
        end.listener?.onPong(payload)
      },
      close: (reason) => {
        // The end comes after the sent messages.
        setImmediate(() => {
          end.end(reason)
          end.peer?.end(reason)
        })
      },
      terminate: () => {
        end.end('terminated')
        end.peer?.end('connection was cut')
      },
    },
    take(message) {
      if (!isOpen) return
      bytesIn += message.length
      end.listener?.onHeard()
      if (receiver) receiver(message, true)
      else early.push(message)
    },
    end(reason) {
      isOpen = false
      closed.resolve(reason)
    },
  }
  return end
}
