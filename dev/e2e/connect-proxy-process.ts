/**
 * An HTTP proxy in a separate process: `PROXY_LOGIN=<username>:<password> node
 * dev/e2e/connect-proxy-process.ts <address> [inspect]`. It prints its port, then a line for each request that it passes on: CONNECT or GET, and the host. Without the login it
 * passes nothing on. With the second word it opens the TLS that passes, with certificates of its own.
 */
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { createServer, request as send, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { createAuthority } from '@skerry/pki'
import { systemClock } from '@skerry/base'
import { openInspectedWay } from '@skerry/testing'

const [address = '', mode = ''] = process.argv.slice(2)
const day = 24 * 3_600_000
const authority =
  mode === 'inspect'
    ? await createAuthority({
        subject: { commonName: 'Box of a test' },
        notBeforeMs: systemClock.now() - day,
        notAfterMs: systemClock.now() + day,
      })
    : undefined
const login = process.env['PROXY_LOGIN'] ?? ''
const expected = `Basic ${Buffer.from(login).toString('base64')}`
const isKnown = ({ headers }: IncomingMessage): boolean =>
  headers['proxy-authorization'] === expected

const server = createServer((incoming, answer) => {
  if (!isKnown(incoming)) {
    answer.writeHead(407, { 'Proxy-Authenticate': 'Basic realm="proxy"' })
    return answer.end()
  }
  const url = new URL(incoming.url ?? '')
  console.log(`${incoming.method} ${url.host}`)
  const { 'proxy-authorization': _, ...headers } = incoming.headers
  const outgoing = send(url, { method: incoming.method, headers }, (back) => {
    answer.writeHead(back.statusCode ?? 502, back.headers)
    back.pipe(answer)
  })
  outgoing.on('error', () => answer.destroy())
  incoming.pipe(outgoing)
})

server.on('connect', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
  // A client that goes away ends its own connection only.
  client.on('error', () => client.destroy())
  if (!isKnown(incoming)) {
    return client.end(
      'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 0\r\n\r\n',
    )
  }
  const [host = '', port = ''] = (incoming.url ?? '').split(':')
  console.log(`CONNECT ${host}:${port}`)
  const target = connect(Number(port), host, () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (authority !== undefined) {
      const keep = (socket: Duplex): void => void socket.on('error', () => socket.destroy())
      client.unshift(head)
      void openInspectedWay({ near: client, far: target, host, keep }, { authority, read: [] })
      return
    }
    target.write(head)
    target.pipe(client)
    client.pipe(target)
  })
  target.on('error', () => client.destroy())
  client.on('close', () => target.destroy())
})

server.listen(0, address)
await once(server, 'listening')
const listening = server.address()
if (listening === null || typeof listening === 'string') throw new Error('Cannot listen: no port')
console.log(listening.port)
