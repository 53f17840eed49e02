import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'

/** Nothing is sent there: the kernel only looks up the way. */
const anyPort = 9

/** This machine's address by which the kernel would reach that one now; undefined: it knows no way. */
export function addressTowards(peer: string): Promise<string | undefined> {
  const socket = createSocket(isIPv6(peer) ? 'udp6' : 'udp4')
  const found = Promise.withResolvers<string | undefined>()
  socket.once('error', () => found.resolve(undefined))
  socket.once('connect', () => found.resolve(socket.address().address))
  socket.connect(anyPort, peer)
  return found.promise.finally(() => socket.close())
}
