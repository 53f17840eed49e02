import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'

/** Answers one request with any bytes. `body` is empty unless the request has a content-length. */
export type RawAnswer = (connection: Duplex, head: string, body: string) => void

/** A server on loopback that answers each request with raw bytes. */
export interface RawPeer extends Disposable {
  readonly port: number
  /** Answers all requests from now on. */
  answer: RawAnswer
  /** The number of bytes written to all connections so far. */
  writtenBytes(): number
}

/** Starts a peer; with `tls` it speaks TLS. */
export async function startRawPeer(
  answer: RawAnswer,
  { tls, host = '127.0.0.1' }: { tls?: { cert: string; key: string }; host?: string } = {},
): Promise<RawPeer> {
  const open = new Set<Duplex & { readonly bytesWritten?: number }>()
  let closedBytes = 0
  const serve = (connection: Socket): void => {
    open.add(connection)
    connection.once('close', () => {
      open.delete(connection)
      closedBytes += connection.bytesWritten
    })
    // Its clients cut it off, as they should.
    connection.on('error', () => undefined)
    let text = ''
    connection.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      for (let read = readRequest(text); read; read = readRequest(text)) {
        text = read.rest
        peer.answer(connection, read.head, read.body)
      }
    })
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
    writtenBytes: () =>
      [...open].reduce((sum, { bytesWritten = 0 }) => sum + bytesWritten, closedBytes),
    [Symbol.dispose]() {
      for (const connection of open) connection.destroy()
      server.close()
    },
  }
  return peer
}

/** Reads the first request; undefined if it is incomplete. */
function readRequest(text: string): { head: string; body: string; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const start = end + 4
  const head = text.slice(0, start)
  const length = Number(/^content-length: *(\d+)\r$/im.exec(head)?.[1] ?? 0)
  if (text.length < start + length) return undefined
  return { head, body: text.slice(start, start + length), rest: text.slice(start + length) }
}
