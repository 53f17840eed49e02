import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import { startTestApiServer } from '@skerry/testing'

const headers = { 'content-type': 'application/json' }

test('an object written in a beta version is the same object in the stable one', async () => {
  const kinds = await builtinKinds({
    switches: { runtimeConfig: { 'resource.k8s.io/v1beta1': '' } },
  })
  await using api = await startTestApiServer({ kinds })
  const signal = AbortSignal.timeout(10_000)
  const path = (version: string): string =>
    `/apis/resource.k8s.io/${version}/namespaces/default/resourceclaims`
  const spec = (request: object) => ({ devices: { requests: [request] } })
  const demand = { deviceClassName: 'c.example.com', allocationMode: 'ExactCount', count: 1 }
  const body = new TextEncoder().encode(
    JSON.stringify({
      metadata: { name: 'a' },
      spec: spec({ name: 'r', deviceClassName: 'c.example.com' }),
    }),
  )
  const created = await api.transport.send(
    { method: 'POST', path: path('v1beta1'), headers, body },
    signal,
  )
  assert.equal(created.status, 201)
  assert.match(created.headers['warning'] ?? '', /is deprecated in v1.35\+, unavailable in v1.38\+/)
  const stable = api.objects.get(
    { group: 'resource.k8s.io', resource: 'resourceclaims' },
    'default',
    'a',
  )
  assert.equal(stable?.apiVersion, 'resource.k8s.io/v1')
  assert.deepEqual(stable?.['spec'], spec({ name: 'r', exactly: demand }))
  const other = { method: 'GET', path: `${path('v1beta2')}/a`, headers: {} } as const
  assert.equal((await api.transport.send(other, signal)).status, 404)
})
