import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceClaim, ResourceSlice } from '@skerry/api'
import { evictionMs } from './device-taint-plan.ts'

const timeAdded = '2026-06-01T00:00:00Z'
const addedMs = Date.parse(timeAdded)
const hot = { key: 'hot', effect: 'NoExecute', timeAdded }
const tolerated = { key: 'hot', operator: 'Exists', effect: 'NoExecute' }

type Taints = NonNullable<NonNullable<ResourceSlice['spec']['devices']>[number]['taints']>

function slice(taints: Taints, generation = 1): ResourceSlice {
  const pool = { name: 'pool', generation, resourceSliceCount: 1 }
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: `slice-${generation}` },
    spec: { driver: 'd', pool, devices: [{ name: 'a', taints }] },
  }
}

function claim(tolerations: readonly object[]): ResourceClaim {
  const result = { request: 'card', driver: 'd', pool: 'pool', device: 'a' }
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'claim' },
    spec: {},
    status: {
      allocation: { devices: { results: [{ ...result, tolerations: [...tolerations] }] } },
    },
  }
}

const cases: {
  name: string
  slices: readonly ResourceSlice[]
  tolerations?: readonly object[]
  afterMs: number | undefined
}[] = [
  { name: 'no taint', slices: [slice([])], afterMs: undefined },
  { name: 'no device', slices: [], afterMs: undefined },
  { name: 'one that is not tolerated', slices: [slice([hot])], afterMs: 0 },
  {
    name: 'one that keeps new pods away',
    slices: [slice([{ ...hot, effect: 'NoSchedule' }])],
    afterMs: undefined,
  },
  {
    name: 'tolerated for ever',
    slices: [slice([hot])],
    tolerations: [tolerated],
    afterMs: undefined,
  },
  {
    name: 'tolerated for the least of two times',
    slices: [slice([hot])],
    tolerations: [
      { ...tolerated, tolerationSeconds: 60 },
      { ...tolerated, tolerationSeconds: 30 },
    ],
    afterMs: 30_000,
  },
  {
    name: 'a toleration of every effect is none of this one',
    slices: [slice([hot])],
    tolerations: [{ key: 'hot', operator: 'Exists' }],
    afterMs: 0,
  },
  {
    name: 'of two taints the first to end',
    slices: [slice([hot, { ...hot, key: 'loud' }])],
    tolerations: [tolerated, { ...tolerated, key: 'loud', tolerationSeconds: 10 }],
    afterMs: 10_000,
  },
  {
    name: 'of a former generation of the pool',
    slices: [slice([hot]), slice([], 2)],
    afterMs: undefined,
  },
]

for (const { name, slices, tolerations = [], afterMs } of cases) {
  test(`a claim's pods go by the taints of its devices: ${name}`, () => {
    const expected = afterMs === undefined ? undefined : addedMs + afterMs
    assert.equal(
      evictionMs(claim(tolerations), () => slices),
      expected,
    )
  })
}
