import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { connect, type ConnectionOptions } from 'node:tls'

/** Returns the first bytes that Node sends on a TLS connection. */
export async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  const sent = Promise.withResolvers<Buffer>()
  const wire = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      sent.resolve(chunk)
      done()
    },
  })
  const socket = connect({ ...options, socket: wire })
  // The connection gets no answer.
  socket.on('error', () => undefined)
  const hello = await sent.promise
  socket.destroy()
  if (!socket.closed) await once(socket, 'close')
  return hello
}
