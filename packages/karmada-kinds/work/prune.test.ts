import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pruned } from './prune.ts'

test('fields that an API server has set do not go to another cluster', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      namespace: 'shop',
      labels: { app: 'a' },
      annotations: { note: 'kept' },
      uid: 'u',
      resourceVersion: '7',
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      managedFields: [],
      selfLink: '/a',
      ownerReferences: [],
      finalizers: ['x/y'],
    },
    data: { key: 'value' },
    status: { seen: true },
  }
  assert.deepEqual(pruned(object), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      namespace: 'shop',
      labels: { app: 'a' },
      annotations: { note: 'kept' },
    },
    data: { key: 'value' },
  })
})

const generated = {
  'controller-uid': 'u',
  'batch.kubernetes.io/controller-uid': 'u',
  'job-name': 'a',
  'batch.kubernetes.io/job-name': 'a',
}

/** The kind, the object, and what remains of it. */
const cases: readonly (readonly [string, object, object])[] = [
  [
    'apps/v1 Deployment',
    { metadata: { annotations: { 'deployment.kubernetes.io/revision': '3', note: 'x' } } },
    { metadata: { annotations: { note: 'x' } } },
  ],
  [
    'batch/v1 Job',
    {
      spec: {
        ttlSecondsAfterFinished: 60,
        selector: { matchLabels: { 'controller-uid': 'u' } },
        template: { metadata: { labels: { ...generated, app: 'a' } } },
      },
    },
    { spec: { selector: { matchLabels: {} }, template: { metadata: { labels: { app: 'a' } } } } },
  ],
  [
    'batch/v1 Job',
    { spec: { manualSelector: true, selector: { matchLabels: { 'controller-uid': 'u' } } } },
    { spec: { manualSelector: true, selector: { matchLabels: { 'controller-uid': 'u' } } } },
  ],
  [
    'v1 Service',
    { spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [] } },
    { spec: { ports: [] } },
  ],
  ['v1 Service', { spec: { clusterIP: 'None' } }, { spec: { clusterIP: 'None' } }],
  [
    'v1 Secret',
    {
      type: 'kubernetes.io/service-account-token',
      metadata: { annotations: { 'kubernetes.io/service-account.uid': 'u' } },
      data: { token: 'dA==' },
    },
    { type: 'kubernetes.io/service-account-token', metadata: { annotations: {} } },
  ],
  ['v1 Secret', { type: 'Opaque', data: { a: 'dA==' } }, { type: 'Opaque', data: { a: 'dA==' } }],
  [
    'v1 ServiceAccount',
    { secrets: [{ name: 'a-token-x' }, { name: 'a-token-y' }, { name: 'own' }] },
    { secrets: [{ name: 'own' }] },
  ],
  [
    'v1 PersistentVolumeClaim',
    { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n' } } },
    { metadata: { annotations: {} } },
  ],
  // This kind is in another group, so the rule does not apply.
  ['serving.knative.dev/v1 Service', { spec: { clusterIP: 'x' } }, { spec: { clusterIP: 'x' } }],
]

test('fields that belong to one cluster stay there, for each kind', () => {
  for (const [key, given, left] of cases) {
    const [apiVersion = '', kind = ''] = key.split(' ')
    const named = (parts: object) => {
      const { metadata, ...rest } = { metadata: {}, ...parts }
      return { apiVersion, kind, ...rest, metadata: { name: 'a', ...metadata } }
    }
    assert.deepEqual(pruned(named(given)), named(left), key)
  }
})
