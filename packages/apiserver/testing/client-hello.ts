import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { connect, type ConnectionOptions } from 'node:tls'

/** What Node sends first of all on a connection of TLS. */
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
  // It gets no answer.
  socket.on('error', () => undefined)
  const hello = await sent.promise
  socket.destroy()
  if (!socket.closed) await once(socket, 'close')
  return hello
}
