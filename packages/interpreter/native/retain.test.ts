import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retained } from './retain.ts'

/** The kind, the desired object, the cluster's, and the result. */
type Case = readonly [string, object, object, object]

const serviceAccountToken = 'kubernetes.io/service-account-token'
const elastic = { labels: { 'resourcetemplate.karmada.io/retain-replicas': 'true' } }
const mounts = [{ name: 'kube-api-access-1', mountPath: '/var/run/secrets' }]

const cases: readonly Case[] = [
  [
    'apps/v1 Deployment',
    { spec: { replicas: 2 } },
    { spec: { replicas: 5 } },
    { spec: { replicas: 2 } },
  ],
  [
    'apps/v1 Deployment',
    { metadata: elastic, spec: { replicas: 2 } },
    { spec: { replicas: 5 } },
    { metadata: elastic, spec: { replicas: 5 } },
  ],
  [
    'v1 Service',
    { spec: { ports: [] } },
    { spec: { clusterIP: '10.0.0.1', healthCheckNodePort: 30_001 } },
    { spec: { ports: [], clusterIP: '10.0.0.1', healthCheckNodePort: 30_001 } },
  ],
  [
    'v1 Pod',
    { spec: { containers: [{ name: 'a' }, { name: 'new' }], initContainers: [{ name: 'i' }] } },
    {
      spec: {
        nodeName: 'n',
        serviceAccountName: 'default',
        volumes: [{ name: 'kube-api-access-1' }],
        containers: [{ name: 'a', volumeMounts: mounts }],
        initContainers: [{ name: 'i', volumeMounts: mounts }],
      },
    },
    {
      spec: {
        nodeName: 'n',
        serviceAccountName: 'default',
        volumes: [{ name: 'kube-api-access-1' }],
        containers: [{ name: 'a', volumeMounts: mounts }, { name: 'new' }],
        initContainers: [{ name: 'i', volumeMounts: mounts }],
      },
    },
  ],
  [
    'v1 ServiceAccount',
    { secrets: [{ name: 'own' }] },
    { secrets: [{ name: 'own' }, { name: 'a-token-x' }], imagePullSecrets: [{ name: 'pull' }] },
    { secrets: [{ name: 'own' }, { name: 'a-token-x' }], imagePullSecrets: [{ name: 'pull' }] },
  ],
  [
    'v1 PersistentVolumeClaim',
    { spec: {} },
    { spec: { volumeName: 'pv' } },
    { spec: { volumeName: 'pv' } },
  ],
  ['v1 PersistentVolumeClaim', { spec: {} }, { spec: { volumeName: '' } }, { spec: {} }],
  [
    'v1 PersistentVolume',
    { spec: {} },
    { spec: { claimRef: { name: 'c' } } },
    { spec: { claimRef: { name: 'c' } } },
  ],
  [
    'batch/v1 Job',
    { spec: { template: { metadata: { labels: { app: 'a' } } } } },
    {
      spec: {
        selector: { matchLabels: { uid: 'u' } },
        template: { metadata: { labels: { app: 'a', uid: 'u' } } },
      },
    },
    {
      spec: {
        selector: { matchLabels: { uid: 'u' } },
        template: { metadata: { labels: { app: 'a', uid: 'u' } } },
      },
    },
  ],
  [
    'v1 Secret',
    { type: serviceAccountToken },
    { type: serviceAccountToken, data: { token: 'dA==' } },
    { type: serviceAccountToken, data: { token: 'dA==' } },
  ],
  ['v1 Secret', { type: 'Opaque' }, { data: { other: 'dA==' } }, { type: 'Opaque' }],
  ['v1 ConfigMap', { data: { a: '1' } }, { data: { a: '2' } }, { data: { a: '1' } }],
]

test('an update leaves the fields that the cluster has set', () => {
  for (const [key, desired, observed, sent] of cases) {
    const [apiVersion = '', kind = ''] = key.split(' ')
    const named = (parts: object) => ({ apiVersion, kind, metadata: {}, ...parts })
    assert.deepEqual(retained(named(desired), named(observed)), named(sent), key)
  }
})

test('replicas that are to be kept and are missing are reported', () => {
  const named = { apiVersion: 'apps/v1', kind: 'Deployment' }
  assert.throws(
    () =>
      retained(
        { ...named, metadata: elastic },
        { ...named, metadata: { namespace: 'shop', name: 'a' } },
      ),
    { message: 'Cannot retain replicas of Deployment "shop/a": it has no spec.replicas' },
  )
})
