import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonObject } from '@skerry/api'
import { until } from '@skerry/testing'
import { groupLabel, virtualNamespaceLabels } from '@skerry/fleet-kinds'
import { addNamespace, addNode, startViewScene, type ViewScene } from './testing/view-scene.ts'

const deployments = '/apis/apps/v1/namespaces/shop/deployments'

function deployment(nodeSelector?: Record<string, string>) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'till', namespace: 'shop' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'till' } },
      template: {
        metadata: { labels: { app: 'till' } },
        spec: {
          ...(nodeSelector ? { nodeSelector } : {}),
          containers: [{ name: 'till', image: 'till:1' }],
        },
      },
    },
  }
}

async function startShop(): Promise<ViewScene> {
  const scene = await startViewScene()
  await addNamespace(scene, 'east', 'shop')
  await addNamespace(scene, 'west', 'shop')
  return scene
}

/** Returns the object as the edge has it. */
function stored({ edge }: ViewScene, resource: string, namespace: string, name: string) {
  const [plural = '', ...group] = resource.split('.')
  const found = edge.objects.get({ group: group.join('.'), resource: plural }, namespace, name)
  assert.ok(found, `${resource} ${namespace}/${name}`)
  return found
}

function selectorOf(object: unknown): unknown {
  return ['spec', 'template', 'spec', 'nodeSelector'].reduce(
    (found: unknown, step) => (isJsonObject(found) ? found[step] : undefined),
    object,
  )
}

test('objects made in a virtual cluster run on its nodes, and read as they were written', async () => {
  await using scene = await startShop()
  const made = await scene.ask('east', deployments, { method: 'POST', body: deployment() })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.body['metadata']?.['namespace'], 'shop')
  assert.equal(selectorOf(made.body), undefined)
  const there = stored(scene, 'deployments.apps', 'shop-east', 'till')
  assert.deepEqual(selectorOf(there), { [groupLabel]: 'east' })

  const read = await scene.ask('east', `${deployments}/till`)
  const again = await scene.ask('east', `${deployments}/till`, { method: 'PUT', body: read.body })
  assert.equal(again.status, 200, again.text)
  const same = stored(scene, 'deployments.apps', 'shop-east', 'till')
  assert.equal(same.metadata.resourceVersion, there.metadata.resourceVersion, 'nothing changed')

  const gone = await scene.ask('east', `${deployments}/till`, { method: 'DELETE' })
  assert.equal(gone.status, 200)
  assert.equal((await scene.ask('east', `${deployments}/till`)).status, 404)
})

test('every kind of patch changes the objects as its writer sees them, and never where pods may run', async () => {
  await using scene = await startShop()
  await scene.ask('east', deployments, { method: 'POST', body: deployment() })
  const patch = async (type: string, body: unknown, query = '') =>
    scene.ask('east', `${deployments}/till${query}`, {
      method: 'PATCH',
      body,
      headers: { 'content-type': `application/${type}` },
    })
  const there = () => selectorOf(stored(scene, 'deployments.apps', 'shop-east', 'till'))
  const inPods = (spec: object) => ({ spec: { template: { spec } } })

  const scaled = await patch('merge-patch+json', { spec: { replicas: 3 } })
  assert.equal(scaled.body['spec']?.['replicas'], 3, scaled.text)
  const disk = { disk: 'ssd' }
  const selected = await patch('strategic-merge-patch+json', inPods({ nodeSelector: disk }))
  assert.deepEqual(selectorOf(selected.body), disk, selected.text)
  assert.deepEqual(there(), { ...disk, [groupLabel]: 'east' })
  const path = '/spec/template/spec/nodeSelector'
  const replaced = await patch('json-patch+json', [{ op: 'replace', path, value: { disk: 'hdd' } }])
  assert.deepEqual(selectorOf(replaced.body), { disk: 'hdd' }, replaced.text)
  assert.deepEqual(there(), { disk: 'hdd', [groupLabel]: 'east' })
  const taken = await patch('merge-patch+json', inPods({ nodeSelector: null }))
  assert.equal(selectorOf(taken.body), undefined, taken.text)
  assert.deepEqual(there(), { [groupLabel]: 'east' })

  const copied = await patch('json-patch+json', [
    { op: 'add', path: '/metadata/annotations', value: {} },
    { op: 'copy', from: '/metadata/name', path: '/metadata/annotations/was' },
  ])
  assert.equal(copied.body['metadata']?.['annotations']?.['was'], 'till', copied.text)

  const moved = await patch('merge-patch+json', inPods({ nodeSelector: { [groupLabel]: 'west' } }))
  assert.equal(moved.status, 403)
  assert.match(String(moved.body['message']), /it selects nodes of virtual cluster "west"/)
  assert.deepEqual(there(), { [groupLabel]: 'east' })

  const applied = await patch(
    'apply-patch+yaml',
    deployment({ disk: 'ssd' }),
    '?fieldManager=helm&force=true',
  )
  assert.deepEqual(selectorOf(applied.body), { disk: 'ssd' }, applied.text)
  assert.deepEqual(there(), { disk: 'ssd', [groupLabel]: 'east' })
})

test('a pod that has its node can be labelled, and one that names a node is refused', async () => {
  await using scene = await startShop()
  const path = '/api/v1/namespaces/shop/pods'
  const pod = (spec: object) => ({
    metadata: { name: 'till' },
    spec: { containers: [{ name: 'till', image: 'till:1' }], ...spec },
  })
  const serviceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
  await scene.ask('east', '/api/v1/namespaces/shop/serviceaccounts', {
    method: 'POST',
    body: serviceAccount,
  })
  const refused = await scene.ask('east', path, { method: 'POST', body: pod({ nodeName: 'n' }) })
  assert.equal(refused.status, 403)
  assert.match(String(refused.body['message']), /Pod "shop\/till" .* names node "n"/)
  const made = await scene.ask('east', path, { method: 'POST', body: pod({}) })
  assert.equal(made.status, 201, made.text)
  await scene.local
    .resource({ group: '', version: 'v1', resource: 'pods', isNamespaced: true })
    .createSubresource(
      {
        namespace: 'shop-east',
        name: 'till',
        subresource: 'binding',
        body: {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'till', namespace: 'shop-east' },
          target: { apiVersion: 'v1', kind: 'Node', name: 'n' },
        },
      },
      AbortSignal.timeout(20_000),
    )
  const labelled = await scene.ask('east', `${path}/till`, {
    method: 'PATCH',
    body: { metadata: { labels: { app: 'till' } } },
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
  })
  assert.equal(labelled.status, 200, labelled.text)
  assert.equal(labelled.body['metadata']?.['labels']?.['app'], 'till')
  assert.equal(labelled.body['spec']?.['nodeName'], 'n')
})

test('namespaces written in objects are those of the virtual cluster', async () => {
  await using scene = await startShop()
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings'
  const binding = {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [
      { kind: 'ServiceAccount', name: 'bot', namespace: 'shop' },
      {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'User',
        name: 'system:serviceaccount:shop:other',
      },
    ],
  }
  const made = await scene.ask('east', rbac, { method: 'POST', body: binding })
  assert.deepEqual(made.body['subjects'], binding.subjects, made.text)
  const there = stored(scene, 'rolebindings.rbac.authorization.k8s.io', 'shop-east', 'readers')
  assert.match(
    JSON.stringify(there['subjects']),
    /"shop-east".*system:serviceaccount:shop-east:other/,
  )

  const policies = '/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies'
  const spec = {
    podSelector: {},
    ingress: [
      {
        from: [
          { namespaceSelector: {} },
          { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } },
        ],
      },
    ],
    policyTypes: ['Ingress'],
  }
  const policy = { metadata: { name: 'open' }, spec }
  const open = await scene.ask('east', policies, { method: 'POST', body: policy })
  assert.deepEqual(open.body['spec'], spec, open.text)
  const held = stored(scene, 'networkpolicies.networking.k8s.io', 'shop-east', 'open')
  assert.equal(JSON.stringify(held).split(virtualNamespaceLabels.cluster).length, 3)

  const elsewhere = await scene.ask('east', rbac, {
    method: 'POST',
    body: { ...binding, metadata: { name: 'x', namespace: 'shop-west' } },
  })
  assert.equal(elsewhere.status, 400)
})

test('namespaces are made and deleted by their own names, no matter who asks first', async () => {
  await using scene = await startViewScene()
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'office' } }
  const made = await scene.ask('east', '/api/v1/namespaces', { method: 'POST', body: namespace })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.body['metadata']?.['name'], 'office')
  const { labels } = stored(scene, 'namespaces', '', 'office-east').metadata
  assert.equal(labels?.[virtualNamespaceLabels.cluster], 'east')
  assert.equal(labels?.[virtualNamespaceLabels.namespace], 'office')
  const twice = await scene.ask('east', '/api/v1/namespaces', { method: 'POST', body: namespace })
  assert.equal(twice.body['message'], 'namespaces "office" already exists')

  const labelled = await scene.ask('east', '/api/v1/namespaces/office', {
    method: 'PATCH',
    body: { metadata: { labels: { team: 'a', [virtualNamespaceLabels.cluster]: 'west' } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  assert.equal(labelled.status, 200, labelled.text)
  const after = stored(scene, 'namespaces', '', 'office-east').metadata.labels
  assert.equal(after?.['team'], 'a')
  assert.equal(after?.[virtualNamespaceLabels.cluster], 'east', 'whose it is stays as it was')
  const byStatus = await scene.ask('east', '/api/v1/namespaces/office/status', {
    method: 'PATCH',
    body: { metadata: { labels: { team: 'b', [virtualNamespaceLabels.cluster]: 'west' } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  assert.equal(byStatus.status, 200, byStatus.text)
  const still = stored(scene, 'namespaces', '', 'office-east').metadata.labels
  assert.equal(still?.['team'], 'b')
  assert.equal(still?.[virtualNamespaceLabels.cluster], 'east', 'nor does its status say so')

  const denied = await scene.ask('east', '/api/v1/namespaces', {
    method: 'POST',
    as: { user: 'eve' },
    body: { ...namespace, metadata: { name: 'eves' } },
  })
  assert.equal(denied.status, 403, denied.text)
  const gone = await scene.ask('east', '/api/v1/namespaces/office', { method: 'DELETE' })
  assert.equal(gone.status, 200, gone.text)

  const first = await scene.ask('east', '/api/v1/namespaces/default/configmaps', {
    method: 'POST',
    body: { metadata: { name: 'settings' } },
  })
  assert.equal(first.status, 201, first.text)
  const none = await scene.ask('east', '/api/v1/namespaces/absent/configmaps', {
    method: 'POST',
    body: { metadata: { name: 'settings' } },
  })
  assert.equal(none.body['message'], 'namespaces "absent" not found')
})

test('a node of the group may be cordoned, and no node changes its group', async () => {
  await using scene = await startShop()
  await addNode(scene, 'node-east', 'east')
  await addNode(scene, 'node-west', 'west')
  const patch = (name: string, body: unknown) =>
    scene.ask('east', `/api/v1/nodes/${name}`, {
      method: 'PATCH',
      body,
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
    })
  await until(async () => (await scene.ask('east', '/api/v1/nodes/node-east')).status === 200)
  const cordoned = await patch('node-east', { spec: { unschedulable: true } })
  assert.equal(cordoned.body['spec']?.['unschedulable'], true, cordoned.text)
  const foreign = await patch('node-west', { spec: { unschedulable: true } })
  assert.equal(foreign.status, 404)
  for (const value of ['west', null]) {
    const moved = await patch('node-east', { metadata: { labels: { [groupLabel]: value } } })
    assert.equal(moved.status, 403, moved.text)
  }
  const { labels } = stored(scene, 'nodes', '', 'node-east').metadata
  assert.equal(labels?.[groupLabel], 'east')
})
