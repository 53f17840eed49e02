import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyImport, importFaults, importOf, registrationOf } from './import-form.ts'

const form = {
  ...emptyImport,
  appliesWorks: true,
  name: ' shop-7 ',
  groups: 'ops, dev',
  zones: 'a b',
  labels: 'x=1',
}

test('the form becomes a wish for a token, without empty fields', () => {
  assert.deepEqual(registrationOf(form).spec, {
    clusterName: 'shop-7',
    ttlSeconds: 86_400,
    needsAcceptance: false,
    applyWorks: true,
    allowMasters: false,
    virtualClusters: false,
    allowGroups: ['ops', 'dev'],
    zones: ['a', 'b'],
    labels: { x: '1' },
  })
})

test('an import with steps is an edge cluster without machines', () => {
  assert.deepEqual(importOf({ ...form, services: 'shop/till:80', appliesWorks: false }), {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'shop-7', namespace: 'default' },
    spec: { machines: [], import: { allowServices: ['shop/till:80'] } },
  })
})

test('faults of both objects come to the field', () => {
  const fault = (field: string) => ({ field, message: field, reason: '' })
  const faults = ['spec.clusterName', 'spec.import.allowServices[1]', 'spec.proxy'].map(fault)
  assert.deepEqual(Object.fromEntries(importFaults(faults)), {
    name: 'spec.clusterName',
    services: 'spec.import.allowServices[1]',
    '': 'spec.proxy',
  })
})
