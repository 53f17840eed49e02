import assert from 'node:assert/strict'
import { test } from 'node:test'
import { workPath, workSelector } from './work-selector.ts'

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
