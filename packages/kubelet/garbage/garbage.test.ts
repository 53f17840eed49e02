import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import type { Image } from '../cri/container-runtime.ts'
import { chooseVictim, pressures, type PodUsage } from './eviction.ts'
import { planImageGarbage } from './image-garbage.ts'

const image = (id: string, size: number): Image => ({
  id,
  repoTags: [`${id}:1`],
  repoDigests: [],
  size,
  uid: undefined,
  username: '',
})
const use = (id: string, lastUsedMs: number, firstSeenMs = 0) => ({
  image: image(id, 10),
  lastUsedMs,
  firstSeenMs,
})
const nowMs = 1_000_000

test('unused images are removed, the longest unused first, until enough space is free', () => {
  const plan = (usedBytes: number): string[] =>
    planImageGarbage({
      images: [use('new', 900, nowMs - 1), use('b', 500), use('a', 100), use('used', 0)],
      inUse: new Set(['used:1']),
      disk: { usedBytes, capacityBytes: 100 },
      nowMs,
    }).map(({ id }) => id)
  assert.deepEqual(plan(84), [])
  assert.deepEqual(plan(86), ['a'])
  assert.deepEqual(plan(99), ['a', 'b'])
})

function usage(
  name: string,
  memoryBytes: number,
  fields: { request?: string; priority?: number; isStatic?: boolean } = {},
): PodUsage {
  const { request, priority = 0, isStatic } = fields
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(isStatic ? { annotations: { 'kubernetes.io/config.source': 'file' } } : {}),
    },
    spec: {
      priority,
      containers: [
        { name: 'main', ...(request ? { resources: { requests: { memory: request } } } : {}) },
      ],
    },
  }
  return { pod, memoryBytes, diskBytes: 0 }
}

const victims: [string, PodUsage[], string | undefined][] = [
  [
    'a pod that exceeds its requests goes before one that does not',
    [usage('modest', 500, { request: '1k' }), usage('greedy', 10)],
    'greedy',
  ],
  ['then the lower priority', [usage('high', 900, { priority: 5 }), usage('low', 10)], 'low'],
  ['then the larger excess', [usage('some', 10), usage('much', 900)], 'much'],
  [
    'static and system pods are spared',
    [usage('static', 900, { isStatic: true }), usage('system', 900, { priority: 2_000_000_000 })],
    undefined,
  ],
]

for (const [name, pods, expected] of victims) {
  test(`eviction: ${name}`, () => {
    assert.equal(chooseVictim(pods, 'memory')?.pod.metadata.name, expected)
  })
}

test('pressure begins at its threshold', () => {
  const fine = {
    memoryAvailableBytes: 1e9,
    diskAvailableShare: 0.5,
    inodesFreeShare: 0.5,
    pidsFreeShare: 0.5,
  }
  assert.deepEqual([...pressures(fine)], [])
  assert.deepEqual([...pressures({ ...fine, memoryAvailableBytes: 1e6 })], ['memory'])
  assert.deepEqual([...pressures({ ...fine, inodesFreeShare: 0.01 })], ['disk'])
})
