import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterProxyAttributes, onlyReads, parseClusterTarget } from './cluster-path.ts'

const proxied = '/apis/cluster.karmada.io/v1alpha1/clusters'

test('a target names a cluster and the path for its API, byte for byte', () => {
  const table: [target: string, cluster: string, rest: string][] = [
    ['/clusters/a', 'a', '/'],
    ['/clusters/a/', 'a', '/'],
    ['/clusters/a?limit=5', 'a', '/?limit=5'],
    [
      '/clusters/a/api/v1/pods?labelSelector=x%3Dy%2Fz&a=b?c',
      'a',
      '/api/v1/pods?labelSelector=x%3Dy%2Fz&a=b?c',
    ],
    ['/clusters/a/apis/apps/v1/', 'a', '/apis/apps/v1/'],
    [
      '/clusters/a/api/v1/namespaces/b/services/https:c:1/proxy/x%20y',
      'a',
      '/api/v1/namespaces/b/services/https:c:1/proxy/x%20y',
    ],
    ['/clusters/a/api/v1/nodes/%252e%252e', 'a', '/api/v1/nodes/%252e%252e'],
    ['/clusters/clusters/clusters/b', 'clusters', '/clusters/b'],
    [`${proxied}/a/proxy`, 'a', '/'],
    [`${proxied}/a/proxy/api/v1/pods?watch=1`, 'a', '/api/v1/pods?watch=1'],
  ]
  for (const [target, cluster, rest] of table) {
    assert.deepEqual(parseClusterTarget(target), { cluster, target: rest }, target)
  }
})

test('a target that two servers could read differently is refused', () => {
  const targets = [
    '/clusters/',
    '/clusters//api',
    '/clusters/a//api',
    '/clusters/./api',
    '/clusters/a/..',
    '/clusters/a/../b/api',
    '/clusters/a/%2e%2E/b',
    '/clusters/a/.%2e',
    '/clusters/a/api%2f..%2fb',
    '/clusters/a/api%5cb',
    '/clusters/a/api\\b',
    '/clusters/a/api%00',
    '/clusters/a/api%0d%0aX:1',
    '/clusters/a/api%',
    '/clusters/a/api%c0%ae',
    '/clusters/a/api#b',
    '/clusters/A/api',
    '/clusters/a%2fb/api',
    '/%63lusters/a/api',
    'http://elsewhere/clusters/a/api',
    `${proxied}/a/status`,
    `${proxied}/a/%70roxy/api`,
    `${proxied}/*/proxy/api`,
  ]
  for (const target of targets) {
    assert.throws(() => parseClusterTarget(target), { reason: 'BadRequest' }, target)
  }
})

test("the hub's RBAC is asked by the verb that the edge will see", () => {
  const table: [method: string, target: string, verb: string][] = [
    ['GET', '/api/v1/pods', 'list'],
    ['GET', '/api/v1/pods?watch=true', 'watch'],
    ['GET', '/api/v1/pods?watch=f', 'watch'],
    ['GET', '/api/v1/pods?watch=False', 'list'],
    ['GET', '/api/v1/pods?%77atch=1', 'watch'],
    ['GET', '/api/v1/pods?watch=%zz', 'list'],
    ['POST', '/api/v1/watch/namespaces/a/pods', 'watch'],
    ['GET', '/api/v1/watch/namespaces/a/pods/b/exec', 'create'],
    ['GET', '/api/v1/namespaces/a/pods/b/exe%63', 'create'],
    ['GET', '/api/v1/namespaces/a/pods/b/exec/', 'create'],
    ['POST', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db', 'create'],
    ['DELETE', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db', 'deletecollection'],
    ['OPTIONS', '/api/v1/pods', ''],
    ['get', '/api/v1/pods', ''],
    ['GET', '/api/v1/namespaces/a/pods/b', 'get'],
    ['HEAD', '/api/v1/namespaces/a/pods/b', 'get'],
    ['POST', '/api/v1/namespaces/a/pods', 'create'],
    ['PUT', '/api/v1/namespaces/a/pods/b', 'update'],
    ['PATCH', '/api/v1/namespaces/a/pods/b', 'patch'],
    ['DELETE', '/api/v1/namespaces/a/pods/b', 'delete'],
    ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection'],
    ['GET', '/api/v1/namespaces/a/pods/b/log', 'get'],
    ['GET', '/api/v1/namespaces/a/pods/b/exec', 'create'],
    ['GET', '/api/v1/namespaces/a/pods/b/portforward', 'create'],
    ['GET', '/api/v1/namespaces/a/services/b/proxy/x', 'create'],
    ['GET', '/version', 'get'],
    ['HEAD', '/healthz', 'get'],
    ['POST', '/anything', 'create'],
    ['GET', '/', 'get'],
  ]
  for (const [method, target, verb] of table) {
    const attributes = clusterProxyAttributes(method, { cluster: 'a', target })
    assert.equal(attributes.verb, verb, `${method} ${target}`)
    assert.equal(`${attributes.resource?.resource}/${attributes.subresource}`, 'clusters/proxy')
    assert.equal(attributes.name, 'a')
  }
})

test('an upgrade that can do more than read needs the right to create', () => {
  const table: [target: string, isReading: boolean][] = [
    ['/api/v1/pods?watch=1', true],
    ['/api/v1/watch/namespaces/a/pods', true],
    ['/api/v1/namespaces/a/pods/b/log?follow=1', true],
    ['/api/v1/pods', false],
    ['/api/v1/watch/namespaces/a/pods/b/exec', false],
    ['/apis/subresources.example.com/v1/namespaces/a/machines/b/console', false],
    ['/apis/subresources.example.com/v1/namespaces/a/machines/b/console?watch=1', false],
    ['/clusters/b/api/v1/namespaces/a/pods/b/exec', false],
    ['/log', false],
  ]
  for (const [target, isReading] of table) {
    assert.equal(onlyReads({ cluster: 'a', target }), isReading, target)
  }
})

test('a user who may read may ask the edge for their identity and rights, and nothing else with POST', () => {
  const authentication = '/apis/authentication.k8s.io/v1'
  const authorization = '/apis/authorization.k8s.io/v1'
  const table: [method: string, target: string, verb: string][] = [
    ['POST', `${authentication}/selfsubjectreviews`, 'get'],
    ['POST', `${authentication}beta1/selfsubjectreviews?fieldManager=a`, 'get'],
    ['POST', `${authorization}/selfsubjectaccessreviews`, 'get'],
    ['POST', `${authorization}/selfsubjectrulesreviews?`, 'get'],
    ['PUT', `${authorization}/selfsubjectaccessreviews`, 'update'],
    ['PATCH', `${authorization}/selfsubjectaccessreviews`, 'patch'],
    ['DELETE', `${authorization}/selfsubjectaccessreviews`, 'deletecollection'],
    ['POST', `${authentication}/tokenreviews`, 'create'],
    ['POST', `${authorization}/subjectaccessreviews`, 'create'],
    ['POST', `${authorization}/namespaces/a/localsubjectaccessreviews`, 'create'],
    ['POST', `${authorization}/selfsubjectreviews`, 'create'],
    ['POST', `${authentication}/selfsubjectaccessreviews`, 'create'],
    ['POST', '/apis/authorization.k8sxio/v1/selfsubjectaccessreviews', 'create'],
    ['POST', '/apis/example.com/v1/selfsubjectaccessreviews', 'create'],
    ['POST', '/api/v1/selfsubjectaccessreviews', 'create'],
    ['POST', `${authorization}/selfsubjectaccessreviews/`, 'create'],
    ['POST', `${authorization}/selfsubjectaccessreviews/a`, 'create'],
    ['POST', `${authorization}/selfsubjectaccessreviews/a/exec`, 'create'],
    ['POST', `${authorization}/namespaces/a/selfsubjectaccessreviews`, 'create'],
    ['POST', `${authorization}/selfsubjectaccessreview%73`, 'create'],
    ['POST', `${authorization}/selfsubjectaccessreviews%3f`, 'create'],
    ['POST', `${authorization}/selfsubjectaccessreviews\n`, 'create'],
    ['POST', `${authorization}/selfsubjectaccessreviewsx`, 'create'],
    ['POST', `/clusters/b${authorization}/selfsubjectaccessreviews`, 'create'],
    [
      'POST',
      `/api/v1/namespaces/a/services/b/proxy${authorization}/selfsubjectaccessreviews`,
      'create',
    ],
    ['POST', `/api/v1/pods?${authorization}/selfsubjectaccessreviews`, 'create'],
  ]
  for (const [method, target, verb] of table) {
    const attributes = clusterProxyAttributes(method, { cluster: 'a', target })
    assert.equal(attributes.verb, verb, `${method} ${target}`)
  }
})
