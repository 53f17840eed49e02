import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTrue, parseRequestInfo } from './request-info.ts'

test("a path names the request's verb, group, resource and name", () => {
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
    ['GET', '/api/v1/namespaces/a/pods/%zz', { isUnreadable: true, isResourceRequest: false }],
    ['GET', '/api/v1/watch', { isUnreadable: true }],
    // An encoded slash is a slash, as in upstream; the path for a proxied server stays encoded.
    [
      'GET',
      '/api/v1/namespaces/a%2Fpods/b%2Flog',
      { namespace: 'a', name: 'b', subresource: 'log' },
    ],
    ['GET', '/api/v1/namespaces/a%2fpods/b/proxy%2Fx%2Fy/', { restOfPath: '/x%2Fy/' }],
    ['GET', '/api/v1/pods/%FF', { name: '\uFFFD' }],
    // An empty segment is a segment.
    ['GET', '/api/v1//pods', { verb: 'get', resource: '', name: 'pods' }],
    ['GET', '/api/v1/namespaces//pods', { verb: 'list', resource: 'pods', namespace: '' }],
    ['DELETE', '/api/v1/pods//', { verb: 'deletecollection', resource: 'pods', name: '' }],
    ['GET', '/api/v1/proxy/namespaces/a/pods/b/x', { verb: 'proxy', name: 'b', subresource: '' }],
    ['POST', '/api/v1/watch/namespaces/a/pods/b', { verb: 'watch', isVerbInPath: true, name: 'b' }],
    ['OPTIONS', '/api/v1/pods', { verb: '' }],
    ['get', '/api/v1/pods', { verb: '' }],
    // Go drops an unreadable pair.
    ['GET', '/api/v1/pods?watch=%zz', { verb: 'list' }],
    ['GET', '/api/v1/pods?a;watch=1', { verb: 'list' }],
    ['GET', '/api/v1/pods?%77atch=f&watch=0', { verb: 'watch' }],
  ]
  for (const [method, target, wanted] of table) {
    const info = parseRequestInfo(method, target)
    const flat: Record<string, unknown> = { ...info, ...info.resource }
    for (const [key, value] of Object.entries(wanted)) {
      assert.equal(flat[key], value, `${method} ${target}: ${key}`)
    }
  }
})

test('a flag is set by its mere presence, and unset only by 0 and false, as in upstream', () => {
  const set = ['', '1', 'true', 'f', 'F', 'no', '00', 'null']
  const unset = [null, '0', 'false', 'False', 'FALSE', 'fAlSe']
  for (const value of set) assert.equal(isTrue(value), true, value)
  for (const value of unset) assert.equal(isTrue(value), false, String(value))
})
