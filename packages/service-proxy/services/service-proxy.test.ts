import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, silentLogger, simulatedClock } from '@skerry/base'
import { NetworkHealth } from '../network/network-health.ts'
import type { Nft } from '../nftables/nft.ts'
import { createServiceProxy } from './service-proxy.ts'
import { service, slice } from '../testing/service-objects.ts'

/** Creates a kernel that keeps a table until another program flushes it. */
function memoryKernel() {
  const scripts: string[] = []
  const state = { isThere: false, isRefusing: false }
  const nft: Nft = {
    async apply(script) {
      if (state.isRefusing) throw new Error('no memory')
      if (!state.isThere && !script.startsWith('add table')) throw new Error('no such table')
      scripts.push(script)
      state.isThere = true
    },
    fingerprint: async () => (state.isThere ? 'as applied' : ''),
  }
  return { nft, scripts, state }
}

const readMachine = async () => ({ addresses: new Set<string>(), used: [] })

const network = {
  clusterCidr: '10.42.0.0/16',
  podCidr: '10.42.0.0/24',
  ownAddresses: ['10.43.0.10'],
  serviceCidr: '10.43.0.0/16',
  nodeAddresses: [],
  reservedAddresses: [],
}

test('rules that another program flushed are applied again as a whole, and only then', async () => {
  const clock = simulatedClock()
  const { nft, scripts, state } = memoryKernel()
  const health = new NetworkHealth()
  const deps = { nft, readMachine, clock, random: seededRandom(1), log: silentLogger, health }
  const proxy = createServiceProxy({ nodeName: 'a', network }, deps)
  const stop = new AbortController()
  const running = proxy.run(stop.signal)
  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed++) await clock.advance(1_000)
  }
  assert.deepEqual(health.problems(), ['service rules: not applied yet'])
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' as const }]
  proxy.update(
    [service('web', { clusterIP: '10.43.0.7', ports })],
    [slice('web', [{ address: '10.42.0.5' }])],
  )
  await pass(60)
  assert.equal(scripts.length, 1, 'nobody changed anything')
  assert.deepEqual(health.problems(), [])
  state.isThere = false
  await pass(11)
  assert.equal(scripts.length, 2)
  assert.equal(scripts[1], scripts[0])
  state.isThere = false
  state.isRefusing = true
  await pass(11)
  assert.deepEqual(health.problems(), ['service rules: no memory'])
  state.isRefusing = false
  await pass(60)
  assert.equal(scripts.length, 3)
  assert.deepEqual(health.problems(), [])
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
})

test('a change after a quiet time is applied at once, a burst in two transactions', async () => {
  const clock = simulatedClock()
  const { nft, scripts } = memoryKernel()
  const deps = {
    nft,
    readMachine,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    health: new NetworkHealth(),
  }
  const proxy = createServiceProxy({ nodeName: 'a', network }, deps)
  const stop = new AbortController()
  const running = proxy.run(stop.signal)
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' as const }]
  const serve = (address: string): void =>
    proxy.update([service('web', { clusterIP: '10.43.0.7', ports })], [slice('web', [{ address }])])
  serve('10.42.0.5')
  await clock.advance(0)
  assert.equal(scripts.length, 1, 'no time has passed')
  for (const last of [6, 7, 8, 9]) {
    serve(`10.42.0.${last}`)
    await clock.advance(20)
  }
  assert.equal(scripts.length, 1, 'the burst waits')
  await clock.advance(20)
  assert.equal(scripts.length, 2)
  assert.match(scripts[1] ?? '', /10\.42\.0\.9/)
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
})

test('a change meets a table that another program removed, and applies it as a whole at once', async () => {
  const clock = simulatedClock()
  const { nft, scripts, state } = memoryKernel()
  const health = new NetworkHealth()
  const deps = { nft, readMachine, clock, random: seededRandom(1), log: silentLogger, health }
  const proxy = createServiceProxy({ nodeName: 'a', network }, deps)
  const stop = new AbortController()
  const running = proxy.run(stop.signal)
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' as const }]
  const serve = (address: string): void =>
    proxy.update([service('web', { clusterIP: '10.43.0.7', ports })], [slice('web', [{ address }])])
  serve('10.42.0.5')
  await clock.advance(1_000)
  state.isThere = false
  serve('10.42.0.6')
  await clock.advance(0)
  assert.equal(scripts.length, 2)
  assert.match(scripts[1] ?? '', /^add table[^]*10\.42\.0\.6/)
  assert.deepEqual(health.problems(), [])
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
})
