import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aggregatedContentType } from '@skerry/discovery'
import { startTestApiServer } from '@skerry/testing'

test('a client that has the whole of discovery is not sent it again', async () => {
  await using api = await startTestApiServer()
  const signal = AbortSignal.timeout(10_000)
  const accept = aggregatedContentType('v2')
  const ask = (headers: Record<string, string>) =>
    api.transport.send({ method: 'GET', path: '/apis', headers: { accept, ...headers } }, signal)
  const first = await ask({})
  const etag = first.headers['etag'] ?? ''
  assert.equal(first.status, 200)
  assert.match(etag, /^"[0-9A-F]{128}"$/)
  assert.equal((await ask({ 'if-none-match': etag })).status, 304)
  assert.equal((await ask({ 'if-none-match': '"other"' })).status, 200)
})
