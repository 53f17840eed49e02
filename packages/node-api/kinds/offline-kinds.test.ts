import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { offlineKinds } from './offline-kinds.ts'
import { policyFor, type OfflinePolicy } from './offline-writes.ts'

const [policyKind] = offlineKinds([])

const spec = {
  resources: [{ apiGroup: 'apps', resource: 'deployments' }],
  namespaces: ['shop'],
  serviceAccounts: [{ namespace: 'shop', name: 'operator' }],
}

function causesOf(own: object): string[] {
  const object: AnyObject = {
    apiVersion: 'node.skerry.io/v1alpha1',
    kind: 'OfflineWrites',
    metadata: { name: 'shop' },
    spec: { ...spec, ...own },
  }
  return (policyKind?.strategy.validate?.(object) ?? []).map(({ field = '' }) => field)
}

for (const [title, own, fields] of [
  ['of one Deployment’s operator is valid', {}, []],
  ['without resources names nothing', { resources: [] }, ['spec.resources']],
  ['without namespaces is refused', { namespaces: [] }, ['spec.namespaces']],
  ['of everything is refused', { resources: [{ resource: '*' }] }, ['spec.resources[0]']],
  ['of Secrets is refused', { resources: [{ resource: 'secrets' }] }, ['spec.resources[0]']],
  [
    'of roles is refused',
    { resources: [{ apiGroup: 'rbac.authorization.k8s.io', resource: 'roles' }] },
    ['spec.resources[0]'],
  ],
  [
    'of its own kind is refused',
    { resources: [{ apiGroup: 'node.skerry.io', resource: 'offlinewrites' }] },
    ['spec.resources[0]'],
  ],
  [
    'of a subresource is refused',
    { resources: [{ apiGroup: 'apps', resource: 'deployments/status' }] },
    ['spec.resources[0]'],
  ],
  ['of a namespace that is none is refused', { namespaces: ['A b'] }, ['spec.namespaces[0]']],
  ['with an unknown winner is refused', { winner: 'oldest' }, ['spec.winner']],
] as const) {
  test(`a policy of offline writes ${title}`, () => assert.deepEqual(causesOf(own), fields))
}

test('the first policy by name that permits a write decides who wins', () => {
  const policies: OfflinePolicy[] = [
    { ...spec, name: 'b', winner: 'edge' },
    { ...spec, name: 'a', winner: 'newest' },
    { ...spec, name: '0', namespaces: ['other'] },
  ]
  const question = {
    group: 'apps',
    resource: 'deployments',
    namespace: 'shop',
    account: { namespace: 'shop', name: 'operator' },
  }
  assert.equal(policyFor(policies, question)?.winner, 'newest')
  for (const other of [
    { ...question, group: '' },
    { ...question, resource: 'statefulsets' },
    { ...question, namespace: 'kube-system' },
    { ...question, account: { namespace: 'shop', name: 'default' } },
    { ...question, account: { namespace: 'other', name: 'operator' } },
  ]) {
    assert.equal(policyFor(policies, other), undefined)
  }
})
