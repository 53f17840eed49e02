import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** The kernel then asks ten times, a second apart, before it gives the client up. */
const probeMs = 15_000

/**
 * Before a session begins: keystrokes are small and must not wait for each other; and a client that vanished
 * without a word is found, as a shell at the edge would wait for it for ever.
 */
export function watchOverClient(socket: Duplex): void {
  if (socket instanceof Socket) socket.setNoDelay(true).setKeepAlive(true, probeMs)
}
