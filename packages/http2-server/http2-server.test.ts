import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { until } from '@skerry/testing'
import type { OnStream } from './connection/http2-connection.ts'
import type { Http2Stream } from './connection/http2-stream.ts'
import { frameTypes } from './frames/frame-types.ts'
import { headerBlock } from './hpack/header-block.ts'
import { Http2Server } from './http2-server.ts'
import { openEchoServer, type EchoServer } from './testing/echo-server.ts'
import { emptySettings, frame, preface, RawPeer, requestFrame } from './testing/raw-peer.ts'

interface Answer {
  readonly status: number | undefined
  readonly body: string
  readonly trailer: string | undefined
}

const head = headerBlock({ ':status': 200 })
const acknowledged = frame(frameTypes.settings, 1, 0)

function clientOf(server: EchoServer, settings = {}): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${server.port}`, { settings })
  return session.on('error', () => {})
}

async function answerTo(stream: ClientHttp2Stream): Promise<Answer> {
  let status: number | undefined
  let trailer: string | undefined
  stream.on('response', (fields) => (status = fields[':status']))
  stream.on('trailers', (fields) => (trailer = String(fields['path'])))
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return { status, trailer, body: Buffer.concat(chunks).toString() }
}

function ask(session: ClientHttp2Session, path: string, body = ''): Promise<Answer> {
  const stream = session.request({ ':method': 'POST', ':path': path })
  stream.end(body)
  return answerTo(stream)
}

test('a request is answered with its content and trailers', async () => {
  await using server = await openEchoServer()
  const session = clientOf(server)
  assert.deepEqual(await ask(session, '/a', 'hello'), { status: 200, body: 'hello', trailer: '/a' })
  assert.deepEqual(await ask(session, '/b'), { status: 200, body: '', trailer: '/b' })
  session.destroy()
})

test('many requests of a connection are answered at once, each with its own', async () => {
  await using server = await openEchoServer()
  const session = clientOf(server)
  const numbers = Array.from({ length: 500 }, (_, number) => number)
  const answers = await Promise.all(
    numbers.map((number) => ask(session, `/${number}`, `n${number}`)),
  )
  assert.deepEqual(
    answers.map(({ body, trailer }) => `${body} ${trailer}`),
    numbers.map((number) => `n${number} /${number}`),
  )
  session.destroy()
})

test('an acknowledgement goes in one piece with the answer that is committed next', async () => {
  await using server = await openEchoServer()
  using peer = new RawPeer(server.port)
  peer.greet()
  await peer.until(({ type, flags }) => type === frameTypes.settings && flags === 1)
  const path = Buffer.from('/commit')
  const block = Buffer.concat([Buffer.from([0x83, 0x86, 0x04, path.length]), path])
  const ping = frame(frameTypes.ping, 0, 0, Buffer.alloc(8, 'p'))
  peer.socket.write(Buffer.concat([ping, requestFrame(1, true, block)]))
  const [piece]: Buffer[] = await once(peer.socket, 'data')
  assert.equal(piece?.[3], frameTypes.ping)
  assert.equal(piece[17 + 3], frameTypes.headers)
})

test('an event and the answer that follows by a promise leave in one piece', async () => {
  const open: Http2Stream[] = []
  const onStream: OnStream = (stream) => {
    open.push(stream)
    return { onData() {}, onEnd() {}, onTaken() {}, onClose() {} }
  }
  const server = new Http2Server({}, { clock: systemClock, onStream })
  const [near, far] = duplexPair()
  // The server uses what a socket has of a duplex; this one keeps the pieces apart.
  server.take(near as Socket)
  const pieces: Buffer[] = []
  far.on('data', (piece: Buffer) => pieces.push(piece))
  far.write(Buffer.concat([preface, emptySettings, requestFrame(1, true), requestFrame(3, true)]))
  await until(() => pieces.some((piece) => piece.includes(acknowledged)))
  const before = pieces.length
  setImmediate(() => {
    const [watch, write] = open
    watch?.respond(head)
    void Promise.resolve()
      .then(() => {})
      .then(() => {
        write?.respond(head)
        write?.end()
      })
  })
  await until(() => Buffer.concat(pieces.slice(before)).length === 2 * (9 + head.length))
  assert.equal(pieces.length, before + 1)
  near.destroy()
})

const settings = [
  {},
  { initialWindowSize: 1 },
  { initialWindowSize: 1_000_000 },
  { headerTableSize: 0 },
]
for (const each of settings) {
  test(`contents larger than every window pass, with settings ${JSON.stringify(each)}`, async () => {
    await using server = await openEchoServer()
    const session = clientOf(server, each)
    const body = 'abcdefghij'.repeat(each.initialWindowSize === 1 ? 30 : 300_000)
    const [first, second] = await Promise.all([
      ask(session, '/first', body),
      ask(session, '/second', body),
    ])
    assert.equal(first.body, body)
    assert.equal(second.body, body)
    assert.equal((await ask(session, '/third', 'x')).body, 'x')
    session.destroy()
  })
}

test('a stream that the server does not read holds up no other', async () => {
  await using server = await openEchoServer()
  const session = clientOf(server)
  const held = session.request({ ':method': 'POST', ':path': '/hold' })
  held.on('error', () => {})
  held.write('x')
  await until(() => server.open.size === 1)
  const [stream] = server.open
  stream?.pause()
  held.write(Buffer.alloc(200_000))
  assert.equal((await ask(session, '/a', 'y'.repeat(500_000))).body.length, 500_000)
  assert.ok(held.writableLength > 0)
  stream?.resume()
  await until(() => held.writableLength === 0)
  session.destroy()
})

test('a client that resets a stream ends it on the server', async () => {
  await using server = await openEchoServer()
  const session = clientOf(server)
  const held = session.request({ ':method': 'POST', ':path': '/hold' })
  held.on('error', () => {})
  held.write('x')
  await until(() => server.open.size === 1)
  held.close(8)
  await until(() => server.open.size === 0)
  assert.equal((await ask(session, '/a', 'x')).body, 'x')
  session.destroy()
})

test('an answer that comes before its request ends is read to its end', async () => {
  await using server = await openEchoServer()
  const session = clientOf(server)
  const stream = session.request({ ':method': 'POST', ':path': '/a' })
  stream.write('x')
  await until(() => server.open.size === 1)
  for (const each of server.open) each.end()
  assert.equal((await answerTo(stream)).body, 'x')
  assert.equal(stream.rstCode, 0)
  session.destroy()
})

test('a server that closes lets calls end, and refuses new ones', async () => {
  await using server = await openEchoServer()
  const session = clientOf(server)
  const held = session.request({ ':method': 'POST', ':path': '/a' })
  const answer = answerTo(held)
  held.write('x')
  await until(() => server.open.size === 1)
  const closed = server.server.close(10_000)
  await once(session, 'goaway')
  held.end('y')
  assert.deepEqual(await answer, { status: 200, body: 'xy', trailer: '/a' })
  await closed
})

test('a client of a stream more than is allowed hears that it was refused', async () => {
  await using server = await openEchoServer({ streamsMax: 2 })
  const session = clientOf(server)
  await once(session, 'remoteSettings')
  assert.equal(session.remoteSettings.maxConcurrentStreams, 2)
  session.destroy()
})
