import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import { serveTunnel, type TunnelHandler } from './agent-session.ts'
import { AnswerProbe } from './answer-probe.ts'
import { acceptTunnel } from './hub-session.ts'
import { memoryLinks } from '../testing/memory-link.ts'
import { createTunnelScene } from '../testing/tunnel-scene.ts'
import { validateTunnelLimits } from '../frame/validate-tunnel-limits.ts'
import { TunnelClosedError } from '../frame/tunnel-message.ts'
import { tunnelLimitDefaults } from '../limits-table.ts'

const never = new AbortController().signal
const get = { method: 'GET', path: '/', headers: {} }

const silent: TunnelHandler = { onRequest: untilAborted, onUpgrade: untilAborted }

function untilAborted(_request: unknown, signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function isClosed(isSent: boolean, words: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof TunnelClosedError, String(error))
    assert.match(error.message, words)
    return error.isSent === isSent
  }
}

test('a request whose agent vanished fails within 5 s, and the next one at once', async () => {
  await using scene = await createTunnelScene({ viaRelay: true })
  const { hub } = await scene.connect(silent)
  await hub.ping(never)
  scene.relay.blackHole()
  const waiting = assert.rejects(hub.send(get, never), isClosed(true, /nothing heard for 5 s/))
  await scene.clock.advance(4_900)
  assert.ok(hub.isOpen)
  await scene.clock.advance(200)
  await waiting
  assert.ok(!hub.isOpen)
  await assert.rejects(hub.send(get, never), isClosed(false, /nothing heard for 5 s/))
  await scene.clock.advance(25_000)
  assert.match(await hub.closed, /nothing heard for 2\d s/)
})

test('a link that was silent for a while goes on, with all answers that had begun', async () => {
  await using scene = await createTunnelScene({ viaRelay: true })
  const body = new PassThrough()
  const onRequest: TunnelHandler['onRequest'] = async ({ path }, signal) =>
    path === '/watch' ? { status: 200, headers: {}, body } : untilAborted(undefined, signal)
  const { hub } = await scene.connect({ onRequest, onUpgrade: untilAborted })
  const watch = await hub.send({ ...get, path: '/watch' }, never)
  const events = watch.body[Symbol.asyncIterator]()
  scene.relay.stall()
  const waiting = assert.rejects(hub.send(get, never), TunnelClosedError)
  await scene.clock.advance(5_100)
  await waiting
  assert.ok(!hub.isOpen)
  scene.relay.resume()
  body.write('later')
  assert.equal(String((await events.next()).value), 'later')
  assert.ok(hub.isOpen)
  const again = await hub.send({ ...get, path: '/watch' }, never)
  assert.equal(again.status, 200)
})

test('a slow answer over a live link is waited for', async () => {
  const clock = simulatedClock()
  const { near, far } = memoryLinks()
  const deps = { clock, log: silentLogger }
  const agent = serveTunnel(near, silent, validateTunnelLimits(), deps)
  const hub = acceptTunnel(far, {}, deps)
  const abort = new AbortController()
  const waiting = assert.rejects(hub.send(get, abort.signal), /enough/)
  await clock.advance(600_000)
  assert.deepEqual([hub.streams, hub.isOpen], [1, true])
  abort.abort(new Error('enough'))
  await waiting
  agent.close('done')
  await agent.closed
})

const patience: readonly [what: string, unprovenBytes: number, seconds: number][] = [
  ['nothing before it', 0, 5],
  ['a small body before it', 8_000, 6],
  ['full queues before it', 128_000, 21],
]
for (const [what, unprovenBytes, seconds] of patience) {
  test(`a request with ${what} is given up after ${seconds} s of silence`, async () => {
    const clock = simulatedClock()
    let probes = 0
    const health = {
      rttMs: undefined,
      byteRates: { inPerSecond: 0, outPerSecond: 0 },
      heardMs: 0,
      unprovenBytes,
      ping: () => Promise.reject(new Error('It must not be asked')),
      probe: () => void (probes += 1),
      [Symbol.dispose]: () => undefined,
    }
    const given: string[][] = []
    using probe = new AnswerProbe<string>(tunnelLimitDefaults, health, clock, (waiters) =>
      given.push([...waiters]),
    )
    probe.begin('a')
    await clock.advance(seconds * 1_000 - 1)
    assert.deepEqual([given, probe.isSilent, probes], [[], false, 1])
    await clock.advance(1)
    assert.deepEqual([given, probe.isSilent], [[['a']], true])
    health.heardMs = clock.monotonicMs() + 1
    assert.ok(!probe.isSilent)
  })
}
