import { Duplex } from 'node:stream'
import { behindHead, WebSocketEndpoint, type EndpointOptions } from './web-socket-endpoint.ts'
import { closeCodes } from './web-socket-fault.ts'

/** An open WebSocket as a stream of the bytes in its messages. It ends in both directions at once. */
export function webSocketStream(socket: Duplex, options: EndpointOptions): Duplex {
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => endpoint.resume(),
    write: (chunk: Uint8Array, _encoding, done) => endpoint.send(behindHead(chunk), () => done()),
    final: (done) => {
      endpoint.close(closeCodes.normal, '')
      done()
    },
    destroy: (error, done) => {
      endpoint.terminate()
      done(error)
    },
  })
  const endpoint = new WebSocketEndpoint(socket, options, {
    onPiece(piece) {
      if (piece.length > 0 && !stream.push(piece)) endpoint.pause()
    },
    onPing: () => undefined,
    onPong: () => undefined,
    onClosed(_code, _reason, fault) {
      if (fault) stream.destroy(fault)
      else if (!stream.destroyed) stream.push(null)
    },
  })
  endpoint.start()
  return stream
}
