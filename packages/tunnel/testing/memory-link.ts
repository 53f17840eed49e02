import { duplexPair, type Duplex } from 'node:stream'
import type { LinkListener, TunnelLink } from '../tunnel-link.ts'

/** Two ends of one link in memory, for simulations: order and half-closes as on a network. */
export function memoryLinks(): { near: TunnelLink; far: TunnelLink } {
  const [nearStream, farStream] = duplexPair()
  const near = createEnd(nearStream)
  const far = createEnd(farStream)
  near.peer = far
  far.peer = near
  return { near: near.link, far: far.link }
}

interface End {
  readonly link: TunnelLink
  peer?: End
  listener?: LinkListener
  end(reason: string): void
}

function createEnd(stream: Duplex): End {
  const closed = Promise.withResolvers<string>()
  let goodbye = 'session ended'
  let bytesIn = 0
  stream.on('data', (chunk: Uint8Array) => {
    bytesIn += chunk.length
    end.listener?.onHeard()
  })
  stream.pause()
  stream.on('error', () => end.end('connection was cut'))
  stream.on('close', () => end.peer?.end(goodbye))
  const end: End = {
    link: {
      stream,
      closed: closed.promise,
      bytesOut: 0,
      get bytesHeard() {
        return bytesIn
      },
      get bytesIn() {
        return bytesIn
      },
      listen: (listener) => void (end.listener = listener),
      ping: (payload) => {
        end.peer?.listener?.onHeard()
        end.listener?.onPong(payload)
      },
      sayAtEnd: (reason) => void (goodbye = reason),
      close: (reason) => {
        goodbye = reason
        end.end(reason)
      },
      terminate: () => end.end('terminated'),
    },
    end(reason) {
      closed.resolve(reason)
      stream.destroy()
    },
  }
  return end
}
