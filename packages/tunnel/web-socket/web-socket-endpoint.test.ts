import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { until } from '@skerry/testing'
import { WebSocket, WebSocketServer } from 'ws'
import { answerUpgrade, asksForWebSocket } from './answer-upgrade.ts'
import { openWebSocket } from './open-web-socket.ts'
import { behindHead, WebSocketEndpoint, type Masks } from './web-socket-endpoint.ts'

const protocol = 'test.v1.skerry'
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const messageBytesMax = 1_000_000

/** Joins messages, and sends each back. */
function echo(socket: Duplex, masks: Masks, clock = simulatedClock()) {
  const ended = Promise.withResolvers<{ code: number; reason: string; fault?: Error | undefined }>()
  const heard: string[] = []
  let parts: Buffer[] = []
  const endpoint = new WebSocketEndpoint(
    socket,
    { masks, messageBytesMax, clock },
    {
      onPiece(piece, isLast) {
        parts.push(Buffer.from(piece))
        if (!isLast) return
        endpoint.send(behindHead(Buffer.concat(parts)), () => undefined)
        parts = []
      },
      onPing: (payload) => heard.push(`ping ${payload.toString()}`),
      onPong: (payload) => heard.push(`pong ${payload.toString()}`),
      onClosed: (code, reason, fault) => ended.resolve({ code, reason, fault }),
    },
  )
  endpoint.start()
  return { endpoint, heard, ended: ended.promise }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening', { signal: soon() })
  // It listens on an address, not on a path.
  return (server.address() as AddressInfo).port
}

async function startEcho() {
  const ends: ReturnType<typeof echo>[] = []
  const server = createServer()
  server.on('upgrade', (request, socket, head) => {
    assert.ok(asksForWebSocket(request))
    answerUpgrade(request, { socket, head }, { 'Sec-WebSocket-Protocol': protocol })
    ends.push(echo(socket, 'none'))
  })
  const port = await listen(server)
  return {
    url: `ws://127.0.0.1:${port}/`,
    port,
    ends,
    async [Symbol.asyncDispose]() {
      for (const { endpoint } of ends) endpoint.terminate()
      server.close()
      await once(server, 'close', { signal: soon() })
    },
  }
}

const sizes = [0, 1, 125, 126, 65_535, 65_536, 300_000]

test('another implementation as the client: messages of all sizes, parts, pings, and a close', async () => {
  await using server = await startEcho()
  const client = new WebSocket(server.url, protocol, { perMessageDeflate: true })
  await once(client, 'open', { signal: soon() })
  assert.deepEqual([client.protocol, client.extensions], [protocol, ''])
  for (const size of sizes) {
    const message = Buffer.alloc(size, 'some words')
    const answer = once(client, 'message', { signal: soon() })
    client.send(message)
    assert.deepEqual((await answer)[0], message)
  }
  const answer = once(client, 'message', { signal: soon() })
  const pong = once(client, 'pong', { signal: soon() })
  client.send(Buffer.from('one '), { fin: false })
  client.ping('between')
  client.send(Buffer.from('two'), { fin: true })
  assert.equal(String((await pong)[0]), 'between')
  assert.equal(String((await answer)[0]), 'one two')
  const closed = once(client, 'close', { signal: soon() })
  client.close(4_321, 'that is all')
  assert.equal((await closed)[0], 4_321)
  const [end] = server.ends
  assert.deepEqual(await end?.ended, { code: 4_321, reason: 'that is all', fault: undefined })
  assert.deepEqual(end?.heard, ['ping between'])
})

test('another implementation as the server: messages of all sizes, a ping, and a close of ours', async () => {
  const http = createServer()
  const port = await listen(http)
  const server = new WebSocketServer({ server: http, handleProtocols: () => protocol })
  const received: Buffer[] = []
  server.on('connection', (webSocket) => {
    webSocket.on('message', (data) => {
      assert.ok(Buffer.isBuffer(data))
      received.push(data)
      webSocket.send(data)
    })
  })
  const socket = connect(port, '127.0.0.1')
  const url = `ws://127.0.0.1:${port}/`
  const { masks } = await openWebSocket(socket, { url, protocol, what: 'test' }, soon())
  assert.equal(masks, 'random')
  const answers: Buffer[] = []
  const pongs: string[] = []
  const ended = Promise.withResolvers<string>()
  const options = { masks, messageBytesMax, clock: simulatedClock() }
  const endpoint = new WebSocketEndpoint(socket, options, {
    onPiece: (piece) => answers.push(Buffer.from(piece)),
    onPing: () => undefined,
    onPong: (payload) => pongs.push(String(payload)),
    onClosed: (code, reason) => ended.resolve(`${code} ${reason}`),
  })
  endpoint.start()
  const messages = sizes.map((size) => Buffer.alloc(size, 'other words'))
  for (const message of messages) endpoint.send(behindHead(message), () => undefined)
  endpoint.ping(Buffer.from('there?'))
  const all = Buffer.concat(messages)
  await until(() => pongs.length > 0 && Buffer.concat(answers).length === all.length)
  assert.deepEqual(received, messages)
  assert.deepEqual(Buffer.concat(answers), all)
  assert.deepEqual(pongs, ['there?'])
  endpoint.close(1_001, 'ü'.repeat(100))
  assert.equal(await ended.promise, `1001 ${'ü'.repeat(61)}`)
  server.close()
  http.close()
  await once(http, 'close', { signal: soon() })
})

async function openRaw(port: number): Promise<Socket> {
  const raw = connect(port, '127.0.0.1')
  const lines = [
    'GET / HTTP/1.1',
    'Host: hub',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==',
  ]
  raw.write(`${lines.join('\r\n')}\r\n\r\n`)
  await once(raw, 'data', { signal: soon() })
  return raw
}

test('a peer that breaks the protocol reads why, and is cut off', async () => {
  await using server = await startEcho()
  const raw = await openRaw(server.port)
  const heard: Buffer[] = []
  raw.on('data', (chunk: Buffer) => heard.push(chunk))
  raw.write(Buffer.from([0x82, 0x01, 0x61]))
  await once(raw, 'end', { signal: soon() })
  const answer = Buffer.concat(heard)
  assert.equal(answer[0], 0x88)
  assert.equal(answer.readUInt16BE(2), 1_002)
  raw.end()
  assert.match(String((await server.ends[0]?.ended)?.fault), /has no mask/)
})

test('a peer that ends without a close is gone', async () => {
  await using server = await startEcho()
  const raw = await openRaw(server.port)
  raw.end()
  assert.equal((await server.ends[0]?.ended)?.code, 1_006)
  raw.destroy()
})

test('an unanswered close ends the connection all the same', async () => {
  const clock = simulatedClock()
  const [near, far] = duplexPair()
  const { endpoint, ended } = echo(near, 'none', clock)
  far.resume()
  endpoint.close(1_001, 'going')
  assert.equal(endpoint.isOpen, false)
  await clock.advance(5_000)
  assert.equal((await ended).code, 1_006)
})

test('a flood of pings from an end that reads nothing is not answered one by one', async () => {
  const [near, far] = duplexPair()
  const { endpoint } = echo(near, 'none')
  const ping = (number: number): Buffer => {
    const text = String(number).padStart(4, '0')
    return Buffer.concat([Buffer.from([0x89, 0x84, 0, 0, 0, 0]), Buffer.from(text)])
  }
  // Fills what lies between them, so that no answer is taken.
  const bulk = Buffer.alloc(200_000)
  endpoint.send(behindHead(bulk), () => undefined)
  await new Promise((resolve) =>
    far.write(Buffer.concat(Array.from({ length: 5_000 }, (_, n) => ping(n))), resolve),
  )
  const chunks: Buffer[] = []
  far.on('data', (chunk: Buffer) => chunks.push(chunk))
  await until(() => Buffer.concat(chunks).toString('latin1').endsWith('4999'))
  const pongs = Buffer.concat(chunks).subarray(10 + bulk.length)
  assert.ok(pongs.length <= 20 * 6, `${pongs.length} bytes of answers`)
  endpoint.terminate()
})
