/** Sessions (exec, attach, port-forward) with a cluster in push mode that is behind an HTTP proxy. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import { connect as connectTcp, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { resources } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'
import { startTestProxy } from '@skerry/testing'
import { startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'
import { clusterOf, secretOf, space } from '../../testing/scenes/test-push.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const operator = { commonName: 'olga', organizations: ['system:masters'] }
const execPath = '/api/v1/namespaces/a/pods/b/exec?command=sh'

/** Stands in for an API server: reports the input of a session when that has ended, and the user. */
async function startSessions() {
  const dates = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 }
  const authority = await createAuthority({ subject: { commonName: 'shop-ca' }, ...dates })
  const keys = await generateKeyPair()
  const cert = await signCertificate(authority, {
    subject: { commonName: 'shop' },
    publicKeyPem: keys.publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth'],
    dnsNames: [],
    ipAddresses: ['127.0.0.1'],
  })
  const asked: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
  const sessions = new Set<Duplex>()
  const server = createServer({ cert, key: keys.privateKeyPem }, (_, response) =>
    response.end('{}'),
  )
  server.on('upgrade', ({ url, headers }, socket: Duplex, head: Buffer) => {
    sessions.add(socket)
    socket.on('error', () => socket.destroy())
    asked.push({ url, headers })
    const lines = ['HTTP/1.1 101 Switching Protocols', 'connection: upgrade']
    // The server's first bytes come with the head.
    socket.write(`${[...lines, `upgrade: ${headers.upgrade}`].join('\r\n')}\r\n\r\nhello `)
    const chunks = [head]
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', () => socket.end(Buffer.concat(chunks)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    ca: authority.certificatePem,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sessions) socket.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function startScene() {
  await using stack = new AsyncDisposableStack()
  const member = stack.use(await startSessions())
  const proxy = stack.use(await startTestProxy({ login: 'keeper:pass' }))
  const fleet = stack.use(await startTestHub({ push: true }))
  const secrets = fleet.admin.resource(resources.secrets)
  await secrets.create(secretOf('shop', { token: 'own', caBundle: member.ca }), soon())
  await secrets.create(secretOf('shop-impersonator', { token: 'for-users' }), soon())
  const spec = {
    apiEndpoint: member.url,
    impersonatorSecretRef: { ...space, name: 'shop-impersonator' },
    proxyURL: proxy.url.replace('://', '://keeper:pass@'),
  }
  await fleet.admin.resource(clusterResource).create(clusterOf('shop', spec), soon())
  const owned = stack.move()
  return { member, proxy, fleet, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function openSession(fleet: TestHub, protocol: string, allowHalfOpen = false) {
  const { certificate: cert, key } = await fleet.credentialsOf(operator)
  const port = Number(new URL(fleet.url).port)
  const socket = connectTls({
    socket: connectTcp({ host: '127.0.0.1', port, allowHalfOpen }),
    host: '127.0.0.1',
    ca: fleet.caPem,
    cert,
    key,
  })
  const lines = [
    `POST /clusters/shop${execPath} HTTP/1.1`,
    'host: hub',
    'connection: Upgrade',
    `upgrade: ${protocol}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return socket
}

test('a session passes the proxy of a cluster in push mode as bytes, as the user who asks', async () => {
  await using scene = await startScene()
  const { fleet, member, proxy } = scene
  const typed = 'x'.repeat(1_000_000)
  for (const protocol of ['SPDY/3.1', 'websocket']) {
    const socket = await openSession(fleet, protocol, true)
    // One end closes its half first, and is answered after that.
    socket.end(typed)
    const [head = '', ...rest] = (await readAll(socket)).split('\r\n\r\n')
    assert.match(head, /^HTTP\/1\.1 101 Switching Protocols\r\n/)
    assert.ok(head.includes(`upgrade: ${protocol}`), head)
    assert.equal(rest.join(), `hello ${typed}`)
    const { url, headers } = member.asked.at(-1) ?? {}
    assert.equal(url, execPath)
    assert.equal(headers?.authorization, 'Bearer for-users')
    assert.equal(headers['impersonate-user'], operator.commonName)
  }
  assert.deepEqual([...new Set(proxy.asked)], [new URL(member.url).host])
})

test('a session ends when the proxy cuts it, and the next one passes', async () => {
  await using scene = await startScene()
  const { fleet, proxy } = scene
  const socket = await openSession(fleet, 'websocket')
  socket.on('error', () => undefined)
  await once(socket, 'data')
  const closed = once(socket, 'close')
  proxy.cut()
  await closed
  const next = await openSession(fleet, 'websocket', true)
  next.end('again')
  assert.match(await readAll(next), /hello again$/)
})

async function readAll(socket: Duplex): Promise<string> {
  const chunks = await Array.fromAsync<Buffer>(socket)
  return Buffer.concat(chunks).toString()
}
