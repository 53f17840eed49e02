import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Taint } from '@skerry/api'
import type { Cluster, ClusterCondition } from '@skerry/fleet-kinds'
import type { ClusterTaintPolicy } from '@skerry/karmada-kinds'
import { taintsByPolicies, taintsByReadiness, taintsText } from './plan-taints.ts'

const nowMs = Date.parse('2026-03-01T00:00:00Z')
const storm: Taint = { key: 'storm', value: 'big', effect: 'NoExecute' }

function clusterWith(status: ClusterCondition['status'] | undefined, taints: Taint[]): Cluster {
  const condition = { type: 'Ready', reason: '', message: '', lastTransitionTime: '' }
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'shore' },
    spec: { syncMode: 'Pull', taints },
    status: { conditions: status === undefined ? [] : [{ ...condition, status }] },
  }
}

const notReady: Taint = { key: 'cluster.karmada.io/not-ready', effect: 'NoSchedule' }
const unreachable: Taint = { key: 'cluster.karmada.io/unreachable', effect: 'NoSchedule' }

const byReadiness: readonly [
  name: string,
  status: ClusterCondition['status'] | undefined,
  taints: Taint[],
  wanted: string,
][] = [
  ['says nothing yet', undefined, [], 'not-ready'],
  ['is ready', 'True', [], ''],
  ['is ready again', 'True', [notReady, storm, unreachable], 'storm'],
  ['is not ready', 'False', [storm, unreachable], 'storm not-ready'],
  ['is not heard of', 'Unknown', [notReady, storm], 'storm unreachable'],
  ['is still not heard of', 'Unknown', [unreachable], 'unreachable'],
]

for (const [name, status, taints, wanted] of byReadiness) {
  test(`a cluster that ${name} has the taints that say so`, () => {
    const planned = taintsByReadiness(clusterWith(status, taints), nowMs)
    assert.equal(keysOf(planned), wanted)
  })
}

function keysOf(taints: readonly Taint[]): string {
  return taints.map(({ key }) => key.replace('cluster.karmada.io/', '')).join(' ')
}

function policy(spec: Partial<ClusterTaintPolicy['spec']>, second = 0): ClusterTaintPolicy {
  const creationTimestamp = new Date(nowMs + second * 1000).toISOString()
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'ClusterTaintPolicy',
    metadata: { name: `policy-${second}`, creationTimestamp },
    spec: { taints: [{ key: 'storm', effect: 'NoExecute' }], ...spec },
  }
}

const isIll = { conditionType: 'Ready', operator: 'NotIn', statusValues: ['True'] } as const
const isWell = { conditionType: 'Ready', operator: 'In', statusValues: ['True'] } as const
const isOdd = { conditionType: 'Odd', operator: 'NotIn', statusValues: ['True'] } as const
const on = (...addOnConditions: (typeof isIll | typeof isWell | typeof isOdd)[]) => ({
  addOnConditions: addOnConditions.map((each) => ({ ...each, statusValues: ['True' as const] })),
})
const off = { removeOnConditions: [{ ...isWell, statusValues: ['True' as const] }] }
const elsewhere = { clusterNames: ['reef'] }

const byPolicies: readonly [
  name: string,
  status: ClusterCondition['status'],
  policies: ClusterTaintPolicy[],
  wanted: string,
][] = [
  ['is met', 'False', [policy(on(isIll))], 'kept storm'],
  ['is not met', 'True', [policy(on(isIll))], 'kept'],
  ['names a condition that the cluster has not', 'False', [policy(on(isIll, isOdd))], 'kept'],
  ['names no condition', 'False', [policy({})], 'kept'],
  ['means another cluster', 'False', [policy({ ...on(isIll), targetClusters: elsewhere })], 'kept'],
  ['is older than one that removes', 'True', [policy(off, 1), policy(on(isWell), 0)], 'kept'],
  ['is newer than one that removes', 'True', [policy(off, 0), policy(on(isWell), 1)], 'kept storm'],
]

for (const [name, status, policies, wanted] of byPolicies) {
  test(`a policy that ${name} leaves the taints it should`, () => {
    const cluster = clusterWith(status, [{ key: 'kept', effect: 'NoSchedule' }])
    assert.equal(keysOf(taintsByPolicies(cluster, policies, nowMs)), wanted)
  })
}

test('an existing taint keeps its time and its value', () => {
  const old = { ...storm, timeAdded: '2026-01-01T00:00:00Z' }
  const planned = taintsByPolicies(clusterWith('False', [old]), [policy(on(isIll))], nowMs)
  assert.deepEqual(planned, [old])
})

test('taints are reported as Karmada reports them', () => {
  const told = 'cluster now has taints([{Key:storm,Value:big,Effect:NoExecute}])'
  assert.equal(taintsText([storm]), told)
  assert.equal(taintsText([]), 'cluster now does not have taints')
})
