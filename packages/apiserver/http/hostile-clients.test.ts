import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { after, before, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { startTestApiServer, type TestApiServer } from '@skerry/testing'

let server: TestApiServer

before(async () => {
  const limits = {
    headerReadMs: 200,
    requestReadMs: 400,
    requestTimeoutMs: 300,
    idleConnectionMs: 400,
    watcherBytesMax: 1024 * 1024,
  }
  server = await startTestApiServer({ limits })
})
after(async () => {
  await server[Symbol.asyncDispose]()
})

async function dial(protocol?: string): Promise<TLSSocket> {
  const { hostname: host, port } = new URL(server.url)
  const alpn = protocol === undefined ? {} : { ALPNProtocols: [protocol] }
  const socket = connect({ host, port: Number(port), ...server.credentials, ...alpn })
  // These tests wait for the disconnection.
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

/** Returns everything received until the server closed the connection. */
async function untilClosed(socket: TLSSocket): Promise<string> {
  let text = ''
  socket.on('data', (part: Buffer) => (text += part.toString('latin1')))
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return text
}

async function isResponsive(): Promise<boolean> {
  const answer = await server.transport.send(
    { method: 'GET', path: '/api/v1/namespaces/default', headers: {} },
    AbortSignal.timeout(5_000),
  )
  for await (const _ of answer.body) continue
  return answer.status === 200
}

const slow = {
  'says nothing': '',
  'sends its headers a byte at a time': 'GET /version HTTP/1.1\r\nHost: a\r\nX',
  'never ends its body':
    'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"a":',
}

for (const [name, sent] of Object.entries(slow)) {
  test(`a client that ${name} is cut off`, async () => {
    const socket = await dial()
    socket.write(sent)
    const said = await untilClosed(socket)
    assert.ok(said === '' || /^HTTP\/1\.1 (408|504) /.test(said), said.slice(0, 200))
    assert.ok(await isResponsive())
  })
}

test('an HTTP/2 session without a request is closed, one with a watch is not', async () => {
  const path = '/api/v1/namespaces/default/configmaps?watch=1'
  const idle = http2.connect(server.url, server.credentials)
  const used = http2.connect(server.url, server.credentials)
  const watch = used.request({ ':path': path })
  watch.on('error', () => undefined)
  await once(watch, 'response')
  await once(idle, 'close')
  assert.ok(!used.closed && !watch.closed)
  used.destroy()
})

test('a flood of settings and pings costs its sender the connection, or nothing', async () => {
  const socket = await dial('h2')
  socket.resume()
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
  const ping = Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
  const flood = Buffer.concat(Array.from({ length: 2_000 }, () => Buffer.concat([settings, ping])))
  for (let sent = 0; sent < 20 && !socket.destroyed; sent += 1) socket.write(flood)
  assert.ok(await isResponsive())
  socket.destroy()
})

test('hundreds of idle connections do not keep others from being served', async () => {
  const sockets: TLSSocket[] = []
  for (let count = 0; count < 300; count += 20) {
    sockets.push(...(await Promise.all(Array.from({ length: 20 }, () => dial()))))
  }
  assert.ok(await isResponsive())
  await Promise.all(sockets.map(untilClosed))
})
