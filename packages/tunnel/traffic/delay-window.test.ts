/** Links whose buffers take everything at once, as the kernel's do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, simulatedClock, type SimulatedClock } from '@skerry/base'
import { serveTunnel, type Classify, type TunnelHandler } from '../session/agent-session.ts'
import { acceptTunnel, type TunnelSession } from '../session/hub-session.ts'
import { deepLinks, type DeepLinkOptions } from '../testing/deep-link.ts'
import { validateTunnelLimits } from '../frame/validate-tunnel-limits.ts'
import type { TunnelRequest } from '../frame/tunnel-message.ts'

const never = new AbortController().signal
const piece = Buffer.alloc(65_536, 'tunnel')
const get = (path: string): TunnelRequest => ({ method: 'GET', path, headers: {} })
const classify: Classify = ({ path }) => (path === '/small' ? 'control' : 'bulk')

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield piece
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

const handler: TunnelHandler = {
  async onRequest({ path, body }) {
    if (body && !(body instanceof Uint8Array)) for await (const _chunk of body);
    return { status: 200, headers: {}, body: path === '/small' ? once('quick') : endless() }
  },
  onUpgrade: () => Promise.reject(new Error('nobody asks')),
}

interface Scene {
  readonly clock: SimulatedClock
  readonly options: DeepLinkOptions
  readonly hub: TunnelSession
  /** The bytes of the answer to /bulk, which is endless. */
  readonly bulk: { bytes: number }
  /** The sizes of the agent's messages. */
  readonly sizes: readonly number[]
}

/** An agent that sends without end from now on, over a link that was idle before. */
async function startBulk(link: Omit<DeepLinkOptions, 'clock'>): Promise<Scene> {
  const clock = simulatedClock()
  const options: DeepLinkOptions = { clock, ...link }
  const { near, far, sent } = deepLinks(options)
  const limits = { deadMs: 1e9, answerMs: 1e9, pongMs: 1e9 }
  const deps = { clock, log: silentLogger, classify }
  serveTunnel(far, handler, validateTunnelLimits(limits), deps)
  const hub = acceptTunnel(near, { limits }, deps)
  await clock.advance(4 * options.oneWayMs + 100)
  const bulk = { bytes: 0 }
  void (async () => {
    const { body } = await hub.send(get('/bulk'), never)
    for await (const chunk of body) bulk.bytes += chunk.length
  })()
  return { clock, options, hub, bulk, sizes: sent.far }
}

/** Measures how long a small request takes from now on. */
async function smallMs({ clock, hub }: Scene): Promise<number> {
  const startMs = clock.monotonicMs()
  let text = ''
  void (async () => {
    const { body } = await hub.send(get('/small'), never)
    for await (const chunk of body) text += chunk.toString()
  })()
  while (text !== 'quick') await clock.advance(20)
  return clock.monotonicMs() - startMs
}

/** Advances in steps, so that work that needs several turns of the loop gets them. */
async function pass({ clock }: Scene, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 50) await clock.advance(50)
}

/** Counts the bytes of bulk in this time, with no other traffic. */
async function bulkIn(scene: Scene, ms: number): Promise<number> {
  const before = scene.bulk.bytes
  await pass(scene, ms)
  return scene.bulk.bytes - before
}

test('on 64 kbit/s and 600 ms a small answer passes bulk within 3 s, and bulk has the link', async () => {
  const scene = await startBulk({ bytesPerSecond: 8_000, oneWayMs: 300 })
  const { clock, bulk } = scene
  for (let request = 0; request < 20; request += 1) {
    const ms = await smallMs(scene)
    assert.ok(ms <= 3_000, `small request ${request} took ${ms} ms`)
  }
  assert.ok(bulk.bytes > 0.8 * 8 * clock.monotonicMs(), `${bulk.bytes} bytes beside them`)
  const alone = await bulkIn(scene, 60_000)
  assert.ok(alone >= 0.85 * 480_000, `${alone} bytes in a minute`)
})

test('endless traffic from both ends leaves a small request its way', async () => {
  const scene = await startBulk({ bytesPerSecond: 8_000, oneWayMs: 300 })
  scene.hub.send({ ...get('/put'), method: 'PUT', body: endless() }, never).catch(() => undefined)
  await pass(scene, 20_000)
  for (let request = 0; request < 10; request += 1) {
    const ms = await smallMs(scene)
    assert.ok(ms <= 4_000, `small request ${request} took ${ms} ms`)
  }
  const bytes = await bulkIn(scene, 60_000)
  assert.ok(bytes >= 0.7 * 480_000, `${bytes} bytes in a minute`)
})

test('traffic that fills a thin way up does not stop traffic on a fast way down', async () => {
  const link = { bytesPerSecond: 1_000_000, nearBytesPerSecond: 8_000, oneWayMs: 50 }
  const scene = await startBulk(link)
  scene.hub.send({ ...get('/put'), method: 'PUT', body: endless() }, never).catch(() => undefined)
  await pass(scene, 30_000)
  const bytes = await bulkIn(scene, 30_000)
  assert.ok(bytes >= 0.3 * 30_000_000, `${bytes} bytes in 30 s`)
})

const fastLinks = [
  { what: '25 MB/s and 50 ms', bytesPerSecond: 25_000_000, oneWayMs: 25 },
  { what: '100 MB/s and 1 ms', bytesPerSecond: 100_000_000, oneWayMs: 0.5 },
  { what: '1 MB/s and 300 ms', bytesPerSecond: 1_000_000, oneWayMs: 150 },
]
for (const { what, ...link } of fastLinks) {
  test(`bulk has a link of ${what} as if there were no window`, async () => {
    const scene = await startBulk(link)
    // Bulk begins like TCP, and doubles.
    await pass(scene, 40 * link.oneWayMs + 100)
    const bytes = await bulkIn(scene, 2_000)
    assert.ok(bytes >= 0.95 * 2 * link.bytesPerSecond, `${bytes} bytes in 2 s`)
  })
}

test('on 100 MB/s and 1 ms messages are as large as without a window', async () => {
  const means = []
  for (const answers of [() => true, () => false]) {
    const scene = await startBulk({ bytesPerSecond: 100_000_000, oneWayMs: 0.5, answers })
    await pass(scene, 200)
    const from = scene.sizes.length
    await pass(scene, 1_000)
    const sizes = scene.sizes.slice(from)
    means.push(sizes.reduce((sum, size) => sum + size, 0) / sizes.length)
  }
  const [withWindow = 0, without = 0] = means
  assert.ok(withWindow >= 0.98 * without, `${withWindow} bytes a message, without ${without}`)
})

test('a link that becomes slow is slow for small requests only until it has emptied; a fast one is used again', async () => {
  const scene = await startBulk({ bytesPerSecond: 100_000, oneWayMs: 50 })
  await pass(scene, 10_000)
  scene.options.bytesPerSecond = 8_000
  await pass(scene, 30_000)
  for (let request = 0; request < 10; request += 1) {
    const ms = await smallMs(scene)
    assert.ok(ms <= 3_000, `small request ${request} took ${ms} ms`)
  }
  const slow = await bulkIn(scene, 30_000)
  assert.ok(slow >= 0.85 * 240_000, `${slow} bytes in 30 s`)
  scene.options.bytesPerSecond = 1_000_000
  await pass(scene, 5_000)
  const fast = await bulkIn(scene, 5_000)
  assert.ok(fast >= 0.9 * 5_000_000, `${fast} bytes in 5 s`)
})

test('a way that becomes longer, as from cable to satellite, keeps its rate', async () => {
  const scene = await startBulk({ bytesPerSecond: 1_000_000, oneWayMs: 10 })
  await pass(scene, 5_000)
  scene.options.oneWayMs = 600
  await pass(scene, 30_000)
  const bytes = await bulkIn(scene, 30_000)
  assert.ok(bytes >= 0.8 * 30_000_000, `${bytes} bytes in 30 s`)
})

test('foreign traffic on the way does not slow bulk down for long', async () => {
  const scene = await startBulk({ bytesPerSecond: 1_000_000, oneWayMs: 10 })
  await pass(scene, 5_000)
  // Another upload fills the router: a second and a half.
  scene.options.foreignBytes = 1_500_000
  await pass(scene, 60_000)
  const bytes = await bulkIn(scene, 60_000)
  assert.ok(bytes >= 0.6 * 60_000_000, `${bytes} bytes in a minute`)
  scene.options.foreignBytes = 0
  await pass(scene, 150_000)
  const ms = await smallMs(scene)
  assert.ok(ms <= 1_500, `when it is over a small request takes ${ms} ms`)
})

test('a peer that answers no ping is sent to as fast as the network takes it', async () => {
  const scene = await startBulk({ bytesPerSecond: 1e6, oneWayMs: 50, answers: () => false })
  await pass(scene, 2_000)
  const bytes = await bulkIn(scene, 5_000)
  assert.ok(bytes >= 0.95 * 5e6, `${bytes} bytes in 5 s`)
})

test('a peer that answers the newest ping alone still gets everything', async () => {
  const answers = (payload: string): boolean => /^\d/.test(payload)
  const scene = await startBulk({ bytesPerSecond: 1_000_000, oneWayMs: 50, answers })
  for (let minute = 0; minute < 3; minute += 1) {
    const bytes = await bulkIn(scene, 60_000)
    assert.ok(bytes > 0, `${bytes} bytes in minute ${minute}`)
  }
})

test('the reported round trip is not that of the marks', async () => {
  const scene = await startBulk({ bytesPerSecond: 8_000, oneWayMs: 300 })
  await pass(scene, 60_000)
  const { rttMs = 0 } = scene.hub
  assert.ok(rttMs >= 600 && rttMs < 1_500, `${rttMs} ms`)
})
