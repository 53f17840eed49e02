import assert from 'node:assert/strict'
import http2 from 'node:http2'
import https from 'node:https'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'
import { startTestApiServer, type TestApiServer, type TestCredentials } from '@skerry/testing'

let server: TestApiServer

before(async () => {
  server = await startTestApiServer({ limits: { bodyBytesMax: 100_000, gzipBytesMin: 1_000 } })
})
after(async () => {
  await server[Symbol.asyncDispose]()
})

interface Reply {
  status: number
  headers: Record<string, unknown>
  bytes: Buffer
}

interface Ask {
  method?: string
  path: string
  body?: string
  headers?: Record<string, string>
  credentials?: Pick<TestCredentials, 'cert' | 'key'> | undefined
}

function overHttp1({ method = 'GET', path, body, headers, credentials }: Ask): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = https.request(
      new URL(path, server.url),
      {
        method,
        ca: server.credentials.ca,
        agent: false,
        ...credentials,
        ...(headers ? { headers } : {}),
      },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: Buffer.concat(parts),
          }),
        )
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

function overHttp2({ method = 'GET', path, body, headers, credentials }: Ask): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const session = http2.connect(server.url, { ca: server.credentials.ca, ...credentials })
    session.on('error', reject)
    const stream = session.request({ ':method': method, ':path': path, ...headers })
    const parts: Buffer[] = []
    let head: http2.IncomingHttpHeaders & { ':status'?: number } = {}
    stream.on('response', (answer) => (head = answer))
    stream.on('data', (part: Buffer) => parts.push(part))
    stream.on('error', reject)
    stream.on('end', () => {
      session.close()
      resolve({ status: head[':status'] ?? 0, headers: head, bytes: Buffer.concat(parts) })
    })
    stream.end(body)
  })
}

const lastHour = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 }

const protocols = [
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
] as const

for (const [name, ask] of protocols) {
  test(`${name}: a client certificate names the user, and nobody else may do anything`, async () => {
    const { credentials } = server
    const path = '/api/v1/namespaces'
    assert.equal((await ask({ path, credentials })).status, 200)
    const stranger = await ask({ path })
    assert.equal(stranger.status, 403)
    const { message } = JSON.parse(stranger.bytes.toString())
    assert.equal(
      message,
      'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group "" at the cluster scope',
    )
  })

  test(`${name}: a certificate out of its dates or of another authority is nobody, not anonymous`, async () => {
    const path = '/version'
    assert.equal((await ask({ path })).status, 403, 'without one they are anonymous')
    const { authority } = server
    const stranger = await createAuthority({ subject: { commonName: 'test-ca' }, ...lastHour })
    const issued: readonly [typeof authority, number, number][] = [
      [authority, Date.now() - 3_600_000, Date.now() - 60_000],
      [authority, Date.now() + 3_600_000, Date.now() + 7_200_000],
      [stranger, Date.now() - 60_000, Date.now() + 60_000],
    ]
    for (const [by, notBeforeMs, notAfterMs] of issued) {
      const pair = await generateKeyPair()
      const cert = await signCertificate(by, {
        subject: { commonName: 'late', organizations: ['system:masters'] },
        publicKeyPem: pair.publicKeyPem,
        notBeforeMs,
        notAfterMs,
        keyUsages: ['digitalSignature'],
        extendedUsages: ['clientAuth'],
      })
      const refused = await ask({ path, credentials: { cert, key: pair.privateKeyPem } })
      assert.equal(refused.status, 401)
      assert.equal(JSON.parse(refused.bytes.toString()).reason, 'Unauthorized')
    }
  })

  test(`${name}: a body above the bound is refused`, async () => {
    const { credentials } = server
    const body = JSON.stringify({ metadata: { name: 'large' }, data: { a: 'x'.repeat(200_000) } })
    const reply = await ask({
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      body,
      headers: { 'content-type': 'application/json' },
      credentials,
    })
    assert.equal(reply.status, 413)
  })

  test(`${name}: a large answer is compressed for clients that accept it`, async () => {
    const { credentials } = server
    const path = '/api/v1'
    const plain = await ask({ path, credentials })
    const packed = await ask({ path, credentials, headers: { 'accept-encoding': 'gzip' } })
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.deepEqual(gunzipSync(packed.bytes), plain.bytes)
  })

  test(`${name}: every answer can be found in the audit log and is not to be cached`, async () => {
    const reply = await ask({ path: '/version', credentials: server.credentials })
    assert.match(String(reply.headers['audit-id']), /^[0-9a-f-]{36}$/)
    assert.equal(reply.headers['cache-control'], 'no-cache, private')
    assert.equal(JSON.parse(reply.bytes.toString()).minor, '36')
  })

  test(`${name}: HEAD answers without a body`, async () => {
    const reply = await ask({ method: 'HEAD', path: '/version', credentials: server.credentials })
    assert.deepEqual([reply.status, reply.bytes.length], [200, 0])
  })
}

test('health checks answer one by one and together', async () => {
  const { credentials } = server
  const verbose = await overHttp1({ path: '/readyz?verbose', credentials })
  assert.match(verbose.bytes.toString(), /^\[\+\]ping ok\n.*readyz check passed\n$/s)
  assert.equal((await overHttp1({ path: '/livez/store', credentials })).bytes.toString(), 'ok')
  assert.equal((await overHttp1({ path: '/livez/nonsense', credentials })).status, 404)
})

test('an upgrade that nothing serves is refused with an HTTP answer', async () => {
  const { credentials } = server
  const reply = await overHttp1({
    path: '/api/v1/namespaces/default/pods/x/exec',
    headers: { connection: 'Upgrade', upgrade: 'websocket' },
    credentials,
  })
  assert.equal(reply.status, 404)
})

test('over HTTP/1.1 a watch is answered at once, before its first event', async () => {
  const { ca, cert, key } = server.credentials
  const path = '/api/v1/namespaces/nobody/configmaps?watch=1'
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const options = { ca, cert, key, agent: false }
    const request = https.get(new URL(path, server.url), options, (response) => {
      resolve(response.statusCode)
      response.destroy()
    })
    request.on('error', reject)
  })
  assert.equal(status, 200)
})

test('a client that opens and resets streams without end loses its connection; others are served', async () => {
  const session = http2.connect(server.url, { ...server.credentials })
  const closed = new Promise<void>((resolve) => session.once('close', () => resolve()))
  // This test waits for the disconnection.
  session.on('error', () => undefined)
  for (let opened = 0; opened < 20_000 && !session.destroyed; opened += 1) {
    const stream = session.request({ ':path': '/version' })
    stream.on('error', () => undefined)
    stream.close(http2.constants.NGHTTP2_CANCEL)
    if (opened % 500 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await closed
  const reply = await overHttp1({ path: '/version', credentials: server.credentials })
  assert.equal(reply.status, 200)
})

test("long addresses and headers are read up to upstream's bound", async () => {
  const { credentials } = server
  const path = `/version?x=${'y'.repeat(20_000)}`
  const headers = { 'x-long': 'z'.repeat(200_000) }
  assert.equal((await overHttp1({ path, headers, credentials })).status, 200)
  const bomb = { 'x-long': 'z'.repeat(2 * 1024 * 1024) }
  const refused = await overHttp1({ path: '/version', headers: bomb, credentials }).then(
    ({ status }) => status,
    () => 'cut off',
  )
  assert.ok(refused === 431 || refused === 'cut off', String(refused))
})

test('renewed certificates are shown to new connections', async () => {
  const dates = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 }
  const authority = await createAuthority({ subject: { commonName: 'next-ca' }, ...dates })
  const keys = await generateKeyPair()
  const cert = await signCertificate(authority, {
    subject: { commonName: 'kube-apiserver' },
    publicKeyPem: keys.publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth'],
    ipAddresses: ['127.0.0.1'],
  })
  const { ca: clientCa, cert: clientCert, key: clientKey } = server.credentials
  server.server.setTls({ cert, key: keys.privateKeyPem, clientCa })
  await assert.rejects(overHttp1({ path: '/version' }))
  const credentials = { cert: clientCert, key: clientKey, ca: authority.certificatePem }
  assert.equal((await overHttp1({ path: '/version', credentials })).status, 200)
})
