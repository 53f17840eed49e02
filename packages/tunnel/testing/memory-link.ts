import type { LinkListener, TunnelLink } from '../tunnel-link.ts'

/** Two ends of one link in memory, for simulations: messages arrive in order and in a later turn. */
export function memoryLinks(): { near: TunnelLink; far: TunnelLink } {
  const near = createEnd()
  const far = createEnd()
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

function createEnd(): End {
  const closed = Promise.withResolvers<string>()
  let bytesIn = 0
  let bytesOut = 0
  let isOpen = true
  let early: Buffer[] = []
  let receiver: ((message: Buffer) => void) | undefined
  const end: End = {
    link: {
      send(message, onSent) {
        // The sender may use its memory again as soon as it is told so.
        const copy = Buffer.from(message)
        bytesOut += message.length
        setImmediate(() => {
          if (isOpen) end.peer?.take(copy)
          onSent()
        })
      },
      receive(onMessage) {
        receiver = onMessage
        for (const message of early) onMessage(message)
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
        end.listener?.onPong(payload)
      },
      close: (reason) => {
        // Behind what was sent.
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
      if (receiver) receiver(message)
      else early.push(message)
    },
    end(reason) {
      isOpen = false
      closed.resolve(reason)
    },
  }
  return end
}
