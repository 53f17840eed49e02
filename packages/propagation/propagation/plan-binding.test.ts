import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import type { BindingSpec, PropagationPolicy, ResourceBinding } from '@skerry/karmada-kinds'
import { mergedBinding, plannedBinding } from './plan-binding.ts'

type PropagationSpec = PropagationPolicy['spec']

const template: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    namespace: 'shop',
    name: 'web',
    uid: 'u',
    resourceVersion: '7',
    labels: { team: 'tills', site: 'reef' },
  },
}
const resource = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: 'shop',
  name: 'web',
  uid: 'u',
  resourceVersion: '7',
}

function policy(spec: Partial<PropagationSpec>): PropagationPolicy {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: {
      namespace: 'shop',
      name: 'web',
      labels: { 'propagationpolicy.karmada.io/permanent-id': 'p' },
    },
    spec: { resourceSelectors: [], ...spec },
  }
}

function planned(spec: Partial<PropagationSpec>): ResourceBinding {
  return plannedBinding({ template, policy: policy(spec) })
}

test("a policy's settings for an object are on the object's binding", () => {
  const failover = { cluster: { purgeMode: 'Gracefully' } } as const
  const placement = { clusterAffinity: { clusterNames: ['reef'] } }
  const table: [Partial<PropagationSpec>, Partial<BindingSpec>][] = [
    [{}, { placement: {} }],
    [{ placement }, { placement }],
    [{ propagateDeps: true }, { propagateDeps: true }],
    [{ schedulerName: 'tides' }, { schedulerName: 'tides' }],
    [{ failover }, { failover }],
    [{ conflictResolution: 'Overwrite' }, { conflictResolution: 'Overwrite' }],
    [{ suspension: { dispatching: true } }, { suspension: { dispatching: true } }],
    [{ preserveResourcesOnDeletion: true }, { preserveResourcesOnDeletion: true }],
    // The binding does not hold the fields that decide which policy claims an object, and when.
    [{ priority: 3, preemption: 'Always', activationPreference: 'Lazy' }, {}],
    [{ dependentOverrides: ['web'], resourceSelectors: [] }, {}],
  ]
  for (const [given, expected] of table) {
    const { spec } = planned(given)
    assert.deepEqual(spec, { resource, placement: {}, ...expected }, JSON.stringify(given))
  }
})

test('objects with the same value of a label are in one group, near or apart', () => {
  const affinity = { groupByLabelKey: 'team' }
  const antiAffinity = { groupByLabelKey: 'site' }
  const table = [
    [
      { affinity, antiAffinity },
      { affinityGroup: 'team=tills', antiAffinityGroup: 'site=reef' },
    ],
    [{ affinity }, { affinityGroup: 'team=tills' }],
    [{ affinity: { groupByLabelKey: 'none' } }, undefined],
  ] as const
  for (const [workloadAffinity, expected] of table) {
    const { spec } = planned({ placement: { workloadAffinity } })
    assert.deepEqual(spec.workloadAffinityGroups, expected)
  }
})

test('decisions of the scheduler, evictions and other objects stay on a binding', () => {
  const decided: Partial<BindingSpec> = {
    clusters: [{ name: 'reef', replicas: 2 }],
    gracefulEvictionTasks: [{ fromCluster: 'shore', reason: 'Test', producer: 'test' }],
    requiredBy: [{ namespace: 'shop', name: 'other-deployment' }],
    rescheduleTriggeredAt: '2026-01-01T00:00:00Z',
    suspension: { scheduling: true, dispatching: true },
  }
  const known = planned({ schedulerName: 'tides', preserveResourcesOnDeletion: true })
  const told = { ...known, spec: { ...known.spec, ...decided } }
  const { spec } = mergedBinding(told, planned({ propagateDeps: true }))
  assert.deepEqual(spec, {
    resource,
    placement: {},
    propagateDeps: true,
    ...decided,
    suspension: { scheduling: true },
  })
})

test("the claim of the namespace's policy wins over another one", () => {
  const known = planned({})
  const metadata = {
    ...known.metadata,
    labels: { 'clusterpropagationpolicy.karmada.io/permanent-id': 'c', own: 'yes' },
    annotations: { 'clusterpropagationpolicy.karmada.io/name': 'all' },
    finalizers: ['example.com/own'],
  }
  const merged = mergedBinding({ ...known, metadata }, known)
  assert.deepEqual(merged.metadata.labels, {
    own: 'yes',
    'propagationpolicy.karmada.io/permanent-id': 'p',
  })
  assert.deepEqual(merged.metadata.annotations, {
    'propagationpolicy.karmada.io/namespace': 'shop',
    'propagationpolicy.karmada.io/name': 'web',
  })
  assert.deepEqual(merged.metadata.finalizers, ['example.com/own', 'karmada.io/binding-controller'])
})
