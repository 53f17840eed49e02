import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Duplex, PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import type { TunnelHandler } from './session/agent-session.ts'
import { createTunnelScene } from './testing/tunnel-scene.ts'
import { BadMessageError } from './frame/tunnel-headers.ts'
import { isSwitched, TunnelBusyError, TunnelClosedError } from './frame/tunnel-message.ts'
import type { TunnelBody, TunnelRequest, TunnelResponse } from './frame/tunnel-message.ts'
import { tunnelLimitDefaults } from './limits-table.ts'

const never = new AbortController().signal
const megabyte = Buffer.alloc(1_000_000, 'tunnel')
const bulkMegabytes = 100

const get = (path: string): TunnelRequest => ({ method: 'GET', path, headers: {} })

function answer(text: string): TunnelResponse {
  return {
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: Readable.from([Buffer.from(text)]),
  }
}

async function* megabytes(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index += 1) yield megabyte
}

async function textOf(body: TunnelBody): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function digestOf(body: TunnelBody): Promise<string> {
  const hash = createHash('sha1')
  for await (const chunk of body) hash.update(chunk)
  return hash.digest('hex')
}

/** A body that came through a tunnel is a stream. */
function bodyOf({ body }: TunnelRequest): TunnelBody {
  return body === undefined || body instanceof Uint8Array ? megabytes(0) : body
}

/** Answers by path; what a test does not need is refused. */
function handlerOf(
  onRequest: TunnelHandler['onRequest'],
  onUpgrade?: TunnelHandler['onUpgrade'],
): TunnelHandler {
  return {
    onRequest,
    onUpgrade: onUpgrade ?? (async () => ({ ...answer('no upgrades here'), status: 400 })),
  }
}

test('a request and its answer pass whole, hop-by-hop headers do not', async () => {
  await using scene = await createTunnelScene()
  let seen: TunnelRequest | undefined
  const { hub } = await scene.connect(
    handlerOf(async (request) => {
      seen = request
      const headers = { 'x-many': ['1', '2, 3'], connection: 'x-private', 'x-private': 'y' }
      return { ...answer('created'), status: 201, headers }
    }),
  )
  const headers = {
    host: 'cluster.example',
    'impersonate-group': ['a', 'b, c'],
    connection: 'keep-alive, x-hop',
    'x-hop': 'gone',
    'proxy-authorization': 'secret',
    te: 'gzip',
  }
  const path = '/api/v1/pods?labelSelector=a%3Db'
  const response = await hub.send({ method: 'POST', path, headers, body: Buffer.from('{}') }, never)
  assert.equal(response.status, 201)
  assert.deepEqual(response.headers['x-many'], ['1', '2, 3'])
  assert.equal(response.headers['x-private'], undefined)
  assert.equal(await textOf(response.body), 'created')
  assert.deepEqual([seen?.method, seen?.path], ['POST', path])
  assert.deepEqual(
    { ...seen?.headers },
    { host: 'cluster.example', 'impersonate-group': ['a', 'b, c'] },
  )
})

test(`${bulkMegabytes} MB pass both ways unchanged`, async () => {
  await using scene = await createTunnelScene()
  const { hub } = await scene.connect(
    handlerOf(async (request) => {
      if (request.method === 'GET')
        return { status: 200, headers: {}, body: megabytes(bulkMegabytes) }
      return answer(await digestOf(bodyOf(request)))
    }),
  )
  const expected = await digestOf(megabytes(bulkMegabytes))
  const down = await hub.send(get('/bulk'), never)
  assert.equal(await digestOf(down.body), expected)
  const up = await hub.send(
    { ...get('/bulk'), method: 'PUT', body: megabytes(bulkMegabytes) },
    never,
  )
  assert.equal(await textOf(up.body), expected)
  assert.ok(hub.bytesIn > bulkMegabytes * 1_000_000 && hub.bytesOut > bulkMegabytes * 1_000_000)
})

test('a thousand readers that stall delay nobody and hold a bounded amount', async () => {
  const bufferedBytesMax = 4_194_304
  await using scene = await createTunnelScene({ limits: { bufferedBytesMax } })
  const { hub } = await scene.connect(
    handlerOf(async (request) => {
      if (request.path === '/small') return answer('quick')
      return { status: 200, headers: {}, body: megabytes(bulkMegabytes) }
    }),
  )
  const abort = new AbortController()
  const stalled: TunnelResponse[] = []
  // One place is left for the others.
  for (let count = 1; count < tunnelLimitDefaults.streamsMax; count += 1) {
    stalled.push(await hub.send(get('/bulk'), abort.signal))
    const { body } = await hub.send(get('/small'), never)
    assert.equal(await textOf(body), 'quick')
  }
  // A whole window for each would be 8 GB. The least window is each stream's right.
  const { streamWindowBytesMin } = tunnelLimitDefaults
  const bound = bufferedBytesMax + stalled.length * streamWindowBytesMin + 4_000_000
  assert.ok(
    hub.bufferedBytes < bound,
    `${hub.bufferedBytes} bytes are held, want less than ${bound}`,
  )
  abort.abort(new Error('enough'))
  await assert.rejects(textOf(stalled[0]?.body ?? megabytes(0)), /enough/)
})

test('an upgrade carries bytes both ways and each end closes on its own', async () => {
  await using scene = await createTunnelScene()
  const { hub } = await scene.connect(
    handlerOf(
      async () => answer(''),
      async (request) => {
        assert.equal(request.headers['upgrade'], 'SPDY/3.1')
        assert.equal(request.method, 'POST')
        return {
          status: 101,
          headers: { upgrade: 'SPDY/3.1', 'x-stream': 'v4', 'content-length': '0' },
          stream: lateEcho(),
        }
      },
    ),
  )
  // The program kubectl announces an empty body with the POST that it upgrades.
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'content-length': '0' }
  const upgraded = await hub.upgrade({ method: 'POST', path: '/exec', headers }, never)
  assert.ok(isSwitched(upgraded))
  assert.equal(upgraded.headers['upgrade'], 'SPDY/3.1')
  assert.equal(upgraded.headers['x-stream'], 'v4')
  upgraded.stream.write('one ')
  upgraded.stream.end('two')
  assert.equal(await textOf(upgraded.stream), 'after your end: one two')
})

/** Answers only when the other direction has ended: works only where half-close passes. */
function lateEcho(): Duplex {
  const chunks: Buffer[] = []
  return new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
    final(done) {
      this.push(`after your end: ${Buffer.concat(chunks).toString()}`)
      this.push(null)
      done()
    },
  })
}

test('a refused upgrade is an ordinary answer', async () => {
  await using scene = await createTunnelScene()
  const { hub } = await scene.connect(handlerOf(async () => answer('')))
  const headers = { connection: 'Upgrade', upgrade: 'websocket' }
  const refused = await hub.upgrade({ method: 'GET', path: '/exec', headers }, never)
  assert.ok(!isSwitched(refused))
  assert.equal(refused.status, 400)
  assert.equal(await textOf(refused.body), 'no upgrades here')
})

test('1,000 requests are open at once; one more is refused at once', async () => {
  await using scene = await createTunnelScene()
  const hold = Promise.withResolvers<void>()
  const { hub } = await scene.connect(
    handlerOf(async (request) => {
      await hold.promise
      return answer(request.path)
    }),
  )
  const open = Array.from({ length: 1_000 }, async (_, index) => {
    const { body } = await hub.send(get(`/${index}`), never)
    return textOf(body)
  })
  await assert.rejects(hub.send(get('/more'), never), TunnelBusyError)
  hold.resolve()
  assert.deepEqual(
    await Promise.all(open),
    Array.from({ length: 1_000 }, (_, index) => `/${index}`),
  )
  assert.equal(hub.streams, 0)
})

test('the caller’s abort reaches the handler', async () => {
  await using scene = await createTunnelScene()
  const seen = Promise.withResolvers<unknown>()
  const body = new PassThrough()
  const { hub } = await scene.connect(
    handlerOf(async (_request, signal) => {
      signal.addEventListener('abort', () => seen.resolve(signal.reason))
      return { status: 200, headers: {}, body }
    }),
  )
  const abort = new AbortController()
  const watch = await hub.send(get('/watch'), abort.signal)
  abort.abort(new Error('the user left'))
  await assert.rejects(textOf(watch.body), /the user left/)
  assert.match(String(await seen.promise), /the caller is gone/)
  assert.ok(body.destroyed)
})

test('an answer that breaks off does not look whole', async () => {
  await using scene = await createTunnelScene()
  async function* half(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half')
    throw new Error('the API server died')
  }
  const { hub } = await scene.connect(
    handlerOf(async () => ({ status: 200, headers: {}, body: half() })),
  )
  const { body } = await hub.send(get('/list'), never)
  await assert.rejects(textOf(body))
})

test('a short answer passes whole, and one that breaks off before its length is not an answer', async () => {
  await using scene = await createTunnelScene()
  const { hub } = await scene.connect(
    handlerOf(async ({ path }) => {
      const body = new Readable({ read: () => undefined })
      body.push('half')
      if (path === '/broken') setImmediate(() => body.destroy())
      else setImmediate(() => [' and half', null].forEach((part) => body.push(part)))
      return { status: 200, headers: { 'content-length': '13' }, body }
    }),
  )
  const whole = await hub.send(get('/whole'), never)
  assert.equal(whole.status, 200)
  assert.equal(await textOf(whole.body), 'half and half')
  const broken = await hub.send(get('/broken'), never)
  assert.equal(broken.status, 502)
  assert.equal(await textOf(broken.body), 'Cannot answer: it broke off\n')
})

test('a handler that fails is answered with 502 and its message', async () => {
  await using scene = await createTunnelScene()
  const { hub } = await scene.connect(
    handlerOf(async () => {
      throw new Error('Cannot reach API server: connection refused')
    }),
  )
  const { status, body } = await hub.send(get('/'), never)
  assert.equal(status, 502)
  assert.equal(await textOf(body), 'Cannot reach API server: connection refused\n')
})

const badRequests: readonly { what: string; request: TunnelRequest; status: number }[] = [
  { what: 'a path with a line break', request: get('/a\r\nx: y'), status: 400 },
  { what: 'a path with a space', request: get('/a b'), status: 400 },
  { what: 'an invalid path', request: get('http://elsewhere/'), status: 400 },
  { what: 'a path that is too long', request: get(`/${'a'.repeat(20_000)}`), status: 414 },
  { what: 'a method with a space', request: { ...get('/'), method: 'GET /x' }, status: 400 },
  {
    what: 'a value with a line break',
    request: { ...get('/'), headers: { a: 'b\nc: d' } },
    status: 400,
  },
  {
    what: 'a name with a colon',
    request: { ...get('/'), headers: { ':path': '/x' } },
    status: 400,
  },
  {
    what: 'too large headers',
    request: { ...get('/'), headers: { a: 'x'.repeat(70_000) } },
    status: 431,
  },
  {
    what: 'too many headers',
    request: { ...get('/'), headers: { a: Array.from({ length: 300 }, () => 'x') } },
    status: 431,
  },
]
test('anything that could split or flood a message is refused before it leaves', async (t) => {
  await using scene = await createTunnelScene()
  const { hub } = await scene.connect(handlerOf(async () => answer('')))
  for (const { what, request, status } of badRequests) {
    await t.test(what, async () => {
      await assert.rejects(hub.send(request, never), (error) => {
        assert.ok(error instanceof BadMessageError, String(error))
        return error.status === status
      })
    })
  }
  assert.equal(hub.streams, 0)
})

test('a drained tunnel finishes its open requests and takes nothing new', async () => {
  await using scene = await createTunnelScene()
  const body = new PassThrough()
  const { hub, agent } = await scene.connect(
    handlerOf(async () => ({ status: 200, headers: {}, body })),
  )
  const open = await hub.send(get('/log'), never)
  hub.drain('the hub restarts')
  await agent.draining
  await assert.rejects(hub.send(get('/new'), never), TunnelClosedError)
  body.end('last line')
  assert.equal(await textOf(open.body), 'last line')
  assert.equal(await hub.closed, 'the hub restarts')
  assert.equal(await agent.closed, 'the hub restarts')
})

test('ping measures the round trip', async () => {
  await using scene = await createTunnelScene()
  const { hub } = await scene.connect(handlerOf(async () => answer('')))
  assert.equal(await hub.ping(never), 0)
  assert.equal(hub.rttMs, 0)
})
