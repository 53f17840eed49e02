import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reflectedStatus } from './reflect-status.ts'

const generation = { 'resourcetemplate.karmada.io/generation': '7' }

function object(key: string, parts: object, annotations: Record<string, string> = generation) {
  const [apiVersion = '', kind = ''] = key.split(' ')
  return { apiVersion, kind, metadata: { name: 'a', generation: 4, annotations }, ...parts }
}

const conditions = [{ type: 'Available', status: 'True' }]
const loadBalancer = { ingress: [{ ip: '203.0.113.7' }] }

test('the reported status has the fields that Karmada reads of it, and the generation as a number', () => {
  const workload = { status: { replicas: 2, readyReplicas: 1, observedGeneration: 4, conditions } }
  const told = [
    reflectedStatus(object('apps/v1 Deployment', workload)),
    reflectedStatus(object('apps/v1 ReplicaSet', workload)),
    reflectedStatus(object('apps/v1 StatefulSet', workload)),
    reflectedStatus(object('apps/v1 DaemonSet', { status: { numberReady: 3, collisionCount: 1 } })),
    reflectedStatus(object('batch/v1 Job', { status: { active: 1, ready: 1, conditions } })),
    reflectedStatus(object('v1 Service', { spec: { type: 'ClusterIP' }, status: {} })),
    reflectedStatus(
      object('v1 Service', {
        spec: { type: 'LoadBalancer' },
        status: { loadBalancer, conditions },
      }),
    ),
    reflectedStatus(object('example.com/v1 Valve', { status: { state: 'open', conditions } })),
    reflectedStatus(object('v1 ConfigMap', {})),
  ]
  const generations = { generation: 4, resourceTemplateGeneration: 7 }
  assert.deepEqual(told, [
    { ...generations, replicas: 2, readyReplicas: 1, observedGeneration: 4 },
    { ...generations, replicas: 2, readyReplicas: 1, observedGeneration: 4 },
    { ...generations, replicas: 2, readyReplicas: 1 },
    { ...generations, numberReady: 3 },
    { active: 1, conditions },
    undefined,
    { loadBalancer },
    { state: 'open', conditions },
    undefined,
  ])
})

test("a template's generation that is not a number is an error, not a zero", () => {
  const odd = object(
    'apps/v1 Deployment',
    { status: {} },
    {
      'resourcetemplate.karmada.io/generation': 'seven',
    },
  )
  assert.throws(() => reflectedStatus(odd), {
    message:
      'Cannot reflect status of Deployment "a": annotation resourcetemplate.karmada.io/generation is "seven", no number',
  })
  assert.deepEqual(reflectedStatus(object('apps/v1 Deployment', { status: {} }, {})), {
    generation: 4,
  })
})
