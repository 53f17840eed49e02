import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callApi, startTestApiServer } from '@skerry/testing'

const collection = '/api/v1/namespaces/default/configmaps'
const path = `${collection}/switches`

test('an object that was read as YAML can be written as it was read', async () => {
  await using server = await startTestApiServer()
  const labels = { power: 'on', answer: 'y', code: '0o7', size: '1e3' }
  const made = { metadata: { name: 'switches', labels } }
  await callApi(server.transport, { method: 'POST', path: collection, body: made })
  const read = await callApi(server.transport, { path, headers: { accept: 'application/yaml' } })
  const written = await callApi(server.transport, {
    method: 'PUT',
    path,
    headers: { 'content-type': 'application/yaml' },
    body: new TextEncoder().encode(read.text),
  })
  assert.equal(written.status, 200, written.text)
  assert.deepEqual(written.body.metadata.labels, labels)
})
