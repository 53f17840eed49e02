import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listPath, objectPage, objectPath, readObjectPage } from './api-paths.ts'

const pods = { group: '', version: 'v1', resource: 'pods' }
const sites = { group: 'edge.skerry.io', version: 'v1alpha1', resource: 'virtualclusters' }

test('objects have Kubernetes’ addresses, behind the cluster’s', () => {
  assert.equal(listPath('shop-7', pods), '/clusters/shop-7/api/v1/pods')
  assert.equal(listPath('shop-7', pods, 'web'), '/clusters/shop-7/api/v1/namespaces/web/pods')
  assert.equal(listPath(undefined, sites), '/apis/edge.skerry.io/v1alpha1/virtualclusters')
  assert.equal(
    objectPath('shop-7', { ...pods, namespace: 'web', name: 'a' }),
    '/clusters/shop-7/api/v1/namespaces/web/pods/a',
  )
})

test('no name leaves its place in an address', () => {
  assert.equal(
    objectPath('a/../b', { ...pods, namespace: 'x?y', name: '../#' }),
    '/clusters/a%2F..%2Fb/api/v1/namespaces/x%3Fy/pods/..%2F%23',
  )
})

test('the address of a page leads to the same object again', () => {
  for (const cluster of ['shop-7', undefined]) {
    for (const object of [
      { ...pods, namespace: 'web', name: 'a:b' },
      { ...sites, name: 'x' },
    ]) {
      const [, , ...words] = objectPage(cluster, object).split('/').map(decodeURIComponent)
      const keys = ['cluster', 'group', 'version', 'resource', 'namespace', 'name']
      const params = Object.fromEntries(keys.map((key, index) => [key, words[index]]))
      assert.deepEqual(readObjectPage(params), { cluster, object })
    }
  }
})
