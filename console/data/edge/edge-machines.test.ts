import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeClusterObject } from './edge-cluster.ts'
import { removalPatch } from './edge-machines.ts'

const credentials = { name: 'ssh' }
const range = { addresses: ['10.0.0.[12-14]', 'till'], credentials, hostKeys: ['SHA256:x'] }
const single = { addresses: ['10.0.0.20'], role: 'Node' as const, credentials }
const edge: EdgeClusterObject = {
  metadata: {
    name: 'a',
    namespace: 'default',
    resourceVersion: '7',
    annotations: { 'hub.skerry.io/dead': '10.0.0.9' },
  },
  spec: { machines: [range, single] },
}

test('a machine leaves its range, and the others stay', () => {
  assert.deepEqual(removalPatch(edge, { address: '10.0.0.13', isDead: false }), {
    metadata: { resourceVersion: '7' },
    spec: { machines: [{ ...range, addresses: ['10.0.0.12', '10.0.0.14', 'till'] }, single] },
  })
  assert.deepEqual(removalPatch(edge, { address: '10.0.0.20', isDead: false }), {
    metadata: { resourceVersion: '7' },
    spec: { machines: [range] },
  })
})

test('a machine that takes the place of a dead one has its block, but not its host keys', () => {
  const dead = { address: 'till', isDead: true }
  const next = { address: ' 10.0.0.30', acceptsNewKeys: true }
  assert.deepEqual(removalPatch(edge, dead, next), {
    metadata: {
      resourceVersion: '7',
      annotations: { 'hub.skerry.io/dead': '10.0.0.9,till' },
    },
    spec: {
      machines: [
        { ...range, addresses: ['10.0.0.[12-14]'] },
        single,
        { addresses: ['10.0.0.30'], credentials, acceptNewHostKeys: true },
      ],
    },
  })
})

test('a machine that is leaving already can be called dead, and the others stay as they are', () => {
  assert.deepEqual(removalPatch(edge, { address: '10.0.0.8', isDead: true }), {
    metadata: {
      resourceVersion: '7',
      annotations: { 'hub.skerry.io/dead': '10.0.0.9,10.0.0.8' },
    },
  })
})
