import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '@skerry/fleet-kinds'
import type { OverridePolicy, Placement, PropagationPolicy } from '@skerry/karmada-kinds'
import { previewOverrides, previewPlacement } from './preview-policy.ts'

const apiVersion = 'policy.karmada.io/v1alpha1'

function cluster(name: string, labels: Record<string, string> = {}, kind = 'Deployment'): Cluster {
  const enabled = { groupVersion: 'apps/v1', resources: [{ name: 'x', kind }] }
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels },
    spec: { syncMode: 'Pull' },
    status: { apiEnablements: [enabled] },
  }
}

const clusters = [
  cluster('reef', { tier: 'edge' }),
  cluster('pilot', { tier: 'edge' }),
  cluster('office'),
  cluster('old', { tier: 'edge' }, 'Pod'),
]

function policy(spec: Partial<PropagationPolicy['spec']>): PropagationPolicy {
  const resourceSelectors = [{ apiVersion: 'apps/v1', kind: 'Deployment' }]
  return {
    apiVersion,
    kind: 'PropagationPolicy',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { resourceSelectors, ...spec },
  }
}

test('a preview names the clusters that would be chosen, and why others do not fit', () => {
  const placement = { clusterAffinity: { labelSelector: { matchLabels: { tier: 'edge' } } } }
  const preview = previewPlacement(policy({ placement }), clusters, undefined)
  assert.equal(preview.reason, 'Success')
  assert.deepEqual(preview.clusters.map(({ name }) => name).toSorted(), ['pilot', 'reef'])
  assert.deepEqual(
    preview.refused.map(({ cluster: name, reasons }) => [name, reasons]),
    [
      ['office', ['cluster(s) did not match the placement cluster affinity constraint']],
      ['old', ['cluster(s) did not have the API resource']],
    ],
  )
})

test('a preview divides replicas as the policy says', () => {
  const placement: Placement = {
    clusterAffinity: { clusterNames: ['reef', 'pilot'] },
    replicaScheduling: {
      replicaSchedulingType: 'Divided',
      replicaDivisionPreference: 'Weighted',
      weightPreference: {
        staticWeightList: [
          { targetCluster: { clusterNames: ['reef'] }, weight: 2 },
          { targetCluster: { clusterNames: ['pilot'] }, weight: 1 },
        ],
      },
    },
  }
  const { clusters: chosen } = previewPlacement(policy({ placement }), clusters, 6)
  assert.deepEqual(Object.fromEntries(chosen.map(({ name, replicas }) => [name, replicas])), {
    reef: 4,
    pilot: 2,
  })
})

test('a policy that fits nowhere says so', () => {
  const placement = { clusterAffinity: { clusterNames: ['nowhere'] } }
  const preview = previewPlacement(policy({ placement }), clusters, undefined)
  assert.equal(preview.reason, 'NoClusterFit')
  assert.match(preview.message, /^0\/4 clusters are available/)
  assert.deepEqual(preview.clusters, [])
})

test('each rule of an override policy lists its clusters', () => {
  const rules: OverridePolicy = {
    apiVersion,
    kind: 'OverridePolicy',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      overrideRules: [{ overriders: {} }, { targetCluster: { exclude: ['reef'] }, overriders: {} }],
    },
  }
  assert.deepEqual(previewOverrides(rules, clusters), [
    { rule: 0, clusters: ['office', 'old', 'pilot', 'reef'] },
    { rule: 1, clusters: ['office', 'old', 'pilot'] },
  ])
  const old = { ...rules, spec: { targetCluster: { clusterNames: ['pilot'] }, overriders: {} } }
  assert.deepEqual(previewOverrides(old, clusters), [{ rule: 0, clusters: ['pilot'] }])
  assert.deepEqual(previewOverrides({ ...rules, spec: {} }, clusters), [])
})
