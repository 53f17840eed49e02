import assert from 'node:assert/strict'
import { test } from 'node:test'
import { edgeClusterKind } from './edge-cluster-kind.ts'

const { strategy } = edgeClusterKind([])

function edgeWith(metadata: object, spec: object) {
  const machines = [
    { addresses: ['10.0.0.11'], role: 'Master', credentials: { name: 'ssh' } },
    { addresses: ['10.0.0.12'], role: 'Node', credentials: { name: 'ssh' } },
  ]
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7', namespace: 'default', ...metadata },
    spec: { machines, ...spec },
  }
}

test('an object that older rules accepted can be annotated and deleted, and is judged when its spec changes', () => {
  const odd = { retry: { attempts: 5_000 } }
  const old = edgeWith({}, odd)
  const isUpdate = { annotations: { 'hub.skerry.io/cancel': 'true' }, finalizers: [] }
  assert.deepEqual(strategy.validateUpdate?.(edgeWith(isUpdate, odd), old), [])
  const [cause] = strategy.validateUpdate?.(edgeWith({}, { ...odd, displayName: 'x' }), old) ?? []
  assert.equal(cause?.field, 'spec.retry.attempts')
})

test('an import has no figures of nodes and services', () => {
  const edge = edgeWith({}, { machines: [], import: {} })
  strategy.prepareForCreate?.(edge, { nowMs: 0, newUid: () => '', user: 'eva' })
  assert.deepEqual(Object.entries(edge).find(([name]) => name === 'status')?.[1], {})
})
