import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease } from '@skerry/api'
import { NodeSigns } from './node-signs.ts'

const lease = (name: string, renewTime: string): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec: { renewTime },
})

test('a holder that stops renewing is missed within two seconds, and back with its next sign', () => {
  const signs = new NodeSigns(0)
  signs.onLease(lease('a', '1'), 0)
  signs.setHolders(new Set(['a']), 0)
  signs.onLease(lease('a', '2'), 20_000)
  assert.equal(signs.isAlive('a', 21_400), true)
  assert.equal(signs.untilNextMs(21_400), 50)
  assert.equal(signs.isAlive('a', 21_401), false)
  assert.equal(signs.untilNextMs(21_401), undefined)
  signs.setHolders(new Set(), 21_401)
  assert.equal(signs.isAlive('a', 22_000), false, 'it is no candidate either')
  signs.onLease(lease('a', '2'), 22_100)
  assert.equal(signs.isAlive('a', 22_200), false, 'nothing was renewed')
  signs.onLease(lease('a', '3'), 22_300)
  assert.equal(signs.isAlive('a', 22_400), true)
})

test('a node without addresses has its usual rhythm, and time to begin a faster one', () => {
  const signs = new NodeSigns(0)
  signs.onLease(lease('a', '1'), 0)
  signs.onLease(lease('a', '2'), 20_000)
  assert.equal(signs.isAlive('a', 35_000), true)
  assert.equal(signs.isAlive('a', 35_001), false)
  signs.onLease(lease('a', '3'), 36_000)
  signs.setHolders(new Set(['a']), 40_000)
  assert.equal(signs.isAlive('a', 43_000), true)
  assert.equal(signs.isAlive('a', 43_001), false)
})

test('a site that started, or stood still, gives nodes time before it misses them', () => {
  const signs = new NodeSigns(1_000)
  signs.setHolders(new Set(['a']), 1_000)
  assert.equal(signs.isAlive('a', 11_000), true)
  signs.onLease(lease('a', '1'), 10_000)
  signs.onLease(lease('a', '2'), 19_500)
  const waitMs = signs.untilNextMs(20_000) ?? 0
  assert.equal(waitMs, 901)
  // The next look comes five seconds late.
  signs.look(25_901)
  assert.equal(signs.isAlive('a', 25_901), true)
  assert.equal(signs.isAlive('a', 27_302), false)
})
