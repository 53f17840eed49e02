import assert from 'node:assert/strict'
import { test } from 'node:test'
import { healthOf } from './health.ts'

type Case = readonly [kind: string, spec: object, status: object, health: string]

const rolledOut = { observedGeneration: 2, updatedReplicas: 3, availableReplicas: 3 }
const balanced = { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } }
const ready = [{ type: 'Ready', status: 'True' }]

const cases: readonly Case[] = [
  ['apps/v1 Deployment', { replicas: 3 }, rolledOut, 'Healthy'],
  ['apps/v1 Deployment', { replicas: 3 }, { ...rolledOut, observedGeneration: 1 }, 'Unhealthy'],
  ['apps/v1 Deployment', { replicas: 4 }, rolledOut, 'Unhealthy'],
  ['apps/v1 Deployment', { replicas: 3 }, { ...rolledOut, availableReplicas: 2 }, 'Unhealthy'],
  ['apps/v1 Deployment', { replicas: 3 }, {}, 'Unhealthy'],
  ['apps/v1 StatefulSet', { replicas: 3 }, rolledOut, 'Healthy'],
  ['apps/v1 StatefulSet', { replicas: 3 }, { ...rolledOut, updatedReplicas: 1 }, 'Unhealthy'],
  ['apps/v1 ReplicaSet', { replicas: 3 }, rolledOut, 'Healthy'],
  ['apps/v1 ReplicaSet', { replicas: 3 }, { ...rolledOut, availableReplicas: 1 }, 'Unhealthy'],
  ['apps/v1 DaemonSet', {}, { observedGeneration: 2 }, 'Healthy'],
  [
    'apps/v1 DaemonSet',
    {},
    { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 1 },
    'Unhealthy',
  ],
  [
    'apps/v1 DaemonSet',
    {},
    {
      observedGeneration: 2,
      desiredNumberScheduled: 2,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
    },
    'Unhealthy',
  ],
  ['v1 Service', { type: 'ClusterIP' }, {}, 'Healthy'],
  ['v1 Service', { type: 'LoadBalancer' }, {}, 'Unhealthy'],
  ['v1 Service', { type: 'LoadBalancer' }, balanced, 'Healthy'],
  ['networking.k8s.io/v1 Ingress', {}, {}, 'Unhealthy'],
  [
    'networking.k8s.io/v1 Ingress',
    {},
    { loadBalancer: { ingress: [{ hostname: 'a' }] } },
    'Healthy',
  ],
  ['v1 PersistentVolumeClaim', {}, { phase: 'Bound' }, 'Healthy'],
  ['v1 PersistentVolumeClaim', {}, { phase: 'Pending' }, 'Unhealthy'],
  ['v1 Pod', {}, { phase: 'Succeeded' }, 'Healthy'],
  ['v1 Pod', {}, { phase: 'Running', conditions: ready }, 'Healthy'],
  ['v1 Pod', {}, { phase: 'Running' }, 'Unhealthy'],
  ['v1 Pod', {}, { phase: 'Pending', conditions: ready }, 'Unhealthy'],
  ['policy/v1 PodDisruptionBudget', {}, { currentHealthy: 2, desiredHealthy: 2 }, 'Healthy'],
  ['policy/v1 PodDisruptionBudget', {}, { currentHealthy: 1, desiredHealthy: 2 }, 'Unhealthy'],
  ['example.com/v1 Valve', {}, { state: 'broken' }, 'Healthy'],
]

test('an object is as healthy as its status says; one of an unknown kind is healthy', () => {
  const found = cases.map(([key, spec, status]) => {
    const [apiVersion = '', kind = ''] = key.split(' ')
    return healthOf({ apiVersion, kind, metadata: { name: 'a', generation: 2 }, spec, status })
  })
  assert.deepEqual(
    found,
    cases.map(([, , , health]) => health),
  )
})
