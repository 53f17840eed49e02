import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * Reports that a client's upgrade request is not a WebSocket handshake. Its connection must still
 * be answered.
 */
export class HandshakeError extends Error {
  override name = 'HandshakeError'
}

/** The used part of a WebSocketServer of `ws` without its own port. */
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
 * Accepts a client's handshake. `ws` calls no callback if it refuses one, or if the client has
 * left. This rejects with HandshakeError in the first case, before anything is written, and with an
 * Error in the second.
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
