import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, simulatedClock, type SimulatedClock } from '@skerry/base'
import { serveTunnel, type Classify, type TunnelHandler } from './session/agent-session.ts'
import { acceptTunnel, type TunnelTraffic } from './session/hub-session.ts'
import { StreamTraffic } from './traffic/stream-traffic.ts'
import { memoryLinks, type MemoryLinkOptions } from './testing/memory-link.ts'
import {
  defaultTrafficRules,
  parseTrafficRules,
  type TrafficRules,
} from './traffic/traffic-rules.ts'
import { validateTunnelLimits } from './frame/validate-tunnel-limits.ts'
import type { TunnelBody, TunnelRequest } from './frame/tunnel-message.ts'

const never = new AbortController().signal
const piece = Buffer.alloc(16_384, 'tunnel')

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield piece
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const get = (path: string): TunnelRequest => ({ method: 'GET', path, headers: {} })

/** The path's first part names the class. */
const classify: Classify = ({ path }) => {
  if (path.startsWith('/interactive')) return 'interactive'
  if (path.startsWith('/logs')) return 'logs'
  return path.startsWith('/bulk') ? 'bulk' : 'control'
}

/** Answers endlessly on all paths but /small; reads a body to its end. */
function handlerOn(received: { bytes: number }): TunnelHandler {
  return {
    async onRequest({ path, method, body }) {
      if (method === 'PUT' && body && !(body instanceof Uint8Array)) {
        for await (const chunk of body) received.bytes += chunk.length
      }
      const answer = path.startsWith('/small') ? once(Buffer.from('quick')) : endless()
      return { status: 200, headers: {}, body: answer }
    },
    async onUpgrade() {
      throw new Error('not asked for here')
    },
  }
}

function startTunnel(options: MemoryLinkOptions & { clock?: SimulatedClock } = {}) {
  const { clock = simulatedClock() } = options
  const { near, far } = memoryLinks(options)
  const deps = { clock, log: silentLogger, classify }
  // A simulation of minutes has no pings that could be late.
  const limits = { pingMs: 1e9, deadMs: 1e9, answerMs: 1e9, pongMs: 1e9 }
  const received = { bytes: 0 }
  const agent = serveTunnel(far, handlerOn(received), validateTunnelLimits(limits), deps)
  const hub = acceptTunnel(near, { limits }, deps)
  return { clock, hub, agent, received }
}

function rulesOf(bytesPerSecond: number, burstBytes = 16_000): TunnelTraffic {
  const rules = { ...defaultTrafficRules, rate: { bytesPerSecond, burstBytes } }
  return { toAgent: rules, toHub: rules }
}

/** Counts bytes as long as they come. */
function countOf(body: TunnelBody): { bytes: number } {
  const count = { bytes: 0 }
  void (async () => {
    for await (const chunk of body) count.bytes += chunk.length
  })().catch(() => undefined)
  return count
}

function assertNear(actual: number, wanted: number, what: string): void {
  const isNear = actual > wanted * 0.95 && actual < wanted * 1.05
  assert.ok(isNear, `${what}: ${Math.round(actual)}, want about ${wanted}`)
}

test('bulk is held to the rate in both directions', async () => {
  const { clock, hub, received } = startTunnel()
  hub.setTraffic(rulesOf(64_000))
  const { body } = await hub.send(get('/bulk'), never)
  const down = countOf(body)
  hub.send({ ...get('/bulk'), method: 'PUT', body: endless() }, never).catch(() => undefined)
  await clock.advance(1_000)
  const [before, upBefore] = [down.bytes, received.bytes]
  await clock.advance(20_000)
  assertNear((down.bytes - before) / 20, 64_000, 'from the cluster, bytes per second')
  assertNear((received.bytes - upBefore) / 20, 64_000, 'to the cluster, bytes per second')
  hub.close('done')
})

test('after a pause the burst goes at once, and no more than that', async () => {
  const { clock, hub } = startTunnel()
  hub.setTraffic(rulesOf(10_000, 100_000))
  await clock.advance(60_000)
  const { body } = await hub.send(get('/bulk'), never)
  const count = countOf(body)
  await clock.advance(1)
  for (let turn = 0; turn < 200; turn += 1) await clock.advance(0)
  assertNear(count.bytes, 100_000, 'bytes at once')
  hub.close('done')
})

test('a small request behind bulk waits for a frame or two', async () => {
  const { clock, hub } = startTunnel()
  hub.setTraffic(rulesOf(64_000))
  for (let streams = 0; streams < 5; streams += 1) {
    countOf((await settled(hub.send(get('/bulk'), never), clock)).body)
    hub.send({ ...get('/bulk'), method: 'PUT', body: endless() }, never).catch(() => undefined)
  }
  await clock.advance(5_000)
  for (let request = 0; request < 10; request += 1) {
    const startMs = clock.monotonicMs()
    const answer = hub.send(get('/small'), never).then(({ body }) => textOf(body))
    let text: string | undefined
    void answer.then((read) => (text = read))
    while (text === undefined) await clock.advance(5)
    const waitedMs = clock.monotonicMs() - startMs
    // One frame takes 50 ms each way; the loop's turns in between add some.
    assert.ok(waitedMs <= 200, `waited ${waitedMs} ms`)
  }
  hub.close('done')
})

async function textOf(body: TunnelBody): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('classes are served in their order, and nobody starves', async () => {
  const { clock, hub } = startTunnel()
  const rules: TrafficRules = {
    rate: { bytesPerSecond: 64_000, burstBytes: 0 },
    floors: { control: 0, interactive: 0.1, logs: 0.2, bulk: 0.1 },
    // A busy stream keeps its class.
    bulkAfterBytes: Number.MAX_SAFE_INTEGER,
  }
  hub.setTraffic({ toAgent: rules, toHub: rules })
  const counts = []
  for (const path of ['/bulk', '/logs', '/interactive', '/control']) {
    counts.push(countOf((await settled(hub.send(get(path), never), clock)).body))
  }
  await clock.advance(1_000)
  const before = counts.map(({ bytes }) => bytes)
  await clock.advance(60_000)
  const shares = counts.map(({ bytes }, index) => (bytes - (before[index] ?? 0)) / 60 / 64_000)
  for (const [index, wanted] of [0.1, 0.2, 0.1, 0.6].entries()) {
    const share = shares[index] ?? 0
    assert.ok(Math.abs(share - wanted) < 0.03, `shares are ${shares.join(', ')}`)
  }
  hub.close('done')
})

test('a contract that changes holds for streams that run; without one they go as fast as they can', async () => {
  const { clock, hub, agent } = startTunnel()
  hub.setTraffic(rulesOf(32_000))
  const count = countOf((await hub.send(get('/bulk'), never)).body)
  await clock.advance(5_000)
  for (const rate of [128_000, 16_000]) {
    hub.setTraffic(rulesOf(rate))
    await clock.advance(2_000)
    assert.equal(agent.rules.rate?.bytesPerSecond, rate)
    const before = count.bytes
    await clock.advance(20_000)
    assertNear((count.bytes - before) / 20, rate, 'bytes per second')
  }
  hub.setTraffic({ toAgent: defaultTrafficRules, toHub: defaultTrafficRules })
  await clock.advance(1_000)
  const before = count.bytes
  // Time stands still, so nothing waits for it.
  while (count.bytes - before < 10_000_000) await clock.advance(0)
  hub.close('done')
})

test('without a contract a small answer passes bulk that waits for a slow link', async () => {
  const clock = simulatedClock()
  const { hub } = startTunnel({ clock, speed: { clock, bytesPerSecond: 1_000_000 } })
  const bulk: { bytes: number }[] = []
  const open = async (path: string): Promise<void> => {
    const answer = hub.send(get(path), never).then(({ body }) => bulk.push(countOf(body)))
    await settled(answer, clock)
  }
  for (let streams = 0; streams < 20; streams += 1) await open('/bulk')
  await clock.advance(2_000)
  const before = bulk.reduce((sum, { bytes }) => sum + bytes, 0)
  const small = hub.send(get('/small'), never).then(({ body }) => textOf(body))
  assert.equal(await settled(small, clock), 'quick')
  const passed = bulk.reduce((sum, { bytes }) => sum + bytes, 0) - before
  // The link had already taken 128 KiB; a turn or two may follow, but not one of each stream.
  assert.ok(passed < 250_000, `${passed} bytes of bulk came before it`)
  hub.close('done')
})

async function settled<T>(promise: Promise<T>, clock: SimulatedClock): Promise<T> {
  let isDone = false
  void promise.finally(() => (isDone = true)).catch(() => undefined)
  while (!isDone) await clock.advance(5)
  return promise
}

test('an agent that does not know contracts is sent none, and is served as before', async () => {
  const { clock, hub, agent } = startTunnel({ features: new Set() })
  assert.equal(hub.obeysTraffic, false)
  hub.setTraffic(rulesOf(1_000_000))
  const small = hub.send(get('/small'), never).then(({ body }) => textOf(body))
  assert.equal(await settled(small, clock), 'quick')
  assert.equal(agent.rules, defaultTrafficRules)
  hub.close('done')
})

test('bytes are counted by class at both ends', async () => {
  const { clock, hub, agent } = startTunnel()
  const small = hub.send(get('/logs'), never).then(async ({ body }) => {
    const count = countOf(body)
    while (count.bytes < 100_000) await clock.advance(1)
  })
  await small
  assert.ok(hub.traffic.received.logs >= 100_000)
  assert.ok(agent.traffic.sent.logs >= hub.traffic.received.logs)
  assert.equal(hub.traffic.received.interactive, 0)
  assert.ok(hub.traffic.sent.control > 0)
  hub.close('done')
})

test('a stream that moves much at once is bulk for as long as it does; one that lasts long is not', () => {
  const { bulkAfterBytes } = defaultTrafficRules
  const terminal = new StreamTraffic()
  terminal.own = 'interactive'
  const copy = new StreamTraffic()
  copy.own = 'interactive'
  for (let second = 0; second < 3_600; second += 1) {
    terminal.moved(4_000, second * 1_000, bulkAfterBytes)
    copy.moved(second < 60 ? 1_000_000 : 0, second * 1_000, bulkAfterBytes)
    assert.equal(terminal.index, 1, 'a terminal that writes 4 kB each second')
    if (second === 30) assert.equal(copy.index, 3, 'a copy of many megabytes')
  }
  assert.equal(copy.index, 1, 'the session after its copy')
})

const noRules: readonly string[] = [
  '',
  'null',
  '[]',
  '{"floors":{}}',
  JSON.stringify({ ...defaultTrafficRules, rate: { bytesPerSecond: 0, burstBytes: 0 } }),
  JSON.stringify({ ...defaultTrafficRules, rate: { bytesPerSecond: 1e30, burstBytes: 0 } }),
  JSON.stringify({ ...defaultTrafficRules, rate: { bytesPerSecond: '64k', burstBytes: 0 } }),
  JSON.stringify({ ...defaultTrafficRules, floors: { control: 2 } }),
  JSON.stringify({ ...defaultTrafficRules, bulkAfterBytes: 0 }),
]
test('rules by which nobody could send are not rules', () => {
  for (const text of noRules) assert.equal(parseTrafficRules(text), undefined, text)
  const { toHub } = rulesOf(64_000)
  assert.deepEqual(parseTrafficRules(JSON.stringify(toHub)), toHub)
})
