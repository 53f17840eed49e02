import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proxyMark } from './node-containerd.ts'

test('a node sees that its proxies are others, and shows none of them', () => {
  assert.equal(proxyMark({ PATH: '/bin', HTTP_PROXY: '' }), undefined)
  const mark = proxyMark({ HTTP_PROXY: 'http://eva:hunter2@proxy' }) ?? ''
  assert.match(mark, /^[0-9a-f]{16}$/)
  assert.equal(proxyMark({ HTTP_PROXY: 'http://eva:hunter2@proxy', PATH: '/bin' }), mark)
  assert.notEqual(proxyMark({ HTTPS_PROXY: 'http://eva:hunter2@proxy' }), mark)
  assert.notEqual(proxyMark({ HTTP_PROXY: 'http://eva:hunter2@proxy', no_proxy: 'a' }), mark)
})
