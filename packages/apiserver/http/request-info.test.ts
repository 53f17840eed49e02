import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTrue, parseRequestInfo } from './request-info.ts'

test('a path says what is asked for', () => {
  const table: readonly [string, string, Record<string, unknown>][] = [
    ['GET', '/api/v1/pods', { verb: 'list', resource: 'pods', namespace: '', name: '' }],
    [
      'GET',
      '/api/v1/namespaces/a/pods/b',
      { verb: 'get', resource: 'pods', namespace: 'a', name: 'b' },
    ],
    [
      'GET',
      '/api/v1/namespaces/a/pods?watch=true',
      { verb: 'watch', resource: 'pods', namespace: 'a' },
    ],
    ['GET', '/api/v1/watch/namespaces/a/pods', { verb: 'watch', resource: 'pods', namespace: 'a' }],
    [
      'GET',
      '/api/v1/namespaces',
      { verb: 'list', resource: 'namespaces', namespace: '', name: '' },
    ],
    [
      'GET',
      '/api/v1/namespaces/a',
      { verb: 'get', resource: 'namespaces', namespace: 'a', name: 'a' },
    ],
    [
      'PUT',
      '/api/v1/namespaces/a/finalize',
      { verb: 'update', resource: 'namespaces', name: 'a', subresource: 'finalize' },
    ],
    ['DELETE', '/apis/apps/v1/deployments', { verb: 'deletecollection', group: 'apps' }],
    [
      'POST',
      '/api/v1/namespaces/a/services/http:b:80/proxy/x/y%2Fz?q=1',
      { verb: 'create', name: 'http:b:80', subresource: 'proxy', restOfPath: '/x/y%2Fz' },
    ],
    ['GET', '/api/v1/namespaces/a/pods/b/proxy', { subresource: 'proxy', restOfPath: '' }],
    ['GET', '/api/v1/namespaces/a/pods/b/proxy/', { subresource: 'proxy', restOfPath: '/' }],
    ['GET', '/api/v1/namespaces/a/pods/b/proxy/x/', { subresource: 'proxy', restOfPath: '/x/' }],
    ['PATCH', '/apis/g/v1/namespaces/a/things/b/status', { verb: 'patch', subresource: 'status' }],
    ['GET', '/apis/apps/v1', { verb: 'get', isResourceRequest: false, path: '/apis/apps/v1' }],
    ['POST', '/version', { verb: 'post', isResourceRequest: false }],
    ['GET', '/api/v1/namespaces/a/pods/%zz', { name: '%zz' }],
  ]
  for (const [method, target, wanted] of table) {
    const info = parseRequestInfo(method, target)
    const flat: Record<string, unknown> = { ...info, ...info.resource }
    for (const [key, value] of Object.entries(wanted)) {
      assert.equal(flat[key], value, `${method} ${target}: ${key}`)
    }
  }
})

test('a flag is set by its mere presence, and unset by a false value', () => {
  assert.deepEqual([null, '', '1', 'true', '0', 'false', 'F'].map(isTrue), [
    false,
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})
