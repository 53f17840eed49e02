import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, silentLogger, simulatedClock, type SimulatedClock } from '@skerry/base'
import { ApiServers } from './api-servers.ts'
import type { HttpsTransport, HttpsTransportConfig } from './https-transport.ts'
import { rankServers } from './server-rank.ts'

const [one, two, three] = [
  'https://10.0.0.1:6443',
  'https://10.0.0.2:6443',
  'https://10.0.0.3:6443',
] as const
const vip = 'https://api.example.com:6443'
const { signal } = new AbortController()

/** Some servers, of which any may refuse connections, answer nothing, or not be ready. */
class TestServers {
  readonly refusing = new Set<string>()
  readonly silent = new Set<string>()
  readonly unready = new Set<string>()
  /** They take the client's credentials for invalid; probes have none. */
  readonly unauthorized = new Set<string>()
  /** Requests by server, without probes. */
  readonly asked: string[] = []
  probes = 0
  open = 0
  readonly ended: string[] = []

  connect = ({ server }: HttpsTransportConfig): HttpsTransport => {
    const closed = new AbortController()
    this.open += 1
    return {
      send: async (request, scope) => {
        if (request.path === '/readyz') this.probes += 1
        else this.asked.push(`${request.method} ${server}`)
        const both = AbortSignal.any([closed.signal, scope])
        both.throwIfAborted()
        if (this.refusing.has(server))
          throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
        if (this.silent.has(server)) await never(both)
        const isReady = request.path !== '/readyz' || !this.unready.has(server)
        const body =
          request.path === '/watch' ? endless(both, () => this.ended.push(server)) : once()
        if (request.path !== '/readyz' && this.unauthorized.has(server)) {
          return { status: 401, headers: {}, body: once() }
        }
        return { status: isReady ? 200 : 500, headers: {}, body }
      },
      [Symbol.dispose]: () => {
        this.open -= 1
        closed.abort(new Error('The connection is closed'))
      },
    }
  }
}

function never(scope: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    scope.addEventListener('abort', () => reject(scope.reason), { once: true })
  })
}

async function* once(): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from('ok')
}

async function* endless(
  scope: AbortSignal,
  onEnd: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from('begun')
  try {
    await never(scope)
  } finally {
    onEnd()
  }
}

function start(servers: TestServers, given: readonly string[], named: readonly string[]) {
  const clock = simulatedClock()
  const stop = new AbortController()
  const client = 'node-1'
  const api = new ApiServers(
    { client, given, named, certificateAuthority: '' },
    { clock, random: seededRandom(1), log: silentLogger, open: servers.connect },
  )
  const transport = api.transport({})
  const running = api.run(stop.signal).catch((error: unknown) => error)
  return {
    api,
    clock,
    transport,
    get: () => transport.send({ method: 'GET', path: '/api', headers: {} }, signal),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await running
      api[Symbol.dispose]()
      assert.equal(servers.open, 0, 'connections stay open')
    },
  }
}

async function pass(clock: SimulatedClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) await clock.advance(250)
}

test('a client whose credentials one server refuses works with another, also for writes', async () => {
  const servers = new TestServers()
  await using client = start(servers, [one], [one, two, three])
  const { api, clock, transport } = client
  await pass(clock, 1_000)
  const wrong = api.current
  servers.unauthorized.add(wrong)
  const written = await transport.send({ method: 'POST', path: '/api', headers: {} }, signal)
  assert.equal(written.status, 200)
  assert.deepEqual(
    servers.asked.map((each) => each.startsWith('POST')),
    [true, true],
    'it is sent once to each of two',
  )
  assert.notEqual(api.current, wrong)
  const asked = servers.asked.length
  assert.equal((await client.get()).status, 200)
  assert.equal(servers.asked.length, asked + 1)
  // It is preferred again when it was steady, and refuses again.
  await pass(clock, 180_000)
  assert.equal((await client.get()).status, 200)
  assert.notEqual(api.current, wrong)
})

test('a client whom all servers refuse learns that, and asks each of them once', async () => {
  const servers = new TestServers()
  await using client = start(servers, [one], [one, two, three])
  for (const url of [one, two, three]) servers.unauthorized.add(url)
  const { status, body } = await client.get()
  assert.equal(status, 401)
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  assert.equal(Buffer.concat(pieces).toString(), 'ok')
  assert.equal(servers.asked.length, 3)
  await client.get()
  assert.equal(servers.asked.length, 4, 'for ten seconds one is enough')
})

test('a client leaves a server that refuses, closes its connections there, and goes back when it is steady', async () => {
  const servers = new TestServers()
  await using client = start(servers, [one], [one, two])
  const { api, clock } = client
  await pass(clock, 1_000)
  const preferred = api.current
  const other = preferred === one ? two : one
  const watch = await client.transport.send({ method: 'GET', path: '/watch', headers: {} }, signal)
  const events = watch.body[Symbol.asyncIterator]()
  await events.next()
  const reading = events.next()
  reading.catch(() => undefined)
  servers.refusing.add(preferred)
  await client.get()
  assert.deepEqual(servers.asked.slice(-2), [`GET ${preferred}`, `GET ${other}`])
  await pass(clock, 2_000)
  assert.equal(api.current, other)
  await assert.rejects(reading, /closed/)
  assert.deepEqual(servers.ended, [preferred])
  servers.refusing.delete(preferred)
  await pass(clock, 20_000)
  assert.equal(api.current, other, 'it went back at once')
  await pass(clock, 200_000)
  assert.equal(api.current, preferred)
})

test('a server that is silent, or has lost its store, is left within 15 s', async () => {
  for (const fault of ['silent', 'unready'] as const) {
    const servers = new TestServers()
    await using client = start(servers, [one, two, three], [one, two, three])
    await pass(client.clock, 1_000)
    const before = client.api.current
    servers[fault].add(before)
    await pass(client.clock, 15_000)
    assert.notEqual(client.api.current, before, fault)
    await client.get()
    assert.equal(servers.asked.at(-1), `GET ${client.api.current}`)
  }
})

test('a client that reaches one server of three works, whichever it is', async () => {
  for (const reachable of [one, two, three]) {
    const servers = new TestServers()
    for (const url of [one, two, three]) if (url !== reachable) servers.silent.add(url)
    await using client = start(servers, [one], [one, two, three])
    await pass(client.clock, 15_000)
    assert.equal(client.api.current, reachable)
    assert.equal((await client.get()).status, 200)
  }
})

test('a write that may have been sent is not sent again; one that was not sent goes to the next server', async () => {
  const servers = new TestServers()
  await using client = start(servers, [one, two], [one, two])
  const post = () => client.transport.send({ method: 'POST', path: '/api', headers: {} }, signal)
  await pass(client.clock, 1_000)
  const { current } = client.api
  servers.silent.add(current)
  const waiting = post()
  waiting.catch(() => undefined)
  await pass(client.clock, 15_000)
  await assert.rejects(waiting, /closed/)
  assert.deepEqual(servers.asked, [`POST ${current}`])
  const next = client.api.current
  servers.silent.clear()
  servers.refusing.add(next)
  assert.equal((await post()).status, 200)
  assert.deepEqual(servers.asked.slice(1), [`POST ${next}`, `POST ${current}`])
})

test('a server that the cluster no longer names is left, and the given one stays the last resort', async () => {
  const servers = new TestServers()
  await using client = start(servers, [vip], [one])
  const { api, clock } = client
  await pass(clock, 1_000)
  assert.equal(api.current, one)
  assert.equal(api.setNamed([]), false)
  assert.equal(api.setNamed([one]), false)
  assert.equal(api.setNamed([two]), true)
  await pass(clock, 2_000)
  assert.equal(api.current, two)
  servers.refusing.add(two)
  await pass(clock, 8_000)
  assert.equal(api.current, vip)
  servers.refusing.clear()
  await pass(clock, 200_000)
  assert.equal(api.current, two)
})

test('a client of one server sends no probes until there is another', async () => {
  const servers = new TestServers()
  await using client = start(servers, [one], [one])
  await pass(client.clock, 60_000)
  await client.get()
  assert.equal(servers.probes, 0)
  client.api.setNamed([one, two])
  await pass(client.clock, 2_000)
  assert.ok(servers.probes > 1)
  client.api.setNamed([two])
  servers.refusing.add(one)
  await pass(client.clock, 15_000)
  assert.equal(client.api.current, two)
  servers.refusing.clear()
  client.api.setNamed([one])
  await pass(client.clock, 2_000)
  assert.equal(client.api.current, one)
})

test('an address that a client cannot reach is never used, though the cluster names it', async () => {
  const servers = new TestServers()
  servers.silent.add(one)
  await using client = start(servers, [vip], [])
  client.api.setNamed([one])
  await pass(client.clock, 300_000)
  assert.equal(client.api.current, vip)
})

test('clients prefer their own machine, then near servers, and spread over servers that are as near', () => {
  const facts = (url: string, fastestMs: number | undefined, isNamed = true) => ({
    url,
    fastestMs,
    isNamed,
  })
  const local = 'https://127.0.0.1:6443'
  const ranked = rankServers(
    [
      facts(vip, 1, false),
      facts(one, undefined),
      facts(two, 80),
      facts(three, 3),
      facts(local, 9, false),
    ],
    'node',
  )
  assert.deepEqual(ranked, [local, three, two, one, vip])
  const firsts = Array.from({ length: 300 }, (_, at) => {
    const all = [facts(one, 1), facts(two, 2), facts(three, 3)]
    return rankServers(all, `node-${at}`)[0]
  })
  for (const url of [one, two, three]) {
    const count = firsts.filter((first) => first === url).length
    assert.ok(count > 60, `${url} ${count}`)
  }
})
