import type { Duplex } from 'node:stream'

/**
 * Carries bytes both ways until both directions ended. An end in one direction passes on and
 * leaves the other open (half-close); a failure of one side destroys the other. Never rejects.
 */
export function joinStreams(one: Duplex, other: Duplex): Promise<void> {
  one.pipe(other)
  other.pipe(one)
  return Promise.all([follow(one, other), follow(other, one)]).then(nothing)
}

function follow(stream: Duplex, peer: Duplex): Promise<void> {
  return new Promise((resolve) => {
    stream.once('error', (error) => peer.destroy(error))
    stream.once('close', () => {
      // Closed before its end was read or written: there is nobody left to talk to.
      if (!stream.readableEnded || !stream.writableFinished) peer.destroy()
      resolve()
    })
    if (stream.destroyed) peer.destroy()
  })
}

function nothing(): void {}
