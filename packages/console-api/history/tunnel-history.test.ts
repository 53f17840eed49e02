import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkedSignal, simulatedClock } from '@skerry/base'
import { TunnelHistory, type TunnelSample } from './tunnel-history.ts'

const away: TunnelSample = {
  isConnected: false,
  rttMs: undefined,
  upPerSecond: 0,
  downPerSecond: 0,
}
const open: TunnelSample = { isConnected: true, rttMs: 20.5, upPerSecond: 100, downPerSecond: 7 }
const shop = { name: 'shop', uid: 'a' }

async function story() {
  const clock = simulatedClock()
  const stop = linkedSignal(new AbortController().signal)
  const now = new Map<string, TunnelSample>([['shop', open]])
  const clusters = [shop]
  const history = new TunnelHistory({
    clusters: () => clusters,
    sample: (name) => now.get(name) ?? away,
    clock,
  })
  const running = history.run(stop.signal).catch(() => undefined)
  return {
    clock,
    now,
    clusters,
    history,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await running
    },
  }
}

test('a cluster has its last hour in steps of ten seconds, and an unknown value is null', async () => {
  await using scene = await story()
  const { clock, history, now } = scene
  await clock.advance(30_000)
  now.set('shop', away)
  await clock.advance(20_000)
  const told = history.of(shop)
  assert.deepEqual(
    [told.step, told.until, told.rtt.length, told.state.length],
    [10, clock.now(), 360, 360],
  )
  assert.deepEqual(told.state.slice(-7), [null, 1, 1, 1, 1, 0, 0].slice(-7))
  assert.deepEqual(told.rtt.slice(-4), [20.5, 20.5, null, null])
  assert.deepEqual([told.up.at(-3), told.down.at(-3), told.up.at(-1)], [100, 7, 0])
  await clock.advance(3_600_000)
  assert.deepEqual(new Set(history.of(shop).state), new Set([0]))
})

test('a cluster that was made again under its name has no history of the former one', async () => {
  await using scene = await story()
  await scene.clock.advance(30_000)
  const told = scene.history.of({ name: 'shop', uid: 'b' })
  assert.deepEqual(told.state.slice(-2), [null, 1])
  scene.clusters.splice(0)
  await scene.clock.advance(10_000)
  scene.now.set('shop', away)
  assert.deepEqual(scene.history.of(shop).state, [])
})
