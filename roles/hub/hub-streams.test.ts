import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect as connectTcp, type AddressInfo } from 'node:net'
import { Readable, type Duplex } from 'node:stream'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { resources } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import type { TunnelHeaders } from '@skerry/tunnel'
import { until } from '@skerry/testing'
import { startTestAgent, startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'

/** Stands in for an API server with unusual answers: it sends the requested bytes. */
async function startEcho() {
  const seen: IncomingMessage['headers'][] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/up') seen.push(request.headers)
    if (request.url === '/bytes') return void response.end(everyByte)
    if (request.url === '/nothing') return void response.writeHead(204).end()
    if (request.url === '/same') return void response.writeHead(304, { etag: '"a"' }).end()
    if (request.url?.startsWith('/down')) {
      const bytes = Number(new URL(request.url, 'http://echo').searchParams.get('bytes'))
      return void Readable.from(pattern(bytes)).pipe(response)
    }
    const hash = createHash('sha256')
    request.on('data', (chunk: Buffer) => hash.update(chunk))
    request.on('end', () => response.end(hash.digest('hex')))
  })
  // Half-close must pass: the far end answers after it has read the end.
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const protocol = request.headers.upgrade ?? ''
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`,
    )
    const chunks = [head]
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', () => socket.end(`${Buffer.concat(chunks).toString()} yourself`))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))

function* pattern(bytes: number): Generator<Buffer> {
  const piece = Buffer.alloc(65_536, 'skerry ')
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, left)
}

function hashOf(chunks: Iterable<Buffer>): string {
  const hash = createHash('sha256')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const echo = stack.use(await startEcho())
  const fleet = stack.use(await startTestHub())
  await fleet.admin.resource(clusterResource).create(
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'echo' },
      spec: { syncMode: 'Pull' },
    },
    AbortSignal.timeout(10_000),
  )
  const agent = stack.use(await startTestAgent(fleet, { name: 'echo', api: { server: echo.url } }))
  await agent.connected()
  const owned = stack.move()
  return { fleet, echo, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const operator = { commonName: 'olga', organizations: ['system:masters'] }

async function optionsFor(fleet: TestHub, path: string) {
  const { certificate: cert, key } = await fleet.credentialsOf(operator)
  const { port } = new URL(fleet.url)
  return {
    host: '127.0.0.1',
    port: Number(port),
    path: `/clusters/echo${path}`,
    ca: fleet.caPem,
    cert,
    key,
  }
}

test('large bodies pass both ways, whole and in order', async () => {
  await using all = await startFleet()
  const bytes = 20 * 1024 * 1024
  const options = await optionsFor(all.fleet, '/up')
  const answer = await new Promise<string>((resolve, reject) => {
    const headers = { 'transfer-encoding': 'chunked' }
    const request = httpsRequest({ ...options, method: 'POST', headers }, (response) => {
      response.setEncoding('utf8')
      let text = ''
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(text))
    })
    request.on('error', reject)
    Readable.from(pattern(bytes)).pipe(request)
  })
  assert.equal(answer, hashOf(pattern(bytes)))
  const down = await new Promise<string>((resolve, reject) => {
    const target = { ...options, path: `/clusters/echo/down?bytes=${bytes}` }
    httpsRequest(target, (response) => {
      const hash = createHash('sha256')
      response.on('data', (chunk: Buffer) => hash.update(chunk))
      response.on('end', () => resolve(hash.digest('hex')))
    })
      .on('error', reject)
      .end()
  })
  assert.equal(down, hashOf(pattern(bytes)))
})

test('a short answer passes byte for byte, with a length where one may be and no other', async () => {
  await using all = await startFleet()
  const asked = [
    { path: '/bytes', status: 200, length: '256', body: everyByte },
    { path: '/nothing', status: 204, length: undefined, body: Buffer.alloc(0) },
    { path: '/same', status: 304, length: undefined, body: Buffer.alloc(0) },
  ]
  for (const { path, ...wanted } of asked) {
    const options = await optionsFor(all.fleet, path)
    const answer = await new Promise<typeof wanted>((resolve, reject) => {
      httpsRequest(options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response
          resolve({ status, length: headers['content-length'], body: Buffer.concat(chunks) })
        })
      })
        .on('error', reject)
        .end()
    })
    assert.deepEqual(answer, wanted, path)
  }
})

test('an upgrade passes as bytes, and one end may close its half first', async () => {
  await using all = await startFleet()
  const { port, ca, cert, key } = await optionsFor(all.fleet, '')
  for (const protocol of ['SPDY/3.1', 'websocket']) {
    const tcp = connectTcp({ host: '127.0.0.1', port, allowHalfOpen: true })
    const socket = connectTls({ socket: tcp, host: '127.0.0.1', ca, cert, key })
    socket.write(
      `POST /clusters/echo/api/v1/namespaces/a/pods/b/exec HTTP/1.1\r\nhost: hub\r\nconnection: Upgrade\r\nupgrade: ${protocol}\r\n\r\n`,
    )
    // These bytes come with the head or right after it, and both must arrive.
    socket.end('mind')
    let text = ''
    for await (const chunk of socket) text += Buffer.from(chunk).toString()
    assert.match(text, /^HTTP\/1\.1 101 Switching Protocols\r\n/)
    assert.match(text, new RegExp(`upgrade: ${protocol}\r\n`))
    assert.ok(text.endsWith('\r\n\r\nmind yourself'), text)
  }
})

test('a user who may only look at a cluster opens no session there, whatever the edge calls it', async () => {
  await using all = await startFleet()
  const { fleet } = all
  const verbs = ['get', 'list', 'watch']
  const apiGroup = 'rbac.authorization.k8s.io'
  const metadata = { name: 'lookers' }
  const rules = [{ apiGroups: ['cluster.karmada.io'], resources: ['clusters/proxy'], verbs }]
  const roleRef = { apiGroup, kind: 'ClusterRole', name: 'lookers' }
  const subjects = [{ apiGroup, kind: 'User', name: 'lea' }]
  const apiVersion = `${apiGroup}/v1`
  await fleet.admin
    .resource(resources.clusterRoles)
    .create({ apiVersion, kind: 'ClusterRole', metadata, rules }, AbortSignal.timeout(10_000))
  await fleet.admin
    .resource(resources.clusterRoleBindings)
    .create(
      { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
      AbortSignal.timeout(10_000),
    )
  const { certificate: cert, key } = await fleet.credentialsOf({ commonName: 'lea' })
  const session = '/apis/subresources.example.com/v1/namespaces/a/machines/b/console'
  const log = '/api/v1/namespaces/a/pods/b/log?follow=true'
  for (const [path, status] of [
    [session, 403],
    [log, 101],
  ] as const) {
    const options = { ...(await optionsFor(fleet, path)), cert, key, agent: false }
    const headers = { connection: 'Upgrade', upgrade: 'tcp' }
    const asked = httpsRequest({ ...options, headers }).end()
    const answered = await new Promise<number>((resolve, reject) => {
      asked.on('error', reject)
      asked.on('response', (answer) => resolve(answer.resume().statusCode ?? 0))
      asked.on('upgrade', (answer, socket) => {
        socket.on('close', () => resolve(answer.statusCode ?? 0))
        socket.resume().end()
      })
    })
    assert.equal(answered, status, path)
  }
})

/** Returns the seconds of silence after which the hub's kernel probes its client at this port. */
async function silenceOf(hubPort: number, clientPort: number): Promise<number | undefined> {
  const ends = [hubPort, clientPort].map(
    (each) => `:${each.toString(16).toUpperCase().padStart(4, '0')}`,
  )
  const rows = (await readFile('/proc/net/tcp', 'utf8'))
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  const [own = '', peer = ''] = ends
  const row = rows.find(([, local, remote]) => local?.endsWith(own) && remote?.endsWith(peer))
  const [timer, hundredths = ''] = row?.[5]?.split(':') ?? []
  return timer === '02' ? Number.parseInt(hundredths, 16) / 100 : undefined
}

test('a client that vanishes from its session is noticed: the hub probes it when nothing is sent', async () => {
  await using all = await startFleet()
  const { port, ca, cert, key } = await optionsFor(all.fleet, '')
  const tcp = connectTcp({ host: '127.0.0.1', port })
  const socket = connectTls({ socket: tcp, host: '127.0.0.1', ca, cert, key })
  const lines = ['host: hub', 'connection: Upgrade', 'upgrade: websocket']
  socket.write(`POST /clusters/echo/api/v1/exec HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  const limit = AbortSignal.timeout(20_000)
  // While bytes are in flight, the kernel waits for those.
  await until(async () => {
    const seconds = await silenceOf(port, tcp.localPort ?? 0)
    return seconds !== undefined && seconds <= 15
  }, limit)
  const closed = once(socket, 'close')
  socket.resume().end()
  await closed
})

test('headers that a client sets about itself stay on the hub', async () => {
  await using all = await startFleet()
  const options = await optionsFor(all.fleet, '/up')
  const headers = {
    'Impersonate-User': 'karl',
    'Impersonate-Uid': '7',
    'Impersonate-Group': 'system:masters',
    'X-Remote-User': 'root',
    x_remote_user: 'root',
    'x-forwarded-for': '10.0.0.1',
    'x-forwarded-client-cert': 'By=me',
    cookie: 'theme=dark',
    te: 'trailers',
    connection: 'close, x-secret',
    'x-secret': 'hop',
    'x-kept': 'yes',
    'sec-websocket-protocol': 'v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0',
  }
  await new Promise((resolve, reject) => {
    httpsRequest({ ...options, headers }, (response) => response.resume().on('end', resolve))
      .on('error', reject)
      .end()
  })
  const seen = all.echo.seen.at(-1) ?? {}
  const { host, 'audit-id': auditId, ...rest } = seen
  assert.equal(`http://${host}`, all.echo.url)
  assert.ok(auditId)
  assert.deepEqual(rest, {
    'impersonate-user': 'karl',
    'impersonate-uid': '7',
    'impersonate-group': 'system:masters',
    'x-kept': 'yes',
    'sec-websocket-protocol': 'v4.channel.k8s.io',
    'x-forwarded-for': '127.0.0.1',
    connection: 'keep-alive',
  })
})

test('the agent refuses requests that impersonate nobody', async () => {
  await using all = await startFleet()
  const { own: tunnels } = all.fleet.hub.connections
  const asked = all.echo.seen.length
  const anonymous: TunnelHeaders[] = [
    {},
    { 'impersonate-user': '' },
    { 'impersonate-user': ['a', 'b'] },
    { 'impersonate-group': 'system:masters' },
  ]
  for (const headers of anonymous) {
    const request = { method: 'GET', path: '/up', headers }
    const answer = await tunnels.send('echo', request, AbortSignal.timeout(10_000))
    assert.equal(answer.status, 403)
    const upgrade = {
      ...request,
      headers: { ...headers, connection: 'Upgrade', upgrade: 'websocket' },
    }
    assert.equal((await tunnels.upgrade('echo', upgrade, AbortSignal.timeout(10_000))).status, 403)
  }
  assert.equal(all.echo.seen.length, asked)
})
