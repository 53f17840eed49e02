import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DependentObject } from '../contract/dependent-object.ts'
import { dependenciesOf } from './dependencies.ts'

const pod = {
  serviceAccountName: 'runner',
  imagePullSecrets: [{ name: 'pull' }],
  initContainers: [{ name: 'i', envFrom: [{ configMapRef: { name: 'settings' } }] }],
  containers: [
    {
      name: 'a',
      envFrom: [{ secretRef: { name: 'login' } }, { configMapRef: { name: 'settings' } }],
      env: [
        { name: 'A', valueFrom: { configMapKeyRef: { name: 'colours', key: 'a' } } },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'key', key: 'b' } } },
        { name: 'C', value: 'plain' },
      ],
    },
  ],
  volumes: [
    { name: 'v1', configMap: { name: 'files' } },
    { name: 'v2', secret: { secretName: 'tls' } },
    { name: 'v3', persistentVolumeClaim: { claimName: 'data' } },
    {
      name: 'v4',
      projected: { sources: [{ secret: { name: 'mixed' } }, { configMap: { name: 'also' } }] },
    },
    { name: 'v5', csi: { driver: 'x', nodePublishSecretRef: { name: 'driver' } } },
    { name: 'v6', emptyDir: {} },
  ],
}

function namesOf(key: string, spec: object): string[] {
  const [apiVersion = '', kind = ''] = key.split(' ')
  const found = dependenciesOf({
    apiVersion,
    kind,
    metadata: { namespace: 'shop', name: 'a' },
    spec,
  })
  return found.map(textOf)
}

function textOf({ apiVersion, kind, namespace, name, labelSelector }: DependentObject): string {
  return `${apiVersion} ${kind} ${namespace}/${name ?? JSON.stringify(labelSelector?.matchLabels)}`
}

const ofPod = [
  ...['settings', 'colours', 'files', 'also'].map((name) => `v1 ConfigMap shop/${name}`),
  ...['pull', 'login', 'key', 'driver', 'tls', 'mixed'].map((name) => `v1 Secret shop/${name}`),
  'v1 ServiceAccount shop/runner',
  'v1 PersistentVolumeClaim shop/data',
].toSorted()

test('every object that a pod names goes where the pod goes, each once', () => {
  const template = { spec: pod }
  for (const kind of ['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet']) {
    assert.deepEqual(namesOf(`apps/v1 ${kind}`, { template }).toSorted(), ofPod, kind)
  }
  assert.deepEqual(namesOf('batch/v1 Job', { template }).toSorted(), ofPod)
  assert.deepEqual(
    namesOf('batch/v1 CronJob', { jobTemplate: { spec: { template } } }).toSorted(),
    ofPod,
  )
  assert.deepEqual(namesOf('v1 Pod', pod).toSorted(), ofPod)
})

test('a set makes its own claims, a namespace its own account', () => {
  const spec = {
    template: { spec: { ...pod, serviceAccountName: 'default' } },
    volumeClaimTemplates: [{ metadata: { name: 'data' } }],
  }
  const found = namesOf('apps/v1 StatefulSet', spec)
  assert.deepEqual(
    found.filter((each) => /PersistentVolumeClaim|ServiceAccount/.test(each)),
    [],
  )
})

test('an ingress needs its certificates, an import its service and slices; others need nothing', () => {
  assert.deepEqual(
    namesOf('networking.k8s.io/v1 Ingress', { tls: [{ secretName: 'tls' }, { hosts: ['a'] }] }),
    ['v1 Secret shop/tls'],
  )
  assert.deepEqual(namesOf('multicluster.x-k8s.io/v1alpha1 ServiceImport', {}), [
    'v1 Service shop/derived-a',
    'discovery.k8s.io/v1 EndpointSlice shop/{"kubernetes.io/service-name":"derived-a"}',
  ])
  assert.deepEqual(namesOf('v1 ConfigMap', {}), [])
})
