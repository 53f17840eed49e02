import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:https'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { patientProtocol } from '@skerry/base'
import { startTestApiServer, until, type TestApiServer } from '@skerry/testing'
import { helloOf } from '../testing/client-hello.ts'

async function isResponsive(server: TestApiServer): Promise<boolean> {
  const answer = await server.transport.send(
    { method: 'GET', path: '/api/v1/namespaces/default', headers: {} },
    AbortSignal.timeout(30_000),
  )
  for await (const _ of answer.body) continue
  return answer.status === 200
}

/**
 * The first bytes of a TLS handshake (RFC 8446, section 5.1): a record of 512 bytes whose rest
 * never comes.
 */
const begun = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])

test('hundreds of handshakes that never end keep nobody out, and are dropped', async () => {
  await using server = await startTestApiServer({
    limits: { handshakeMs: 2_000, handshakeWaitMs: 2_000 },
  })
  const { hostname: host, port } = new URL(server.url)
  const closings: Promise<unknown>[] = []
  const sockets: Socket[] = []
  for (let number = 0; number < 300; number += 1) {
    const socket = connect({ host, port: Number(port) })
    // This test waits for the disconnection.
    socket.on('error', () => undefined)
    closings.push(new Promise<void>((resolve) => socket.once('close', () => resolve())))
    await once(socket, 'connect')
    if (number % 2 === 0) socket.write(begun)
    socket.resume()
    sockets.push(socket)
  }
  assert.ok(await isResponsive(server))
  await Promise.all(closings)
  assert.ok(await isResponsive(server))
})

interface SilentClients extends Disposable {
  /** The number of clients that the server has answered with its hello. */
  greeted(): number
}

/** Opens connections from one address that send a hello and nothing more. They close on disposal. */
async function silentAfterHello(
  server: TestApiServer,
  protocols: string[],
): Promise<SilentClients> {
  const { hostname: host, port } = new URL(server.url)
  const hello = await helloOf({ ALPNProtocols: protocols })
  const sockets: Socket[] = []
  let greeted = 0
  for (let number = 0; number < 100; number += 1) {
    const socket = connect({ host, port: Number(port), localAddress: '127.0.0.3' })
    socket.on('error', () => undefined)
    socket.once('data', () => (greeted += 1))
    await once(socket, 'connect')
    socket.write(hello)
    sockets.push(socket)
  }
  return {
    greeted: () => greeted,
    [Symbol.dispose]: () => sockets.forEach((socket) => socket.destroy()),
  }
}

function statusFor(server: TestApiServer, localAddress: string): Promise<number | undefined> {
  const { ca, cert, key } = server.credentials
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(50_000)
    const options = { ca, cert, key, agent: false, localAddress, signal }
    const request = get(new URL('/version', server.url), options, (response) => {
      resolve(response.statusCode)
      response.destroy()
    })
    request.on('error', reject)
  })
}

// None of their handshakes ends, and none of their places becomes free.
const minutesMs = 300_000
const floodLimits = {
  handshakesMax: 8,
  handshakeMs: minutesMs,
  quickHandshakeMs: minutesMs,
  handshakeWaitMs: minutesMs,
}

test('a flood of handshakes from one address takes half of the places, and no more', async () => {
  await using server = await startTestApiServer({ limits: floodLimits })
  using flood = await silentAfterHello(server, ['http/1.1'])
  await until(() => flood.greeted() >= floodLimits.handshakesMax / 2)
  assert.equal(await statusFor(server, '127.0.0.2'), 200)
  assert.equal(flood.greeted(), floodLimits.handshakesMax / 2)
})

test('agents that announce patience leave places to a user, even at their own address', async () => {
  await using server = await startTestApiServer({ limits: floodLimits })
  using _agents = await silentAfterHello(server, [patientProtocol, 'http/1.1'])
  assert.equal(await statusFor(server, '127.0.0.3'), 200)
})

test('a flood of headers ends its own connection', async () => {
  await using server = await startTestApiServer()
  const { hostname: host, port } = new URL(server.url)
  const socket = connectTls({ host, port: Number(port), ...server.credentials })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  let said = ''
  socket.on('data', (part: Buffer) => (said += part.toString('latin1')))
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write('GET /version HTTP/1.1\r\nHost: a\r\n')
  const line = `X-Flood: ${'x'.repeat(8_000)}\r\n`
  for (let number = 0; number < 200; number += 1) socket.write(line)
  await closed
  assert.ok(said === '' || said.startsWith('HTTP/1.1 431 '), said.slice(0, 200))
  assert.ok(await isResponsive(server))
})
