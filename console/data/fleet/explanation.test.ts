import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applicationPage, bindingName, bindingOf, explainPath } from './explanation.ts'

test('an explanation is asked for by kind, group, namespace and name', () => {
  const web = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' }
  assert.equal(
    explainPath(web),
    '/hub/v1/explain?kind=Deployment&name=web&group=apps&namespace=shop',
  )
  assert.equal(
    explainPath({ apiVersion: 'v1', kind: 'Namespace', name: 'shop' }),
    '/hub/v1/explain?kind=Namespace&name=shop',
  )
})

test('the address of an application leads back to its binding', () => {
  assert.equal(
    applicationPage({ namespace: 'shop', name: 'web-deployment' }),
    '/applications/shop/web-deployment',
  )
  assert.equal(
    applicationPage({ name: 'reader-clusterrole' }),
    '/applications/-/reader-clusterrole',
  )
  assert.deepEqual(bindingOf('-', 'reader-clusterrole'), {
    group: 'work.karmada.io',
    version: 'v1alpha2',
    resource: 'clusterresourcebindings',
    name: 'reader-clusterrole',
  })
  assert.equal(bindingOf('shop', 'web-deployment').namespace, 'shop')
  assert.equal(bindingName('ClusterRole', 'system:Reader'), 'system.reader-clusterrole')
})
