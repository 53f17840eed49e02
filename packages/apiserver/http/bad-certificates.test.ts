import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import { after, before, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { generateKeyPair, signCertificate } from '@skerry/pki'
import { startTestApiServer, type TestApiServer } from '@skerry/testing'

const hourMs = 3_600_000

let server: TestApiServer
let early: { ca: string; cert: string; key: string }

before(async () => {
  server = await startTestApiServer()
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  // Stands for the certificate of a client whose server's clock is behind.
  const cert = await signCertificate(server.authority, {
    subject: { commonName: 'early' },
    publicKeyPem,
    notBeforeMs: Date.now() + hourMs,
    notAfterMs: Date.now() + 2 * hourMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  early = { ca: server.credentials.ca, cert, key: privateKeyPem }
})
after(() => server[Symbol.asyncDispose]())

/**
 * Uses the agent's connections. Returns whether it was a new one, and whether TLS resumed another's
 * session.
 */
async function ask(
  agent: https.Agent,
): Promise<{ status: number; isNew: boolean; isResumed: boolean }> {
  const request = https.get(new URL('/version', server.url), { agent })
  const [response] = await once(request, 'response')
  // A request of node:https has a TLS socket.
  const socket = request.socket as TLSSocket
  const seen = { isNew: !request.reusedSocket, isResumed: socket.isSessionReused() }
  response.resume()
  await once(response, 'end')
  return { status: response.statusCode, ...seen }
}

test('HTTP/1.1: a client that is refused for its certificate is judged again with each request', async () => {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ...early })
  for (let turn = 0; turn < 3; turn += 1) {
    assert.deepEqual(await ask(agent), { status: 401, isNew: true, isResumed: false })
  }
  agent.destroy()
})

test('HTTP/1.1: other clients keep their connection', async () => {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ...server.credentials })
  const isNew: boolean[] = []
  for (let turn = 0; turn < 3; turn += 1) isNew.push((await ask(agent)).isNew)
  assert.deepEqual(isNew, [true, false, false])
  agent.destroy()
})

test('HTTP/2: a client that is refused for its certificate is asked to open another connection', async () => {
  const session = http2.connect(server.url, early)
  const away = once(session, 'goaway')
  const stream = session.request({ ':path': '/version' })
  const [head] = await once(stream, 'response')
  assert.equal(head[':status'], 401)
  stream.resume()
  await away
  session.destroy()
})
