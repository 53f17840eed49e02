import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import { inDeletionOrder } from './deletion-order.ts'

const nowMs = Date.parse('2026-01-01T12:00:00Z')
const ago = (seconds: number): string => new Date(nowMs - seconds * 1000).toISOString()

interface Traits {
  node?: string
  phase?: string
  readySeconds?: number
  cost?: string
  restarts?: number
  ageSeconds?: number
}

function pod(name: string, traits: Traits): Pod {
  const {
    node = 'n1',
    phase = 'Running',
    readySeconds,
    cost,
    restarts = 0,
    ageSeconds = 600,
  } = traits
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: name,
      creationTimestamp: ago(ageSeconds),
      ...(cost ? { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } } : {}),
    },
    spec: { containers: [], ...(node ? { nodeName: node } : {}) },
    status: {
      phase,
      conditions:
        readySeconds === undefined
          ? []
          : [{ type: 'Ready', status: 'True', lastTransitionTime: ago(readySeconds) }],
      containerStatuses: [
        { name: 'c', image: '', imageID: '', ready: true, restartCount: restarts },
      ],
    },
  }
}

const cases: [string, Traits, Traits][] = [
  ['unassigned before assigned', { node: '', phase: 'Pending' }, { phase: 'Pending' }],
  ['pending before running', { phase: 'Pending' }, {}],
  ['unready before ready', {}, { readySeconds: 60 }],
  ['cheap before dear', { readySeconds: 60, cost: '-1' }, { readySeconds: 60 }],
  ['ready for a short time before ready for long', { readySeconds: 10 }, { readySeconds: 500 }],
  ['often restarted before calm', { restarts: 3 }, { restarts: 1 }],
  ['young before old', { ageSeconds: 10 }, { ageSeconds: 500 }],
]

for (const [name, first, second] of cases) {
  test(`a scale-down takes ${name}`, () => {
    const pods = [pod('b', second), pod('a', first)]
    assert.deepEqual(
      inDeletionOrder(pods, [], nowMs).map(({ metadata }) => metadata.name),
      ['a', 'b'],
    )
  })
}

test('a scale-down takes from the node with most siblings first', () => {
  const pods = [
    pod('b', { node: 'n1', readySeconds: 60 }),
    pod('a', { node: 'n2', readySeconds: 60 }),
  ]
  const sibling = pod('c', { node: 'n2', readySeconds: 60 })
  const [first] = inDeletionOrder(pods, [...pods, sibling], nowMs)
  assert.equal(first?.metadata.name, 'a')
})
