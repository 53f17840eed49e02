import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** What a client asked for with its upgrade is no WebSocket; its connection is still to be answered. */
export class HandshakeError extends Error {
  override name = 'HandshakeError'
}

/** The part of a WebSocketServer of `ws` that has no port of its own. */
export interface HandshakeServer<Accepted> {
  once(event: 'wsClientError', onRefused: (error: Error) => void): unknown
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    onAccepted: (accepted: Accepted) => void,
  ): void
}

/**
 * Accepts a client's handshake. `ws` calls nobody back where it refuses one, or where the client has left: this
 * rejects with HandshakeError for the first, before anything is written, and with an Error for the second.
 */
export function acceptHandshake<Accepted>(
  server: HandshakeServer<Accepted>,
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Uint8Array },
): Promise<Accepted> {
  return new Promise((resolve, reject) => {
    const onGone = (): void => reject(new Error('Cannot open WebSocket: the client has left'))
    if (socket.destroyed) return onGone()
    socket.once('close', onGone)
    server.once('wsClientError', ({ message }) =>
      reject(new HandshakeError(`Cannot open WebSocket: ${message}`)),
    )
    server.handleUpgrade(request, socket, Buffer.from(head), (accepted) => {
      socket.off('close', onGone)
      resolve(accepted)
    })
  })
}
