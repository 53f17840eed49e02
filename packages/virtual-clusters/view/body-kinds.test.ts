/** A request body has the kind that its path implies, whatever kind the body names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addNamespace, startViewScene, type ViewScene } from './testing/view-scene.ts'

const services = '/api/v1/namespaces/shop/services'

/** The ways in which a body can leave out its kind, and another kind. */
const words: Readonly<Record<string, object>> = {
  'the kind': { apiVersion: 'v1', kind: 'Service' },
  'no kind': {},
  'an empty kind': { apiVersion: '', kind: '' },
  'no text as kind': { kind: null },
  'another kind': { apiVersion: 'autoscaling/v1', kind: 'Scale' },
}

async function makeService(scene: ViewScene): Promise<object> {
  const made = await scene.ask('east', services, {
    method: 'POST',
    body: { metadata: { name: 'web' }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
  })
  assert.equal(made.status, 201, made.text)
  const { kind: _kind, apiVersion: _apiVersion, ...bare } = made.body
  return bare
}

test('a status is judged by its path, whatever kind the body names', async () => {
  await using scene = await startViewScene()
  const member = await addNamespace(scene, 'east', 'shop')
  const bare = await makeService(scene)
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.66' }] } }
  for (const [word, kind] of Object.entries(words)) {
    const path = `${services}/web/status`
    const body = { ...bare, ...kind, status }
    const put = await scene.ask('east', path, { method: 'PUT', body })
    assert.ok(put.status >= 400 && put.status < 500, `${word}: ${put.text}`)
  }
  const found = scene.edge.objects.get({ group: '', resource: 'services' }, member, 'web')
  assert.doesNotMatch(JSON.stringify(found), /192\.0\.2\.66/)
})

test('the owner of a namespace stays, whatever kind the body of a subresource names', async () => {
  await using scene = await startViewScene()
  const member = await addNamespace(scene, 'east', 'shop')
  const labels = { 'edge.skerry.io/virtual-cluster': 'west', 'edge.skerry.io/namespace': 'shop' }
  for (const subresource of ['status', 'finalize']) {
    for (const [word, kind] of Object.entries(words)) {
      for (const name of ['shop', member]) {
        const body = { ...kind, metadata: { name, labels } }
        const path = `/api/v1/namespaces/shop/${subresource}`
        const put = await scene.ask('east', path, { method: 'PUT', body })
        const after = scene.edge.objects.get({ group: '', resource: 'namespaces' }, '', member)
        const owner = after?.metadata.labels?.['edge.skerry.io/virtual-cluster']
        assert.equal(owner, 'east', `${subresource}, ${word}: ${put.text}`)
      }
    }
  }
})

test('a subresource of another kind is passed on with and without its kind', async () => {
  await using scene = await startViewScene()
  await addNamespace(scene, 'east', 'shop')
  const template = {
    metadata: { labels: { app: 'a' } },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  }
  const path = '/apis/apps/v1/namespaces/shop/deployments'
  const spec = { replicas: 1, selector: { matchLabels: { app: 'a' } }, template }
  await scene.ask('east', path, { method: 'POST', body: { metadata: { name: 'web' }, spec } })
  const scale = await scene.ask('east', `${path}/web/scale`)
  const { kind: _kind, apiVersion: _apiVersion, ...bare } = scale.body
  for (const [index, sent] of [scale.body, bare].entries()) {
    const replicas = index + 2
    const { metadata } = (await scene.ask('east', `${path}/web/scale`)).body
    const body = { ...sent, metadata, spec: { replicas } }
    const put = await scene.ask('east', `${path}/web/scale`, { method: 'PUT', body })
    assert.equal(put.body['spec']?.['replicas'], replicas, put.text)
  }
  const headers = { 'content-type': 'application/merge-patch+json' }
  const call = { method: 'PATCH', headers, body: { spec: { replicas: 7 } } }
  const patched = await scene.ask('east', `${path}/web/scale`, call)
  assert.equal(patched.body['spec']?.['replicas'], 7, patched.text)
})
