import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'

/** Writes whatever it likes to whoever has sent a request's head. */
export type RawAnswer = (connection: Duplex, head: string) => void

/** A server on loopback that speaks no protocol of its own: each connection gets the bytes of the current answer. */
export interface RawPeer extends Disposable {
  readonly port: number
  /** What connections get from now on. */
  answer: RawAnswer
}

/** With `tls` it speaks TLS. */
export async function startRawPeer(
  answer: RawAnswer,
  { tls, host = '127.0.0.1' }: { tls?: { cert: string; key: string }; host?: string } = {},
): Promise<RawPeer> {
  const open = new Set<Duplex>()
  const serve = (connection: Duplex): void => {
    open.add(connection)
    connection.once('close', () => open.delete(connection))
    // Its clients cut it off, as they should.
    connection.on('error', () => undefined)
    let text = ''
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1')
      if (!text.includes('\r\n\r\n')) return
      connection.off('data', onData)
      connection.resume()
      peer.answer(connection, text)
    }
    connection.on('data', onData)
  }
  const server: Server = tls
    ? createTlsServer({ ...tls, ALPNProtocols: ['http/1.1'] }, serve)
    : createServer({ allowHalfOpen: true }, serve)
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined))
  server.on('tlsClientError', () => undefined)
  server.listen(0, host)
  await once(server, 'listening')
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  const peer: RawPeer = {
    port,
    answer,
    [Symbol.dispose]() {
      for (const connection of open) connection.destroy()
      server.close()
    },
  }
  return peer
}
