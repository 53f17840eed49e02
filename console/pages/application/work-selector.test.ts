import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sentSince, workPath, workSelector } from './work-selector.ts'

const resource = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }

test('Works are found by the id of their binding, in the namespace of their cluster', () => {
  const labels = {
    'resourcebinding.karmada.io/permanent-id': 'own',
    'clusterresourcebinding.karmada.io/permanent-id': 'wide',
  }
  const of = (namespace: object) =>
    workSelector({ metadata: { name: 'a', labels, ...namespace }, spec: { resource } })
  assert.equal(of({ namespace: 'shop' }), 'resourcebinding.karmada.io/permanent-id=own')
  assert.equal(of({}), 'clusterresourcebinding.karmada.io/permanent-id=wide')
  assert.equal(workSelector({ metadata: { name: 'a' }, spec: { resource } }), undefined)
  assert.equal(
    workPath('pilot', 'x=y'),
    '/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-pilot/works?labelSelector=x%3Dy',
  )
})

test('an object is in a cluster since its Work was made', () => {
  const row = (namespace: string, creationTimestamp: string) => ({
    cells: [],
    metadata: { namespace, creationTimestamp },
  })
  const rows = [row('karmada-es-pilot', '2026-11-28T10:00:00Z'), row('other', '')]
  assert.deepEqual([...sentSince(rows)], [['pilot', Date.parse('2026-11-28T10:00:00Z')]])
  assert.equal(
    workPath(undefined, 'x=y'),
    '/apis/work.karmada.io/v1alpha1/works?labelSelector=x%3Dy',
  )
})
