import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Taint, Toleration } from '@skerry/api'
import type { EvictionTask, ResourceBinding } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'
import { placementAnnotation } from '../placement/needs-placement.ts'
import { evictCluster } from './evict-cluster.ts'
import { planGracefulEviction } from './graceful-eviction.ts'
import { planTaintEviction } from './plan-taint-eviction.ts'
import { preservedState, withPreservedState } from './preserved-state.ts'

const nowMs = Date.parse('2026-03-01T00:01:00Z')
const minuteAgo = '2026-03-01T00:00:00Z'

function bindingWith(
  clusterTolerations: Toleration[],
  spec: Partial<ResourceBinding['spec']> = {},
): ResourceBinding {
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: {
      name: 'web-deployment',
      generation: 2,
      annotations: { [placementAnnotation]: JSON.stringify({ clusterTolerations }) },
    },
    spec: {
      resource: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      clusters: [{ name: 'shore', replicas: 2 }, { name: 'reef' }],
      ...spec,
    },
  }
}

function clusterWith(taints: Taint[]): Cluster {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'shore' },
    spec: { syncMode: 'Pull', taints },
  }
}

const storm: Taint = { key: 'storm', effect: 'NoExecute', timeAdded: minuteAgo }
const frost: Taint = { key: 'frost', effect: 'NoExecute', timeAdded: minuteAgo }
const tolerated = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
})

const byTaints: readonly [
  name: string,
  taints: Taint[],
  tolerations: Toleration[],
  wanted: { evicted: string[]; afterS?: number },
][] = [
  ['no taint evicts', [{ key: 'storm', effect: 'NoSchedule' }], [], { evicted: [] }],
  ['a taint is not tolerated', [storm], [], { evicted: ['shore'] }],
  ['a taint is tolerated for good', [storm], [tolerated('storm')], { evicted: [] }],
  [
    'a taint is tolerated for longer',
    [storm],
    [tolerated('storm', 90)],
    { evicted: [], afterS: 30 },
  ],
  ['a toleration is over', [storm], [tolerated('storm', 30)], { evicted: ['shore'] }],
  ['one of two is not tolerated', [storm, frost], [tolerated('storm')], { evicted: ['shore'] }],
  [
    'two are tolerated for a while',
    [storm, frost],
    [tolerated('storm', 90), tolerated('frost', 70)],
    { evicted: [], afterS: 10 },
  ],
]

for (const [name, taints, tolerations, wanted] of byTaints) {
  test(`where ${name}, the object ${wanted.evicted.length > 0 ? 'leaves' : 'stays'}`, () => {
    const plan = planTaintEviction(bindingWith(tolerations), [clusterWith(taints)], nowMs)
    assert.deepEqual(plan.evicted, wanted.evicted)
    const afterS = plan.afterMs === undefined ? undefined : Math.floor(plan.afterMs / 1000)
    assert.equal(afterS, wanted.afterS)
  })
}

const task: EvictionTask = {
  fromCluster: 'old',
  reason: 'TaintUntolerated',
  producer: 'TaintManager',
  creationTimestamp: minuteAgo,
}
const healthy = ['shore', 'reef'].map((clusterName) => ({
  clusterName,
  health: 'Healthy' as const,
}))

const byHealth: readonly [
  name: string,
  task: Partial<EvictionTask>,
  status: ResourceBinding['status'],
  isOver: boolean,
][] = [
  [
    'its successors are healthy',
    {},
    { aggregatedStatus: healthy, schedulerObservedGeneration: 2 },
    true,
  ],
  [
    'one of them is not known',
    {},
    { aggregatedStatus: healthy.slice(1), schedulerObservedGeneration: 2 },
    false,
  ],
  [
    'they are not decided',
    {},
    { aggregatedStatus: healthy, schedulerObservedGeneration: 1 },
    false,
  ],
  ['its time is over', { gracePeriodSeconds: 30 }, {}, true],
  ['a person must agree', { suppressDeletion: true, gracePeriodSeconds: 30 }, {}, false],
  ['a person has agreed', { suppressDeletion: false }, {}, true],
]

for (const [name, wanted, status, isOver] of byHealth) {
  test(`a copy ${isOver ? 'goes' : 'stays'} where ${name}`, () => {
    const gracefulEvictionTasks = [{ ...task, ...wanted }]
    const binding = { ...bindingWith([], { gracefulEvictionTasks }), status: status ?? {} }
    const plan = planGracefulEviction(binding, { nowMs, timeoutMs: 600_000 })
    assert.deepEqual(plan.evicted, isOver ? ['old'] : [])
  })
}

test('the time of an eviction begins when it is first seen, and its end ends the eviction', () => {
  const { creationTimestamp: _, ...made } = task
  const binding = bindingWith([], { gracefulEvictionTasks: [made] })
  const plan = planGracefulEviction(binding, { nowMs, timeoutMs: 600_000 })
  assert.deepEqual(plan.tasks, [{ ...made, creationTimestamp: '2026-03-01T00:01:00Z' }])
  assert.ok(plan.afterMs !== undefined && plan.afterMs > 600_000)
})

test('an eviction takes the cluster off, keeps its replicas in mind, and is not made twice', () => {
  const { creationTimestamp: _, ...wanted } = { ...task, fromCluster: 'shore' }
  const once = evictCluster(bindingWith([]).spec, wanted)
  assert.deepEqual(once.clusters, [{ name: 'reef' }])
  assert.deepEqual(once.gracefulEvictionTasks, [{ ...wanted, replicas: 2 }])
  const back = { ...once, clusters: [{ name: 'shore', replicas: 9 }] }
  assert.deepEqual(evictCluster(back, wanted).gracefulEvictionTasks, once.gracefulEvictionTasks)
})

test('preserved fields are read from the status, and waited for', () => {
  const rules = [{ aliasLabelName: 'example.com/job', jsonPath: '{.jobStatus.jobID}' }]
  const status = {
    aggregatedStatus: [{ clusterName: 'shore', status: { jobStatus: { jobID: 7 } } }],
  }
  assert.deepEqual(preservedState({ rules }, status, 'shore'), { 'example.com/job': '7' })
  assert.equal(preservedState(undefined, status, 'shore'), undefined)
  assert.throws(() => preservedState({ rules }, status, 'reef'), /not known yet/)
  const other = [{ aliasLabelName: 'x', jsonPath: '{.none}' }]
  assert.throws(() => preservedState({ rules: other }, status, 'shore'), /nothing at/)
})

test('an object that moves at once takes its state along, to a cluster where it was not', () => {
  const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } }
  const moved = {
    fromCluster: 'old',
    purgeMode: 'Directly' as const,
    reason: 'ApplicationFailure',
    producer: 'test',
    preservedLabelState: { 'example.com/job': '7' },
    clustersBeforeFailover: ['old', 'older'],
  }
  const labelsOf = (spec: Partial<ResourceBinding['spec']>, cluster = 'shore'): unknown =>
    withPreservedState(web, bindingWith([], spec).spec, cluster).metadata.labels
  const one = { clusters: [{ name: 'shore' }], gracefulEvictionTasks: [moved] }
  assert.deepEqual(labelsOf(one), { 'example.com/job': '7' })
  assert.equal(labelsOf({ gracefulEvictionTasks: [moved] }), undefined)
  assert.equal(labelsOf({ ...one, clusters: [{ name: 'older' }] }, 'older'), undefined)
  const slow = [{ ...moved, purgeMode: 'Gracefully' as const }]
  assert.equal(labelsOf({ ...one, gracefulEvictionTasks: slow }), undefined)
})
