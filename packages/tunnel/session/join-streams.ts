import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/**
 * Carries bytes both ways until both directions have ended. The end of one direction passes on and leaves the
 * other open (half-close); a failure of one side cuts the other. Never rejects.
 */
export function joinStreams(one: Duplex, other: Duplex): Promise<void> {
  one.pipe(other)
  other.pipe(one)
  return Promise.all([follow(one, other), follow(other, one)]).then(nothing)
}

function follow(stream: Duplex, peer: Duplex): Promise<void> {
  return new Promise((resolve) => {
    stream.once('error', (error) => cut(peer, error))
    stream.once('close', () => {
      // It closed before its end was read or written, so the other end has no partner any more.
      if (!stream.readableEnded || !stream.writableFinished) peer.destroy()
      resolve()
    })
    if (stream.destroyed) peer.destroy()
  })
}

/** Resets a bare TCP connection, where nothing else distinguishes a cut from an end. */
function cut(peer: Duplex, error: Error): void {
  const isBareTcp = peer instanceof Socket && !(peer instanceof TLSSocket) && !peer.connecting
  if (isBareTcp && !peer.destroyed) peer.resetAndDestroy()
  else peer.destroy(error)
}

function nothing(): void {}
