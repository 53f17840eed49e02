import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { ConnectError, hostAndPort, silentLogger, simulatedClock, systemClock } from '@skerry/base'
import { createCluster } from './cluster.ts'
import { NotConnectedError, createHttpsTransport } from './https-transport.ts'
import { resources } from './resources-table.ts'
import { readBody } from './response-body.ts'
import { startTestApiServer } from '@skerry/testing'

const signal = new AbortController().signal

async function serve(listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a client certificate, the CA and the path of the base URL are used', async () => {
  await using api = await startTestApiServer()
  const { ca, cert, key } = api.credentials
  using transport = createHttpsTransport(
    {
      server: `${api.url}/`,
      certificateAuthority: ca,
      credentials: () => Promise.resolve({ certificate: cert, key }),
    },
    { clock: systemClock },
  )
  const answer = await transport.send({ method: 'GET', path: '/version', headers: {} }, signal)
  assert.equal(answer.status, 200)
  assert.match((await readBody(answer.body)).toString(), /gitVersion/)
  using stranger = createHttpsTransport({ server: api.url }, { clock: systemClock })
  const refused = stranger.send({ method: 'GET', path: '/version', headers: {} }, signal)
  await assert.rejects(refused, /certificate/)
})

test('a body that never ends is read as it comes, and ends with the signal', async () => {
  await using server = await serve((_, response) => {
    response.write('one\n')
  })
  using transport = createHttpsTransport({ server: server.url }, { clock: systemClock })
  const controller = new AbortController()
  const answer = await transport.send({ method: 'GET', path: '/', headers: {} }, controller.signal)
  const chunks = answer.body[Symbol.asyncIterator]()
  assert.equal(String((await chunks.next()).value), 'one\n')
  const next = chunks.next()
  controller.abort(new Error('enough'))
  await assert.rejects(next, { message: 'enough' })
})

test('a token is asked for each request, and several values of a header are several lines', async () => {
  const seen: (string | string[] | undefined)[] = []
  await using server = await serve((request, response) => {
    seen.push(request.headers.authorization, request.headersDistinct['impersonate-group'])
    response.end('{}')
  })
  const tokens = ['first', 'second']
  using transport = createHttpsTransport(
    {
      server: `${server.url}/clusters/a`,
      credentials: () => Promise.resolve({ bearerToken: tokens.shift() ?? '' }),
      headers: { 'impersonate-group': ['x', 'y'] },
    },
    { clock: systemClock },
  )
  for (const path of ['/one', '/two']) {
    const answer = await transport.send({ method: 'GET', path, headers: {} }, signal)
    await readBody(answer.body)
  }
  assert.deepEqual(seen, ['Bearer first', ['x', 'y'], 'Bearer second', ['x', 'y']])
})

test('an answer that does not come in time is an error that names the request and its server', async () => {
  const clock = simulatedClock()
  const asked = Promise.withResolvers<void>()
  await using server = await serve(() => asked.resolve())
  const config = { server: server.url, answerHeadTimeoutMs: 20_000 }
  using transport = createHttpsTransport(config, { clock })
  const request = { method: 'GET' as const, path: '/api?x=secret', headers: {} }
  const late = assert.rejects(transport.send(request, signal), (error: Error) => {
    assert.match(error.message, /^Cannot GET 127\.0\.0\.1:\d+\/api: no answer in 20000 ms$/)
    return true
  })
  await asked.promise
  await clock.advance(20_000)
  await late
})

test('a kept socket that the server closed meanwhile does not fail a read', async () => {
  let requests = 0
  await using server = await serve((request, response) => {
    requests++
    if (requests === 2) request.socket.destroy()
    else response.end('{}')
  })
  using transport = createHttpsTransport({ server: server.url }, { clock: systemClock })
  const get = async (): Promise<number> => {
    const answer = await transport.send({ method: 'GET', path: '/', headers: {} }, signal)
    await readBody(answer.body)
    return answer.status
  }
  assert.deepEqual([await get(), await get(), requests], [200, 200, 3])
})

test('connections are opened through the given way, and closed with the transport', async () => {
  await using server = await serve((_, response) => response.end('{}'))
  const opened: string[] = []
  const sockets: Socket[] = []
  const { port } = new URL(server.url)
  const transport = createHttpsTransport(
    {
      server: 'http://hub.example:8080',
      async connect(to) {
        opened.push(hostAndPort(to))
        const socket = connect(Number(port), '127.0.0.1')
        sockets.push(socket)
        await once(socket, 'connect')
        return socket
      },
    },
    { clock: systemClock },
  )
  for (const path of ['/one', '/two']) {
    const answer = await transport.send({ method: 'GET', path, headers: {} }, signal)
    await readBody(answer.body)
    assert.equal(answer.status, 200)
  }
  assert.deepEqual(opened, ['hub.example:8080'], 'the second request takes the kept connection')
  const [socket] = sockets
  assert.ok(socket)
  const closed = once(socket, 'close')
  transport[Symbol.dispose]()
  await closed
})

test('a way that leads nowhere fails the request', async () => {
  using transport = createHttpsTransport(
    {
      server: 'https://hub.example',
      connect: async () => Promise.reject(new ConnectError('Cannot pass proxy: it is closed')),
    },
    { clock: systemClock },
  )
  const asking = transport.send({ method: 'GET', path: '/version', headers: {} }, signal)
  await assert.rejects(asking, /Cannot pass proxy: it is closed/)
})

test('a connection that was closed before TLS is distinguished: nothing of the request was sent', async () => {
  for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
    const server = createTcpServer((socket) => {
      // The client's end of TLS comes first, as for a server that is too busy to answer it.
      socket.once('data', () => socket[end]())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    using transport = createHttpsTransport(
      { server: `https://127.0.0.1:${port}` },
      { clock: systemClock },
    )
    const request = { method: 'POST' as const, path: '/', headers: {}, body: Buffer.from('{}') }
    await assert.rejects(transport.send(request, signal), NotConnectedError, end)
    server.close()
    await once(server, 'close')
  }
})

test('a web page in place of an answer is reported as one', async () => {
  await using server = await serve((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<html>Please sign in</html>')
  })
  using transport = createHttpsTransport({ server: server.url }, { clock: systemClock })
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
  const asking = createCluster(transport, deps).resource(resources.namespaces).list({}, signal)
  await assert.rejects(asking, /200 came with text\/html, not with JSON; .*captive portal/)
})
