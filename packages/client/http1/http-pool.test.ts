import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as http from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { seededRandom, simulatedClock, systemClock } from '@skerry/base'
import { until } from '@skerry/testing'
import { BadAnswerError } from './answer-head.ts'
import type { HttpAnswer, HttpAsk } from './http-connection.ts'
import { HttpPool, type HttpPoolOptions } from './http-pool.ts'

const get: HttpAsk = { method: 'GET', path: '/', headers: { host: 'a' }, isBounded: true }

/** Starts a server that sends what the test tells it; `onRequest` gets each connection. */
async function scripted(onRequest: (socket: Socket, text: string, count: number) => void) {
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    let text = ''
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      if (!text.includes('\r\n\r\n')) return
      const whole = text
      text = ''
      onRequest(socket, whole, connections)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this type.
  const { port } = server.address() as AddressInfo
  return {
    port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

function poolOf(port: number, limits: Partial<HttpPoolOptions> = {}): HttpPool {
  return new HttpPool({
    async open() {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return socket
    },
    socketsMax: 10,
    idleSocketsMax: 10,
    idleSocketMs: 60_000,
    answerMs: 60_000,
    late: () => new Error('late'),
    clock: systemClock,
    ...limits,
  })
}

const patience = () => AbortSignal.timeout(20_000)

async function textOf({ body }: HttpAnswer): Promise<string> {
  return (body instanceof Uint8Array ? Buffer.from(body) : await buffer(body)).toString('latin1')
}

const length = (text: string): string => `content-length: ${text.length}\r\n\r\n${text}`

const answers: readonly [name: string, method: string, text: string][] = [
  ['a length', 'GET', `HTTP/1.1 200 OK\r\ncontent-type: a/b\r\n${length('some text')}`],
  ['no bytes', 'GET', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
  [
    'pieces',
    'GET',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0A\r\n0123456789\r\n0\r\n\r\n',
  ],
  [
    'pieces and trailers',
    'GET',
    'HTTP/1.1 200 OK\r\nTrailer: x\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nx: 1\r\ny:\r\n\r\n',
  ],
  ['the end', 'GET', 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nuntil the end'],
  ['the end, of HTTP/1.0', 'GET', 'HTTP/1.0 200 OK\r\nx: y\r\n\r\nold'],
  [
    'a body after HEAD that does not count',
    'HEAD',
    'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n',
  ],
  ['204', 'GET', 'HTTP/1.1 204 No Content\r\nx: y\r\n\r\n'],
  ['304 with a length', 'GET', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n'],
  [
    'answers before it',
    'GET',
    `HTTP/1.1 103 Early\r\nlink: a\r\n\r\nHTTP/1.1 404 \r\n${length('no')}`,
  ],
  [
    'headers twice, blanks and bytes above ASCII',
    'GET',
    `HTTP/1.1 200\r\nSet-Cookie: a\r\nset-cookie:\t b \r\nx: \xe4\xff\r\nconstructor: c\r\n${length('é')}`,
  ],
]

for (const [name, method, text] of answers) {
  test(`an answer with ${name} is read as Node's client reads it, however it is cut`, async (context) => {
    const random = seededRandom(text.length)
    const signal = patience()
    let cuts: number[] = []
    await using server = await scripted((socket) => {
      const bytes = Buffer.from(text, 'latin1')
      let from = 0
      socket.setNoDelay(true)
      const send = (): void => {
        const to = cuts.shift() ?? bytes.length
        const part = bytes.subarray(from, to)
        from = to
        socket.write(part, () => {
          if (from < bytes.length) setImmediate(send)
          else if (name.startsWith('the end')) socket.end()
        })
      }
      send()
    })
    const expected = await askNode(server.port, method)
    for (let round = 0; round < 30; round += 1) {
      const count = round === 0 ? text.length : 1 + Math.floor(random.next() * 6)
      cuts =
        round === 0
          ? Array.from({ length: text.length }, (_, index) => index + 1)
          : Array.from({ length: count }, () => Math.ceil(random.next() * text.length)).toSorted(
              (one, other) => one - other,
            )
      context.diagnostic(`cuts ${cuts.join(' ')}`)
      using pool = poolOf(server.port)
      const answer = await pool.ask({ ...get, method }, signal)
      const found = {
        status: answer.status,
        headers: { ...answer.headers },
        text: await textOf(answer),
      }
      assert.deepEqual(found, expected)
    }
  })
}

function askNode(port: number, method: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: '127.0.0.1', method, agent: false }, (answer) => {
      const headers: Record<string, string | string[]> = {}
      for (const [name, values = []] of Object.entries(answer.headersDistinct)) {
        headers[name] = values.length === 1 ? String(values[0]) : values
      }
      buffer(answer).then(
        (bytes) => resolve({ status: answer.statusCode, headers, text: bytes.toString('latin1') }),
        reject,
      )
    })
    request.on('error', reject)
    request.end()
  })
}

const hostile: readonly [name: string, text: string][] = [
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na'],
  [
    'a length beside pieces',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['an invalid length', 'HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\na'],
  ['a length in hexadecimal', 'HTTP/1.1 200 OK\r\ncontent-length: 0x1\r\n\r\na'],
  ['another coding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  ['pieces in HTTP/1.0', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a negative size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\na\r\n'],
  [
    'a size with an extension',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;a\r\na\r\n0\r\n\r\n',
  ],
  [
    'a size that overflows',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff1\r\na',
  ],
  [
    'a piece that is longer than it says',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n',
  ],
  ['a folded header', 'HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n'],
  ['a space before the colon', 'HTTP/1.1 200 OK\r\nx : a\r\ncontent-length: 0\r\n\r\n'],
  ['a line feed alone', 'HTTP/1.1 200 OK\r\nx: a\ny: b\r\ncontent-length: 0\r\n\r\n'],
  ['a carriage return alone', 'HTTP/1.1 200 OK\r\nx: a\ry: b\r\ncontent-length: 0\r\n\r\n'],
  ['a NUL', 'HTTP/1.1 200 OK\r\nx: a\0\r\ncontent-length: 0\r\n\r\n'],
  ['no header name', 'HTTP/1.1 200 OK\r\n: a\r\ncontent-length: 0\r\n\r\n'],
  ['another protocol', 'HTTP/2 200 OK\r\n\r\n'],
  ['an invalid status', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a protocol that nobody asked for', 'HTTP/1.1 101 Switching\r\nupgrade: a\r\n\r\n'],
  ['ever more answers before it', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(20)],
  ['a head without an end', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}`],
  ['a bad trailer', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nbad\r\n\r\n'],
]

for (const [name, text] of hostile) {
  test(`an answer with ${name} is refused`, async () => {
    await using server = await scripted((socket) => socket.write(text, 'latin1'))
    using pool = poolOf(server.port)
    await assert.rejects(
      pool.ask(get, patience()).then(async (answer) => textOf(answer)),
      BadAnswerError,
    )
  })
}

test('bytes after an answer are not an answer to the next request', async () => {
  await using server = await scripted((socket, _text, count) => {
    const injected = count === 1 ? `HTTP/1.1 200 OK\r\n${length('injected')}` : ''
    socket.write(`HTTP/1.1 200 OK\r\n${length(`own ${count}`)}${injected}`)
  })
  using pool = poolOf(server.port)
  const first = await pool.ask(get, patience()).then(textOf, () => 'refused')
  assert.notEqual(first, 'injected')
  assert.equal(await textOf(await pool.ask(get, patience())), 'own 2')
})

test('half an answer does not look whole', async () => {
  await using server = await scripted((socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
  )
  using pool = poolOf(server.port)
  await assert.rejects(pool.ask(get, patience()).then(textOf), /closed/)
})

test('requests follow each other on one connection, and a closed one is replaced', async () => {
  await using server = await scripted((socket, text, count) => {
    if (text.includes('/end')) return void socket.destroy()
    socket.write(`HTTP/1.1 200 OK\r\n${length(String(count))}`)
  })
  using pool = poolOf(server.port)
  const ask = async (path: string, method = 'GET') =>
    textOf(await pool.ask({ ...get, method, path }, patience()))
  assert.equal(await ask('/a'), '1')
  assert.equal(await ask('/b'), '1')
  // The request is repeated once on a new connection, and no more.
  await assert.rejects(ask('/end'), /closed/)
  assert.equal(server.connections(), 2)
  assert.equal(await ask('/c'), '3')
  await assert.rejects(ask('/end', 'POST'), /closed/)
  assert.equal(server.connections(), 3)
})

test('a server that says how long it keeps connections is not asked on one that it is about to close', async () => {
  await using server = await scripted((socket, _text, count) =>
    socket.write(`HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\n${length(String(count))}`),
  )
  using pool = poolOf(server.port)
  await textOf(await pool.ask(get, patience()))
  assert.equal(await textOf(await pool.ask(get, patience())), '2')
})

test('a request waits while all connections are in use', async () => {
  const held: Socket[] = []
  await using server = await scripted((socket) => void held.push(socket))
  using pool = poolOf(server.port, { socketsMax: 1 })
  const asked = [pool.ask(get, patience()), pool.ask(get, patience())]
  const gone = new AbortController()
  const third = pool.ask(get, gone.signal)
  gone.abort(new Error('gone'))
  await assert.rejects(third, /gone/)
  for (const [index, one] of asked.entries()) {
    const socket = await until(() => held[index])
    socket.write(`HTTP/1.1 200 OK\r\n${length(String(index))}`)
    assert.equal(await textOf(await one), String(index))
  }
  assert.equal(server.connections(), 1)
})

test('bodies are framed as their headers say, and one that contradicts them ends its connection', async () => {
  let seen = ''
  await using server = await scripted((socket, text) => {
    seen += text
    if (text.includes('last')) socket.write(`HTTP/1.1 200 OK\r\n${length('')}`)
  })
  using pool = poolOf(server.port)
  const post = { ...get, method: 'POST' }
  const pieces = () => Readable.from([Buffer.from('first'), Buffer.from('\r\n\r\nlast')])
  await pool.ask({ ...post, body: pieces() }, patience())
  assert.match(
    seen,
    /transfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n8\r\n\r\n\r\nlast\r\n0\r\n\r\n$/,
  )
  const named = (bytes: number) => ({ ...post.headers, 'content-length': String(bytes) })
  for (const bytes of [5, 50]) {
    const asked = pool.ask({ ...post, headers: named(bytes), body: pieces() }, patience())
    await assert.rejects(asked, /the request has (more|fewer)/)
  }
  await assert.rejects(pool.ask({ ...get, headers: named(5) }, patience()), RangeError)
  await assert.rejects(pool.ask({ ...get, headers: { x: 'a\r\nb: c' } }, patience()), RangeError)
  await assert.rejects(pool.ask({ ...get, path: '/a b' }, patience()), RangeError)
})

test('a server waits for its reader, and learns when nobody reads', async () => {
  const piece = Buffer.alloc(65_536)
  const ended = Promise.withResolvers<void>()
  let isFull = false
  await using server = await scripted((socket) => {
    socket.once('close', () => ended.resolve())
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n')
    const send = (): void => {
      while (socket.write(piece)) continue
      isFull = true
    }
    socket.on('drain', send)
    send()
  })
  using pool = poolOf(server.port)
  const { body } = await pool.ask(get, patience())
  assert.ok(body instanceof Readable)
  await until(() => body.readableLength > 0 && isFull)
  assert.ok(body.readableLength <= 1_048_576, `${body.readableLength} bytes are held`)
  body.destroy()
  await ended.promise
})

test('a request has its whole time to be answered, however long its connection was used before', async () => {
  const clock = simulatedClock()
  const held = Promise.withResolvers<void>()
  let asked = 0
  await using server = await scripted((socket) => {
    asked += 1
    if (asked === 1) socket.write(`HTTP/1.1 200 OK\r\n${length('one')}`)
    else held.resolve()
  })
  using pool = poolOf(server.port, { clock, answerMs: 60_000, idleSocketMs: 600_000 })
  assert.equal(await textOf(await pool.ask(get, patience())), 'one')
  await clock.advance(40_000)
  let isOver = false
  const second = pool.ask(get, patience()).finally(() => (isOver = true))
  const late = assert.rejects(second, { message: 'late' })
  await held.promise
  await clock.advance(59_000)
  assert.deepEqual([isOver, server.connections()], [false, 1])
  await clock.advance(1_000)
  await late
})

test('a connection that nobody uses any more is closed', async () => {
  const clock = simulatedClock()
  const closed = Promise.withResolvers<void>()
  await using server = await scripted((socket) => {
    socket.once('close', () => closed.resolve())
    socket.write(`HTTP/1.1 200 OK\r\n${length('one')}`)
  })
  using pool = poolOf(server.port, { clock, idleSocketMs: 55_000 })
  await textOf(await pool.ask(get, patience()))
  await clock.advance(50_000)
  await textOf(await pool.ask(get, patience()))
  assert.equal(server.connections(), 1)
  await clock.advance(55_000)
  await closed.promise
  await textOf(await pool.ask(get, patience()))
  assert.equal(server.connections(), 2)
})
