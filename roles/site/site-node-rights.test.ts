import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import { servedPodPeers } from '@skerry/service-proxy'
import { callApi, startTestApiServer, watchApi, type TestApiServer } from '@skerry/testing'
import { ensureSiteObjects } from './objects/site-objects.ts'

const peers = '/apis/node.skerry.io/v1alpha1/pods'
const secretWord = 'hunter2'
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', labels: { app: 'web' }, annotations: { note: secretWord } },
  spec: {
    nodeName: 'other',
    containers: [
      {
        name: 'main',
        image: `registry/${secretWord}`,
        args: [secretWord],
        env: [{ name: 'PASSWORD', value: secretWord }],
        ports: [{ name: 'http', containerPort: 8080 }, { containerPort: 9090 }],
      },
    ],
  },
}

async function startSite(): Promise<TestApiServer> {
  const builtin = await builtinKinds()
  const kinds = [...builtin, servedPodPeers(builtin)]
  await using stack = new AsyncDisposableStack()
  const site = stack.use(await startTestApiServer({ withAccess: true, kinds }))
  await ensureSiteObjects(site.objects, {
    apiServiceIp: '10.43.0.1',
    serviceCidr: '10.43.0.0/16',
    dnsServiceIp: '10.43.0.10',
    port: 6443,
  })
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await callApi(site.transport, { method: 'POST', path: accounts, body: account })
  stack.move()
  return site
}

function asNode(site: TestApiServer) {
  const groups = ['system:nodes', 'system:authenticated']
  return site.transportAs({ name: 'system:node:own', groups, extra: {} })
}

async function addPod(site: TestApiServer): Promise<void> {
  const path = '/api/v1/namespaces/default/pods'
  const made = await callApi(site.transport, { method: 'POST', path, body: pod })
  assert.equal(made.status, 201, made.text)
}

test("a node learns only names, labels, addresses and named ports of other nodes' pods", async () => {
  await using site = await startSite()
  await addPod(site)
  const node = asNode(site)
  const shapes = [
    'application/json',
    'application/json;as=Table;g=meta.k8s.io;v=v1',
    'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  ]
  for (const accept of shapes) {
    const path = `${peers}?includeObject=Object`
    const answer = await callApi(node, { path, headers: { accept } })
    assert.equal(answer.status, 200, answer.text)
    assert.match(answer.text, /web/)
    assert.doesNotMatch(answer.text, new RegExp(secretWord), accept)
  }
  const [peer] = (await callApi(node, { path: peers })).body.items
  const { uid, creationTimestamp, resourceVersion } = peer.metadata
  const shown = { uid, creationTimestamp, resourceVersion }
  assert.deepEqual(peer, {
    metadata: { name: 'web', namespace: 'default', labels: { app: 'web' }, ...shown },
    nodeName: 'other',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  })
  const refused = ['/api/v1/pods', '/api/v1/pods?watch=1', '/api/v1/namespaces/default/pods/web']
  for (const path of refused) assert.equal((await callApi(node, { path })).status, 403, path)
})

test('peers are read, not written, and by nobody without the right to', async () => {
  await using site = await startSite()
  await addPod(site)
  const path = '/apis/node.skerry.io/v1alpha1/namespaces/default/pods'
  const methods = [
    ['POST', path],
    ['PUT', `${path}/web`],
    ['DELETE', `${path}/web`],
    ['DELETE', path],
    ['GET', `${path}/web`],
  ] as const
  for (const [method, target] of methods) {
    const body = method === 'GET' ? {} : { body: { metadata: { name: 'web' } } }
    const answer = await callApi(site.transport, { method, path: target, ...body })
    assert.equal(answer.status, 405, `${method} ${target}: ${answer.text}`)
  }
  const person = { name: 'jo', groups: ['system:authenticated'], extra: {} }
  assert.equal((await callApi(site.transportAs(person), { path: peers })).status, 403)
})

test('a watch of peers follows the pods, from any version', async () => {
  await using site = await startSite()
  const before = (await callApi(site.transport, { path: peers })).body.metadata.resourceVersion
  await addPod(site)
  const key = { namespace: 'default', name: 'web' }
  const pods = { group: '', resource: 'pods' }
  await site.objects.update(
    pods,
    { ...key, subresource: 'status' },
    (object) => void (object['status'] = { phase: 'Running', podIP: '10.42.1.7' }),
  )
  await site.objects.delete(pods, 'default', 'web', { gracePeriodSeconds: 0 })
  const signal = AbortSignal.timeout(20_000)
  const seen: string[] = []
  for await (const { type, object } of watchApi(
    asNode(site),
    `${peers}?watch=1&resourceVersion=${before}`,
    signal,
  )) {
    assert.equal(object.kind, 'PodPeer')
    assert.doesNotMatch(JSON.stringify(object), new RegExp(secretWord))
    seen.push(`${type} ${object.metadata.name} ${object.address ?? '-'}`)
    if (type === 'DELETED') break
  }
  assert.deepEqual(seen, ['ADDED web -', 'MODIFIED web 10.42.1.7', 'DELETED web 10.42.1.7'])
})

test('a node reads which node announces an address of a service, and writes none of it', async () => {
  await using site = await startSite()
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
  const body = { metadata: { name: 'service-address-192.0.2.9' }, spec: { holderIdentity: 'own' } }
  await callApi(site.transport, { method: 'POST', path: leases, body })
  const node = asNode(site)
  assert.equal((await callApi(node, { path: `${leases}?labelSelector=a` })).status, 200)
  const path = `${leases}/service-address-192.0.2.9`
  assert.equal((await callApi(node, { method: 'DELETE', path })).status, 403)
  assert.equal((await callApi(node, { method: 'POST', path: leases, body })).status, 403)
})
