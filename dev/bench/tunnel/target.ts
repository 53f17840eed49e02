/**
 * The target of the tunnels: an HTTPS server that answers with bytes. Arguments: the directory with its
 * certificate, the port. Prints `ready`. `/small` 199 bytes · `/bulk?bytes=<n>` · `POST /sink` reads all,
 * then answers · `/watch` begins and stays silent; prints `watch ended <milliseconds since the epoch>` · as
 * much of an API server as an agent needs to register it · all else 404.
 */
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'

const small = Buffer.from(`${JSON.stringify({ text: 'a'.repeat(187) })}\n`)
const namespace = Buffer.from(
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'kube-system', uid: 'b9a1c2d3-0000-4000-8000-000000000001' },
  }),
)
const piece = Buffer.alloc(65_536, 'b')

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'https://target')
  if (pathname === '/small' || pathname === '/readyz') return end(response, small)
  if (pathname === '/api/v1/namespaces/kube-system') return end(response, namespace)
  if (pathname === '/bulk') return sendBulk(response, Number(searchParams.get('bytes')))
  if (pathname === '/watch') return holdWatch(response)
  if (pathname === '/sink') {
    request.resume()
    request.once('end', () => end(response, small))
    return
  }
  request.resume()
  response.writeHead(404, { 'content-type': 'application/json', 'content-length': 3 }).end('{}\n')
}

function end(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}

function holdWatch(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000_000 })
  response.write(small)
  response.once('close', () => console.log(`watch ended ${Date.now()}`))
}

function sendBulk(response: ServerResponse, bytes: number): void {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': bytes })
  let left = bytes
  const send = (): void => {
    while (left > 0) {
      const part = left < piece.length ? piece.subarray(0, left) : piece
      left -= part.length
      if (!response.write(part)) return
    }
    response.end()
  }
  response.on('drain', send)
  send()
}

const [directory = '', port = ''] = process.argv.slice(2)
const read = (name: string): Buffer => readFileSync(join(directory, name))
const server = createServer({ cert: read('server.crt'), key: read('server.key') }, answer)
server.keepAliveTimeout = 600_000
server.requestTimeout = 0
server.on('clientError', (_error, socket) => socket.destroy())
server.listen(Number(port), '0.0.0.0', 4_096, () => console.log('ready'))
