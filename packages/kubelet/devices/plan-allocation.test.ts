import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import { chosenOf, deviceRequests, planAllocation } from './plan-allocation.ts'

const resource = 'example.com/dial'
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', uid: 'u' },
  spec: {
    initContainers: [{ name: 'first' }, { name: 'sidecar', restartPolicy: 'Always' }],
    containers: [{ name: 'main' }],
  },
}

function plan(facts: {
  count: number
  healthy: readonly string[]
  own?: Readonly<Record<string, readonly string[]>>
  taken?: readonly string[]
  container?: string
}) {
  const { count, healthy, own = {}, taken = [], container = 'main' } = facts
  return planAllocation({
    pod,
    container,
    request: { resource, count },
    healthy: new Set(healthy),
    own: new Map(Object.entries(own)),
    taken: new Set(taken),
  })
}

test('free healthy devices are offered', () => {
  assert.deepEqual(plan({ count: 1, healthy: ['c', 'a', 'b'], taken: ['b'] }), {
    kind: 'choose',
    mustInclude: [],
    available: ['a', 'c'],
    count: 1,
  })
})

test('a container keeps its devices, and waits while one of them is ill', () => {
  const own = { main: ['a', 'b'] }
  assert.deepEqual(plan({ count: 2, healthy: ['a', 'b', 'c'], own }), {
    kind: 'kept',
    ids: ['a', 'b'],
  })
  assert.deepEqual(plan({ count: 2, healthy: ['a', 'c'], own }), {
    kind: 'short',
    message: 'example.com/dial: devices b are not healthy',
  })
})

test('devices of an init container that has ended go on to the next, those of a sidecar do not', () => {
  const own = { first: ['a'], sidecar: ['b'] }
  assert.deepEqual(plan({ count: 2, healthy: ['a', 'b', 'c', 'd'], own }), {
    kind: 'choose',
    mustInclude: ['a'],
    available: ['a', 'c', 'd'],
    count: 2,
  })
  assert.equal(plan({ count: 3, healthy: ['a', 'b', 'c'], own }).kind, 'short')
})

test('too few devices are said as upstream says it', () => {
  assert.deepEqual(plan({ count: 2, healthy: ['a', 'b'], taken: ['a'] }), {
    kind: 'short',
    message:
      'requested number of devices unavailable for example.com/dial. Requested: 2, Available: 1',
  })
})

test("a plugin's preference counts only if it is one of the offers", () => {
  const offer = {
    kind: 'choose' as const,
    mustInclude: ['a'],
    available: ['a', 'b', 'c'],
    count: 2,
  }
  assert.deepEqual(chosenOf(offer, ['c', 'a']), ['c', 'a'])
  for (const wrong of [[], ['a'], ['b', 'c'], ['a', 'a'], ['a', 'z'], ['a', 'b', 'c']]) {
    assert.deepEqual(chosenOf(offer, wrong), ['a', 'b'], String(wrong))
  }
})

test('only extended resources are asked of plugins', () => {
  const limits = {
    cpu: '1',
    'hugepages-2Mi': '2Mi',
    'kubernetes.io/x': '1',
    'batch.kubernetes.io/x': '1',
    'example.com/dial': '2',
    'example.com/none': '0',
  }
  assert.deepEqual(deviceRequests({ resources: { limits } }), [{ resource, count: 2 }])
})
