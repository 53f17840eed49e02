import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addNamespace, startViewScene } from './testing/view-scene.ts'

const services = '/api/v1/namespaces/shop/services'
const service = (spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
})
const stolen = { externalIPs: ['10.43.0.10'] }
const ingress = (ip: string) => ({ status: { loadBalancer: { ingress: [{ ip }] } } })

test('whichever way a service is written, it gets no address that the edge does not list', async () => {
  await using scene = await startViewScene()
  await addNamespace(scene, 'east', 'shop')
  const made = await scene.ask('east', services, { method: 'POST', body: service() })
  assert.equal(made.status, 201, made.text)
  const merge = { 'content-type': 'application/merge-patch+json' }
  const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
  const json = { 'content-type': 'application/json-patch+json' }
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  const one = `${services}/web`
  const applied = `${one}?fieldManager=a&force=true`
  const attempts: readonly (readonly [way: string, path: string, request: object])[] = [
    ['create', services, { method: 'POST', body: { ...service(stolen), metadata: { name: 'b' } } }],
    [
      'update',
      one,
      { method: 'PUT', body: { ...made.body, spec: { ...service().spec, ...stolen } } },
    ],
    ['merge patch', one, { method: 'PATCH', headers: merge, body: { spec: stolen } }],
    ['strategic patch', one, { method: 'PATCH', headers: strategic, body: { spec: stolen } }],
    [
      'JSON patch',
      one,
      {
        method: 'PATCH',
        headers: json,
        body: [{ op: 'add', path: '/spec/externalIPs', value: ['10.43.0.10'] }],
      },
    ],
    ['apply', applied, { method: 'PATCH', headers: apply, body: service(stolen) }],
    [
      'status, update',
      `${one}/status`,
      { method: 'PUT', body: { ...made.body, ...ingress('10.43.0.10') } },
    ],
    [
      'status, patch',
      `${one}/status`,
      { method: 'PATCH', headers: merge, body: ingress('10.43.0.10') },
    ],
    [
      'status, apply',
      `${one}/status?fieldManager=a&force=true`,
      {
        method: 'PATCH',
        headers: apply,
        body: {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'web' },
          ...ingress('10.43.0.10'),
        },
      },
    ],
  ]
  for (const [way, path, request] of attempts) {
    const answer = await scene.ask('east', path, request)
    assert.equal(answer.status, 403, `${way}: ${answer.text}`)
    assert.match(answer.text, /10\.43\.0\.10, which its edge does not permit/, way)
  }
})

test('a service that has an address from the edge is written as before', async () => {
  await using scene = await startViewScene()
  const namespace = await addNamespace(scene, 'east', 'shop')
  await scene.ask('east', services, { method: 'POST', body: service() })
  const key = { namespace, name: 'web', subresource: 'status' }
  await scene.edge.objects.update({ group: '', resource: 'services' }, key, (object) => {
    Object.assign(object, ingress('198.51.100.1'))
  })
  const read = await scene.ask('east', `${services}/web`)
  assert.match(read.text, /198\.51\.100\.1/)
  const put = await scene.ask('east', `${services}/web`, { method: 'PUT', body: read.body })
  assert.equal(put.status, 200, put.text)
  const patched = await scene.ask('east', `${services}/web`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { labels: { a: 'b' } } },
  })
  assert.equal(patched.status, 200, patched.text)
  assert.match(patched.text, /198\.51\.100\.1/, 'the address is still there')
})
