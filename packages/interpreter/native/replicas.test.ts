import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replicasOf, withReplicas } from './replicas.ts'

const podSpec = { containers: [{ name: 'a' }] }

function object(key: string, spec: object) {
  const [apiVersion = '', kind = ''] = key.split(' ')
  return { apiVersion, kind, metadata: { name: 'a' }, spec }
}

test('the pods that an object asks for are counted by its kind', () => {
  const template = { spec: podSpec }
  const count = (key: string, spec: object) => replicasOf(object(key, spec))?.replicas
  const counts = [
    ...['Deployment', 'ReplicaSet', 'StatefulSet'].map((kind) =>
      count(`apps/v1 ${kind}`, { replicas: 3, template }),
    ),
    count('apps/v1 Deployment', { template }),
    count('batch/v1 Job', { parallelism: 5, template }),
    count('batch/v1 Job', { parallelism: 5, completions: 2, template }),
    count('v1 Pod', podSpec),
    count('apps/v1 DaemonSet', { template }),
  ]
  assert.deepEqual(counts, [3, 3, 3, 0, 5, 2, 1, undefined])
  assert.deepEqual(replicasOf(object('v1 Pod', podSpec))?.podSpec, podSpec)
  assert.deepEqual(replicasOf(object('batch/v1 Job', { template }))?.podSpec, podSpec)
})

test('a count is replaced where there is one', () => {
  const revised = (key: string, spec: object) => withReplicas(object(key, spec), 7)['spec']
  assert.deepEqual(revised('apps/v1 Deployment', { replicas: 2 }), { replicas: 7 })
  assert.deepEqual(revised('batch/v1 Job', { parallelism: 2 }), { parallelism: 7 })
  assert.deepEqual(revised('apps/v1 StatefulSet', {}), {})
  assert.deepEqual(revised('v1 Pod', podSpec), podSpec)
})
