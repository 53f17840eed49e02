import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'

/** No packet is sent there: the kernel only looks up the route. */
const anyPort = 9

/**
 * Resolves with this machine's address from which the kernel would reach the peer now; undefined if there is
 * no route.
 */
export function addressTowards(peer: string): Promise<string | undefined> {
  const socket = createSocket(isIPv6(peer) ? 'udp6' : 'udp4')
  const found = Promise.withResolvers<string | undefined>()
  socket.once('error', () => found.resolve(undefined))
  socket.once('connect', () => found.resolve(socket.address().address))
  socket.connect(anyPort, peer)
  return found.promise.finally(() => socket.close())
}
