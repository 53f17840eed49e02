import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import type { BindingSpec, ResourceBinding } from '@skerry/karmada-kinds'
import { namespacedBindings } from './binding-scope.ts'
import { keepingClusters, purgedClusters, targetsOf } from './binding-targets.ts'
import { dividedCompletions } from './cluster-manifest.ts'
import { plannedWork, workPatch } from './plan-work.ts'

const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' }

function binding(spec: Partial<BindingSpec> = {}): ResourceBinding {
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: {
      namespace: 'shop',
      name: 'web-deployment',
      labels: { 'resourcebinding.karmada.io/permanent-id': 'b' },
    },
    spec: { resource, ...spec },
  }
}

function template(annotations: Record<string, string> = {}): AnyObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'shop', name: 'web', uid: 'u', generation: 3, annotations },
    spec: { replicas: 2 },
  }
}

function work(spec: Partial<BindingSpec> = {}, annotations: Record<string, string> = {}) {
  const object = template(annotations)
  const given = { scope: namespacedBindings, binding: binding(spec) }
  return plannedWork({ ...given, template: object, manifest: object, cluster: 'reef' })
}

test('a Work is called, labelled and annotated as Karmada does it', () => {
  const made = work()
  const origin = {
    'resourcebinding.karmada.io/namespace': 'shop',
    'resourcebinding.karmada.io/name': 'web-deployment',
  }
  assert.deepEqual(made.metadata, {
    namespace: 'karmada-es-reef',
    name: 'web-56d6c779bb',
    labels: { 'resourcebinding.karmada.io/permanent-id': 'b' },
    annotations: { ...origin, 'work.karmada.io/conflict-resolution': 'abort' },
  })
  assert.deepEqual(made.spec.workload?.manifests?.[0]?.metadata.annotations, {
    'resourcetemplate.karmada.io/uid': 'u',
    'resourcetemplate.karmada.io/generation': '3',
    ...origin,
    'work.karmada.io/conflict-resolution': 'abort',
  })
})

test("an object's own conflict resolution comes before that of its policy", () => {
  const key = 'work.karmada.io/conflict-resolution'
  const table: [BindingSpec['conflictResolution'], string | undefined, string][] = [
    [undefined, undefined, 'abort'],
    ['Overwrite', undefined, 'overwrite'],
    ['Overwrite', 'abort', 'abort'],
    ['Abort', 'overwrite', 'overwrite'],
    ['Overwrite', 'perhaps', 'overwrite'],
  ]
  for (const [ofPolicy, own, expected] of table) {
    const spec = ofPolicy ? { conflictResolution: ofPolicy } : {}
    const made = work(spec, own ? { [key]: own } : {})
    assert.equal(made.metadata.annotations?.[key], expected, `${ofPolicy} ${own}`)
  }
})

test('an override may set the conflict resolution for one cluster', () => {
  const key = 'work.karmada.io/conflict-resolution'
  const object = template()
  const annotations = { [key]: 'overwrite' }
  const manifest = { ...object, metadata: { ...object.metadata, annotations } }
  const given = { scope: namespacedBindings, binding: binding(), cluster: 'reef' }
  const made = plannedWork({ ...given, template: object, manifest })
  assert.equal(made.metadata.annotations?.[key], 'overwrite')
  assert.equal(made.spec.workload?.manifests?.[0]?.metadata.annotations?.[key], 'overwrite')
})

test('a Work is suspended where its binding says so, and preserved with it', () => {
  const onReef = { dispatchingOnClusters: { clusterNames: ['reef'] } }
  const onShore = { dispatchingOnClusters: { clusterNames: ['shore'] } }
  assert.equal(work({ suspension: { dispatching: true } }).spec.suspendDispatching, true)
  assert.equal(work({ suspension: onReef }).spec.suspendDispatching, true)
  assert.equal(work({ suspension: onShore }).spec.suspendDispatching, false)
  assert.equal(work({ preserveResourcesOnDeletion: true }).spec.preserveResourcesOnDeletion, true)
})

test('a Work that is as planned is not written again', () => {
  const planned = work()
  const id = { ...planned.metadata.labels, 'work.karmada.io/permanent-id': 'w' }
  const known = { ...planned, metadata: { ...planned.metadata, labels: id } }
  assert.equal(workPatch(known, planned), undefined)
  const old = { 'policy.karmada.io/applied-overrides': '[]' }
  const annotations = { ...known.metadata.annotations, ...old }
  const overridden = { ...known, metadata: { ...known.metadata, annotations } }
  assert.notEqual(workPatch(overridden, planned), undefined)
  assert.notEqual(workPatch(known, work({ suspension: { dispatching: true } })), undefined)
})

test('an object is where its scheduler, its parents and evictions put it', () => {
  const spec: BindingSpec = {
    resource,
    clusters: [{ name: 'reef', replicas: 2 }],
    requiredBy: [{ name: 'parent', clusters: [{ name: 'reef', replicas: 9 }, { name: 'shore' }] }],
    gracefulEvictionTasks: [
      { fromCluster: 'cove', reason: '', producer: '', purgeMode: 'Graciously' },
      { fromCluster: 'mole', reason: '', producer: '', purgeMode: 'Immediately' },
    ],
  }
  assert.deepEqual(targetsOf(spec), [{ name: 'reef', replicas: 2 }, { name: 'shore' }])
  assert.deepEqual([...keepingClusters(spec)], ['reef', 'shore', 'cove'])
  assert.deepEqual([...purgedClusters(spec)], ['mole'])
})

test('the completions of a Job are divided as its replicas are', () => {
  const job: AnyObject = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'count' },
    spec: { completions: 9, parallelism: 3 },
  }
  const targets = [
    { name: 'reef', replicas: 2 },
    { name: 'shore', replicas: 1 },
  ]
  const placement = { replicaScheduling: { replicaSchedulingType: 'Divided' } } as const
  const divided = dividedCompletions(job, { resource, replicas: 3, placement }, targets)
  assert.deepEqual(Object.fromEntries(divided ?? []), { reef: 6, shore: 3 })
  assert.equal(dividedCompletions(job, { resource, replicas: 3 }, targets), undefined)
})
