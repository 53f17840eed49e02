import { once } from 'node:events'
import { connect, type ConnectionOptions } from 'node:tls'
import { readAnswers, type WireAnswer } from './read-answers.ts'

export interface AskedTwice {
  readonly url: string
  readonly credentials: ConnectionOptions
  readonly method?: string
  readonly path: string
  /** Further lines of the first request's head, each with its line end. */
  readonly fields?: string
  /** The second request, which follows at once on the same connection. */
  readonly next: string
}

/** Sends both requests before it reads; resolves with the answers until the server had sent both, or closed. */
export async function askTwice(asked: AskedTwice): Promise<WireAnswer[]> {
  const { url, credentials, method = 'GET', path, fields = '', next } = asked
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host, port: Number(port), ...credentials })
  // A server may cut off a connection on which it could not go on.
  socket.on('error', () => undefined)
  socket.write(`${method} ${path} HTTP/1.1\r\nhost: a\r\n${fields}\r\n`)
  socket.write(`GET ${next} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
  return readAnswers(await untilClosed(socket), [method, 'GET'])
}

/** Requests an upgrade, and sends bytes of no protocol; resolves with all bytes until the connection closes. */
export async function askToUpgrade(
  { url, credentials, method = 'GET', path, fields = '' }: Omit<AskedTwice, 'next'>,
  protocol: string,
): Promise<Buffer> {
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host, port: Number(port), ...credentials })
  socket.on('error', () => undefined)
  const webSocket = `sec-websocket-version: 13\r\nsec-websocket-key: ${'A'.repeat(22)}==\r\n`
  const lines = fields + (protocol === 'websocket' ? webSocket : '')
  socket.write(
    `${method} ${path} HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: ${protocol}\r\n${lines}\r\n`,
  )
  socket.end(Buffer.from('\x88\x80\x00\x00\x00\x00', 'latin1'))
  return untilClosed(socket)
}

/** A server that has lost a request never answers it. */
const answerMsMax = 60_000

async function untilClosed(socket: ReturnType<typeof connect>): Promise<Buffer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'close', { signal: AbortSignal.timeout(answerMsMax) })
  return Buffer.concat(chunks)
}
