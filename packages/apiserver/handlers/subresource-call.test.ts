import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callApi, startTestApiServer } from '@skerry/testing'

test('an Eviction in its former version evicts, and no other former version does', async () => {
  await using server = await startTestApiServer({ withAccess: true })
  const pods = '/api/v1/namespaces/default/pods'
  const pod = {
    metadata: { name: 'web' },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      nodeName: 'n',
      terminationGracePeriodSeconds: 0,
    },
  }
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  const account = { metadata: { name: 'default' } }
  await callApi(server.transport, { method: 'POST', path: accounts, body: account })
  await callApi(server.transport, { method: 'POST', path: pods, body: pod })
  const evict = async (apiVersion: string) => {
    const body = { apiVersion, kind: 'Eviction', metadata: { name: 'web' } }
    return callApi(server.transport, { method: 'POST', path: `${pods}/web/eviction`, body })
  }
  assert.equal((await evict('policy/v1alpha1')).status, 400)
  assert.equal((await evict('policy/v1beta1')).status, 201)
})
