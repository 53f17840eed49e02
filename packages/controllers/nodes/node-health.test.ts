import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod, Taint } from '@skerry/api'
import { simulatedClock } from '@skerry/base'
import { nextPodCidr } from './node-ipam.ts'
import { planTaints, silentConditions } from './node-health.ts'
import { addedMs, planEviction } from './plan-eviction.ts'

const at = '2026-01-01T00:00:00Z'

function node(
  ready: string | undefined,
  rest: { spec?: Node['spec']; pressure?: string } = {},
): Node {
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: ready }]
  if (rest.pressure !== undefined) conditions.push({ type: rest.pressure, status: 'True' })
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n' },
    spec: rest.spec ?? {},
    status: { conditions },
  }
}

const own: Taint = { key: 'dedicated', value: 'x', effect: 'NoSchedule' }

const taints: { name: string; node: Node; expected: string[] | undefined }[] = [
  {
    name: 'a ready node keeps the taints that a person set',
    node: node('True', { spec: { taints: [own] } }),
    expected: undefined,
  },
  {
    name: 'a node that says it is not ready',
    node: node('False', { spec: { taints: [own] } }),
    expected: [
      'dedicated:NoSchedule',
      'node.kubernetes.io/not-ready:NoSchedule',
      'node.kubernetes.io/not-ready:NoExecute',
    ],
  },
  {
    name: 'a silent node',
    node: node('Unknown'),
    expected: [
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ],
  },
  {
    name: 'a node that came back',
    node: node('True', {
      spec: {
        taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: at }],
      },
    }),
    expected: [],
  },
  {
    name: 'a cordoned node',
    node: node('True', { spec: { unschedulable: true } }),
    expected: ['node.kubernetes.io/unschedulable:NoSchedule'],
  },
  {
    name: 'a full disk',
    node: node('True', { pressure: 'DiskPressure' }),
    expected: ['node.kubernetes.io/disk-pressure:NoSchedule'],
  },
]

for (const row of taints) {
  test(`taints: ${row.name}`, () => {
    assert.deepEqual(
      planTaints(row.node, at)?.map((taint) => `${taint.key}:${taint.effect}`),
      row.expected,
    )
  })
}

test('a silent node becomes Unknown once, a node that never spoke too', () => {
  const unknown = silentConditions(node('True'), at)
  assert.equal(unknown?.find((each) => each.type === 'Ready')?.reason, 'NodeStatusUnknown')
  assert.equal(silentConditions(node(undefined), at)?.[0]?.reason, 'NodeStatusNeverUpdated')
  const silent = { ...node('True'), status: { conditions: unknown } }
  assert.equal(silentConditions(silent, at), undefined)
})

function pod(tolerations: NonNullable<Pod['spec']>['tolerations']): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [], tolerations },
  }
}

const unreachable: Taint = {
  key: 'node.kubernetes.io/unreachable',
  effect: 'NoExecute',
  timeAdded: at,
}

const evictions: {
  name: string
  tolerations: NonNullable<Pod['spec']>['tolerations']
  expected: number | undefined
}[] = [
  { name: 'no toleration: at once', tolerations: [], expected: 0 },
  { name: 'tolerated for good: never', tolerations: [{ operator: 'Exists' }], expected: undefined },
  {
    name: 'tolerated for five minutes, two of them gone',
    tolerations: [
      { key: unreachable.key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
    expected: 180_000,
  },
]

for (const row of evictions) {
  test(`eviction: ${row.name}`, () => {
    const clock = simulatedClock(Date.parse(at) + 120_000)
    const sinceMs = (taint: Taint): number => addedMs(taint, clock)
    const nowMs = clock.monotonicMs()
    assert.equal(
      planEviction(pod(row.tolerations), [unreachable], { nowMs, sinceMs }),
      row.expected,
    )
  })
}

test('each node gets the first free range, and none when all are taken', () => {
  const options = { clusterCidr: '10.42.0.0/23', nodeMaskSize: 24 }
  const first: Node = { ...node('True'), spec: { podCIDR: '10.42.0.0/24' } }
  const second: Node = { ...node('True'), spec: { podCIDR: '10.42.1.0/24' } }
  assert.equal(nextPodCidr([], options), '10.42.0.0/24')
  assert.equal(nextPodCidr([second], options), '10.42.0.0/24')
  assert.equal(nextPodCidr([first], options), '10.42.1.0/24')
  assert.equal(nextPodCidr([first, second], options), undefined)
  const wide = { clusterCidr: '10.42.0.0/16', nodeMaskSize: 24 }
  const block = '10.42.248.0/21'
  assert.equal(nextPodCidr([first], wide, { within: block, without: [] }), '10.42.248.0/24')
  const low = { without: ['10.42.0.0/21'] }
  assert.equal(nextPodCidr([], wide, low), '10.42.8.0/24', 'nothing that is set aside')
})
