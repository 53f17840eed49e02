import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { callApi, openAccess, startTestApiServer } from '@skerry/testing'
import { createAcceptedMark } from './accepted-mark.ts'

test('no client makes an accepted object say that it was not accepted', async () => {
  const access = () => ({ ...openAccess(systemClock), admission: [createAcceptedMark()] })
  await using site = await startTestApiServer({ access })
  const path = '/api/v1/namespaces/default/configmaps'
  const annotations = { 'node.skerry.io/not-accepted': 'n1', color: 'red' }
  const metadata = { name: 'a', annotations }
  const made = await callApi(site.transport, { method: 'POST', path, body: { metadata } })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(made.body.metadata.annotations, { color: 'red' })
  for (const [type, body, more] of [
    ['application/merge-patch+json', { metadata: { annotations } }, ''],
    [
      'application/apply-patch+yaml',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata },
      '&force=true',
    ],
  ] as const) {
    const patched = await callApi(site.transport, {
      method: 'PATCH',
      path: `${path}/a?fieldManager=test${more}`,
      headers: { 'content-type': type },
      body,
    })
    assert.equal(patched.status, 200, patched.text)
    assert.deepEqual(patched.body.metadata.annotations, { color: 'red' })
  }
})
