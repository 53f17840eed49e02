import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { createSecureServer, createServer as createHttp2Server } from 'node:http2'
import type { IncomingHttpHeaders as Http2Headers, ServerHttp2Stream } from 'node:http2'
import { createServer as createTlsServer, request as httpsRequest } from 'node:https'
import { Readable, type Duplex } from 'node:stream'
import { after, before, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { resources } from '@skerry/client'
import { untilAudited, type AuditedLine } from '../../testing/scenes/audited-lines.ts'
import { startServiceScene, type ServiceScene } from '../../testing/scenes/service-scene.ts'

let scene: ServiceScene

before(async () => {
  scene = await startServiceScene(['shop/*:*'], {
    clusterDomain: 'clusters.test',
    accessCheckMs: 50,
  })
  await scene.allow('sven', ['*'])
})

after(() => scene[Symbol.asyncDispose]())

test('a service of the edge is used through the hub, with its cookies, redirects and trailers', async () => {
  const seen: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push({
        url: request.url,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      })
      response.setHeader('set-cookie', [
        'cart=7; Path=/; HttpOnly',
        'lang=de; Domain=hub.test; path=/a',
        'known=1; Path=/clusters/edge/services/shop/web:80/b',
        'skerry-session=stolen; Path=/',
        '__Host-skerry-session=stolen; Path=/; Secure',
      ])
      response.setHeader('strict-transport-security', 'max-age=1')
      if (request.url === '/old') response.setHeader('location', '/new?x=1')
      if (request.url === '/home') response.setHeader('location', 'http://web.shop.svc:80/home/')
      if (request.url === '/away') response.setHeader('location', 'https://elsewhere.test/')
      response.writeHead(request.url === '/' ? 200 : 302, { trailer: 'x-checksum' })
      response.write('ahoy')
      response.addTrailers({ 'x-checksum': 'abc' })
      response.end()
    })
  })
  await scene.serve('web', server, { portName: 'http' })
  const root = '/clusters/edge/services/shop/web:80'
  const { status, text, headers, trailers } = await scene.call(`${root}/`, {
    method: 'POST',
    headers: {
      cookie: 'theme=dark; skerry-session=secret; __Host-skerry-session=secret',
      'x-remote-user': 'root',
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-host': 'bank.test',
      'x-kept': 'yes',
      te: 'trailers',
      host: 'localhost:7443',
    },
    body: 'two fish',
  })
  assert.deepEqual([status, text, trailers['x-checksum']], [200, 'ahoy', 'abc'])
  assert.equal(headers['strict-transport-security'], undefined)
  assert.match(String(headers['content-security-policy']), /^sandbox (?!.*allow-same-origin)/)
  assert.deepEqual(headers['set-cookie'], [
    `cart=7; HttpOnly; Path=${root}/`,
    `lang=de; Path=${root}/a`,
    `known=1; Path=${root}/b`,
  ])
  const [told] = seen
  assert.equal(told?.body, 'two fish')
  const { connection, 'content-length': _, ...rest } = told?.headers ?? {}
  assert.match(connection ?? '', /close, TE/)
  assert.deepEqual(rest, {
    host: 'web.shop.svc:80',
    cookie: 'theme=dark',
    'x-kept': 'yes',
    te: 'trailers',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'localhost:7443',
    'x-forwarded-proto': 'https',
    'x-forwarded-prefix': root,
  })
  const locations: [path: string, location: string][] = [
    ['/old', `${root}/new?x=1`],
    ['/home', `${root}/home/`],
    ['/away', 'https://elsewhere.test/'],
  ]
  for (const [path, location] of locations) {
    assert.equal((await scene.call(`${root}${path}`)).headers.location, location)
  }
  const bare = await scene.call(`${root}?q=a%2Fb`)
  assert.deepEqual([bare.status, bare.headers.location], [301, `${root}/?q=a%2Fb`])
  const lines = await scene.audited(`${root}/`, 4)
  const posted = lines.find(({ method, status: code }) => method === 'POST' && code === 200)
  assert.equal(posted?.user, 'sven')
  assert.equal(posted.cluster, 'edge')
  assert.deepEqual([posted.bytesIn, posted.bytesOut], [8, 4])
})

test("a service is named by its port or the port's name, escaped or not, and asked as the client asked", async () => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.end()
  })
  await scene.serve('names', server, { portName: 'http' })
  const paths = [
    '/shop/names:80/a%2Fb//c%20d/?x=%2e%2e/..&y',
    '/shop/names:http/',
    '/shop/names%3A80/',
    '/sh%6fp/n%61mes:80/',
    '/shop/http:names:80/%E4',
  ]
  for (const path of paths) {
    const { status, text } = await scene.call(`/clusters/edge/services${path}`)
    assert.equal(status, 200, `${path} ${text}`)
  }
  assert.equal(
    (await scene.call('/clusters/edge/services/shop/names:80/', { method: 'HEAD' })).status,
    200,
  )
  assert.deepEqual(seen, [
    'GET /a%2Fb//c%20d/?x=%2e%2e/..&y',
    'GET /',
    'GET /',
    'GET /',
    'GET /%E4',
    'HEAD /',
  ])
})

test('a cluster has its services below its own host name, too', async () => {
  const told: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    told.push(request.headers)
    const cookies = ['cart=7; Path=/', '__Host-skerry-session=stolen; Path=/; Secure']
    response.writeHead(302, { location: '/in', 'set-cookie': cookies }).end()
  })
  await scene.serve('hosted', server)
  const options = await scene.options('/services/shop/hosted:80/')
  const [response] = await once(
    httpsRequest({
      ...options,
      agent: false,
      servername: 'edge.clusters.test',
      headers: {
        host: 'edge.clusters.test',
        cookie: '__Host-skerry-session=secret; theme=dark',
      },
      checkServerIdentity: () => undefined,
    }).end(),
    'response',
  )
  response.resume()
  assert.equal(response.headers.location, '/services/shop/hosted:80/in')
  assert.deepEqual(response.headers['set-cookie'], ['cart=7; Path=/services/shop/hosted:80/'])
  assert.match(String(response.headers['content-security-policy']), /^sandbox /)
  assert.equal(told[0]?.['x-forwarded-prefix'], '/services/shop/hosted:80')
  assert.equal(told[0]?.cookie, 'theme=dark')
})

test('a WebSocket passes, with its subprotocol, and is recorded with its bytes', async () => {
  const server = createServer()
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'chat' })
  sockets.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => socket.send(`${data.toString()} yourself`))
  })
  await scene.serve('chat', server)
  const path = '/clusters/edge/services/shop/chat:80/room?id=1'
  const { ca, cert, key } = await scene.options(path)
  const url = `${scene.fleet.url.replace('https', 'wss')}${path}`
  const socket = new WebSocket(url, ['chat'], { ca, cert, key })
  await once(socket, 'open')
  assert.equal(socket.protocol, 'chat')
  for (const text of ['mind', 'x'.repeat(200_000)]) {
    socket.send(text)
    const [answer] = await once(socket, 'message')
    assert.equal(String(answer), `${text} yourself`)
  }
  socket.close(1000)
  await once(socket, 'close')
  const [line] = await scene.audited(path, 1)
  assert.equal(line?.status, 101)
  assert.ok((line.bytesIn ?? 0) > 200_000 && (line.bytesOut ?? 0) > 200_000)
})

/** Answers as gRPC servers do: trailers after the messages, or trailers alone. */
function serveGrpc(stream: ServerHttp2Stream, headers: Http2Headers): void {
  stream.on('error', () => undefined)
  if (headers[':path'] === '/shop.Cart/Refuse') {
    const status = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '5' }
    stream.respond(status, { endStream: true })
    return
  }
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => {
    stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'done', 'x-te': String(headers.te) })
  })
  if (headers[':path'] === '/shop.Cart/Early') {
    // The answer is over before the client has sent everything.
    stream.end('enough')
    return
  }
  stream.on('data', (chunk: Buffer) => stream.write(`echo ${chunk.toString()}`))
  stream.on('end', () => stream.end())
}

const grpcHeaders = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }

test('gRPC passes: messages both ways at once, trailers at the end, and trailers alone', async () => {
  const server = createHttp2Server()
  server.on('stream', serveGrpc)
  await scene.serve('grpc', server)
  const session = await scene.http2()
  const root = '/clusters/edge/services/shop/grpc:80'
  const call = session.request({ ...grpcHeaders, ':path': `${root}/shop.Cart/Watch` })
  const trailers = once(call, 'trailers')
  call.write('one')
  const [head] = await once(call, 'response')
  assert.equal(head[':status'], 200)
  // Each message is answered before the next is sent: nothing waits for the end.
  for (const [next, expected] of [
    ['two', 'one'],
    ['three', 'two'],
    ['', 'three'],
  ]) {
    const [data] = await once(call, 'data')
    assert.equal(String(data), `echo ${expected}`)
    if (next === '') call.end()
    else call.write(next)
  }
  const [{ 'grpc-status': status, 'grpc-message': message, 'x-te': te }] = await trailers
  assert.deepEqual([status, message, te], ['0', 'done', 'trailers'])
  const refused = session.request({ ...grpcHeaders, ':path': `${root}/shop.Cart/Refuse` })
  // The answer begins before the client has sent everything.
  refused.write('ask')
  refused.resume()
  const [answer, flags] = await once(refused, 'response')
  assert.equal(answer['grpc-status'], '5')
  assert.equal(flags & 1, 1, 'the stream ends with its head')
  refused.end()
  const early = session.request({ ...grpcHeaders, ':path': `${root}/shop.Cart/Early` })
  early.on('error', () => undefined)
  early.write('one')
  early.resume()
  const [late] = await once(early, 'trailers')
  assert.equal(late['grpc-status'], '0')
  early.destroy()
  session.close()
  await once(session, 'close')
})

test('a call that its client gives up ends at the service', async () => {
  const server = createHttp2Server()
  const given = Promise.withResolvers<number>()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined)
    stream.respond({ ':status': 200 })
    stream.write('more to come')
    stream.once('close', () => given.resolve(stream.rstCode ?? -1))
  })
  await scene.serve('lasting', server)
  const session = await scene.http2()
  const path = '/clusters/edge/services/shop/lasting:80/x'
  const call = session.request({ ...grpcHeaders, ':path': path })
  call.on('error', () => undefined)
  await once(call, 'data')
  call.close(8)
  await given.promise
  const [line] = await scene.audited(path, 1)
  assert.equal(line?.bytesOut, 12)
  session.close()
})

test('a service speaks TLS, or HTTP/2 because its Service says so', async () => {
  const { certificate: cert, key } = await scene.fleet.credentialsOf({ commonName: 'shop' })
  const answer = (version: string) => `HTTP/${version}`
  const secure = createSecureServer({ cert, key }, (request, response) => {
    response.end(answer(request.httpVersion))
  })
  await scene.serve('secure', secure)
  const old = createTlsServer({ cert, key }, (request, response) => {
    response.end(answer(request.httpVersion))
  })
  await scene.serve('old', old)
  const clear = createHttp2Server((request, response) => response.end(answer(request.httpVersion)))
  await scene.serve('clear', clear, { appProtocol: 'kubernetes.io/h2c' })
  const table: [service: string, text: string][] = [
    ['https:secure:80', 'HTTP/2.0'],
    ['https:old:80', 'HTTP/1.1'],
    ['clear:80', 'HTTP/2.0'],
  ]
  for (const [service, text] of table) {
    const reply = await scene.call(`/clusters/edge/services/shop/${service}/`)
    assert.deepEqual([reply.status, reply.text], [200, text], service)
  }
})

test('a WebSocket passes over TLS to a service that prefers HTTP/2', async () => {
  const { certificate: cert, key } = await scene.fleet.credentialsOf({ commonName: 'shop' })
  const server = createSecureServer({ cert, key, allowHTTP1: true })
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.handleUpgrade(request, socket, head, (each) => each.send('ahoy'))
  })
  await scene.serve('modern', server)
  const path = '/clusters/edge/services/shop/https:modern:80/room'
  const { ca, cert: own, key: ownKey } = await scene.options(path)
  const url = `${scene.fleet.url.replace('https', 'wss')}${path}`
  const socket = new WebSocket(url, { ca, cert: own, key: ownKey })
  const [said] = await once(socket, 'message')
  assert.equal(String(said), 'ahoy')
  socket.close(1000)
  await once(socket, 'close')
})

const bulkBytes = 20 * 1024 * 1024

function* pattern(): Generator<Buffer> {
  const piece = Buffer.alloc(65_536, 'skerry ')
  for (let left = bulkBytes; left > 0; left -= piece.length) yield piece.subarray(0, left)
}

function hashOf(chunks: Iterable<Buffer>): string {
  const hash = createHash('sha256')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

test('large bodies pass both ways, whole, and wait for slow readers', async () => {
  let sent = 0
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      const body = Readable.from(pattern())
      body.on('data', (chunk: Buffer) => (sent += chunk.length))
      return void body.pipe(response)
    }
    const hash = createHash('sha256')
    request.on('data', (chunk: Buffer) => hash.update(chunk))
    request.on('end', () => response.end(hash.digest('hex')))
  })
  await scene.serve('bulk', server)
  const options = await scene.options('/clusters/edge/services/shop/bulk:80/')
  const up = httpsRequest({ ...options, agent: false, method: 'PUT' })
  Readable.from(pattern()).pipe(up)
  const [stored] = await once(up, 'response')
  assert.equal(await textOf(stored), hashOf(pattern()))
  const [slow] = await once(httpsRequest({ ...options, agent: false }).end(), 'response')
  const reader: AsyncIterator<Buffer> = slow[Symbol.asyncIterator]()
  const first = await reader.next()
  // Another request passes meanwhile, and the service is not drained into memory.
  assert.equal((await scene.call('/clusters/edge/services/shop/names:80/')).status, 200)
  assert.ok(sent < bulkBytes, `${sent} bytes were taken of the service, and none was read`)
  const hash = createHash('sha256').update(first.value ?? '')
  for (let next = await reader.next(); !next.done; next = await reader.next())
    hash.update(next.value)
  assert.equal(hash.digest('hex'), hashOf(pattern()))
})

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('open connections to a service end soon after the right to them is taken away, and the audit line says so', async () => {
  await scene.allow('temp', ['get', 'create'])
  const server = createServer((_request, response) => void response.write('more to come'))
  server.on('upgrade', (_request, socket: Duplex) => {
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
  })
  await scene.serve('endless', server)
  const path = '/clusters/edge/services/shop/endless:80/x'
  const options = { ...(await scene.options(path, { commonName: 'temp' })), agent: false }
  const plain = httpsRequest(options).end()
  const [answer] = (await once(plain, 'response')) as [IncomingMessage]
  answer.on('error', () => undefined).resume()
  const headers = { connection: 'Upgrade', upgrade: 'x' }
  const upgrading = httpsRequest({ ...options, headers }).end()
  const [, socket] = (await once(upgrading, 'upgrade')) as [unknown, Duplex]
  socket.on('error', () => undefined).resume()
  const closed = [answer, socket].map(
    (each) => new Promise((resolve) => each.once('close', resolve)),
  )
  const limit = AbortSignal.timeout(20_000)
  const bindings = scene.fleet.admin.resource(resources.clusterRoleBindings)
  await bindings.delete({ name: 'temp-clusters-services' }, limit)
  await Promise.all(closed)
  const isWanted = ({ uri }: AuditedLine): boolean => uri === path
  const lines = await untilAudited(scene.fleet, { count: 2, isWanted }, limit)
  const why = 'Cannot go on: the right to it has ended'
  assert.deepEqual(
    lines.map(({ cut }) => cut),
    [why, why],
  )
})

test('a service that breaks off does not look whole', async () => {
  const server = createServer((_request, response) => {
    response.write('half')
    setImmediate(() => response.destroy())
  })
  await scene.serve('broken', server)
  await assert.rejects(scene.call('/clusters/edge/services/shop/broken:80/'))
  const silent = createServer((request) => request.socket.destroy())
  await scene.serve('silent', silent)
  const { status, text } = await scene.call('/clusters/edge/services/shop/silent:80/')
  assert.equal(status, 503)
  assert.match(
    text,
    /Cannot reach service shop\/silent:80 of cluster \\"edge\\": it did not answer/,
  )
})
