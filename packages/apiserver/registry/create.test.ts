import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callApi, startTestApiServer } from '@skerry/testing'

test('only an object to be stored must come without a version; an invalid one is refused as invalid first', async () => {
  await using server = await startTestApiServer()
  const path = '/api/v1/namespaces/default/configmaps'
  const create = (query: string, name: string) =>
    callApi(server.transport, {
      method: 'POST',
      path: `${path}${query}`,
      body: { metadata: { name, resourceVersion: '77' } },
    })
  const tried = await create('?dryRun=All', 'a')
  assert.deepEqual([tried.status, tried.body.metadata.resourceVersion], [201, '77'])
  const refused = await create('', 'a')
  assert.deepEqual(
    [refused.status, refused.body.message],
    [500, 'resourceVersion should not be set on objects to be created'],
  )
  const invalid = await create('', 'A!')
  assert.deepEqual([invalid.status, invalid.body.reason], [422, 'Invalid'])
})
