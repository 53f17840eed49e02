import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { administrator, callApi, startTestApiServer, type TestApiServer } from '@skerry/testing'
import { fieldAt, groupLabel } from '@skerry/fleet-kinds'
import { podSecurityLabel, podSecurityLevel } from '../mapping/host-access.ts'
import { createMapping } from '../mapping/mapping.ts'
import { createNamespaceRule } from '../mapping/namespace-rule.ts'
import { isolationPolicies } from './isolation-policies.ts'
import { namespaceIsolation } from './namespace-isolation.ts'

let api: TestApiServer
const volcano = 'system:serviceaccount:volcano:volcano'
const policies = '/apis/admissionregistration.k8s.io/v1'
const paths: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicy: `${policies}/validatingadmissionpolicies`,
  ValidatingAdmissionPolicyBinding: `${policies}/validatingadmissionpolicybindings`,
  NetworkPolicy: '/apis/networking.k8s.io/v1/namespaces/shop-east/networkpolicies',
  ResourceQuota: '/api/v1/namespaces/shop-east/resourcequotas',
}

before(async () => {
  api = await startTestApiServer({ withAccess: true })
  await made('/api/v1/namespaces', shop)
  await made('/api/v1/namespaces/shop-east/serviceaccounts', { metadata: { name: 'default' } })
  await made('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  for (const object of isolationPolicies({ schedulers: [volcano] })) {
    await made(paths[object.kind] ?? '', object)
  }
})

after(() => api[Symbol.asyncDispose]())

const shop = {
  metadata: {
    name: 'shop-east',
    labels: { 'edge.skerry.io/virtual-cluster': 'east', 'edge.skerry.io/namespace': 'shop' },
  },
}

async function made(path: string, body: object): Promise<void> {
  const reply = await callApi(api.transport, { method: 'POST', path, body })
  assert.equal(reply.status, 201, reply.text)
}

function as(name: string) {
  return api.transportAs({ ...administrator, name, groups: ['system:authenticated'] })
}

function podSpec(spec: object = {}) {
  return { containers: [{ name: 'a', image: 'a' }], ...spec }
}

function pod(name: string, spec: object = {}) {
  return { metadata: { name }, spec: podSpec(spec) }
}

const east = { [groupLabel]: 'east' }
const toleratesAll = { tolerations: [{ operator: 'Exists' }] }

const group = { clusterName: 'east', namespaces: createNamespaceRule({ clusterName: 'east' }) }

/** The pod template of a workload as it is sent to the virtual cluster. */
function sentTemplate(apiVersion: string, kind: string): unknown {
  const template = pod('web')
  const metadata = { namespace: 'shop', name: 'web' }
  const sent = createMapping(group).toMember({ apiVersion, kind, metadata, spec: { template } })
  return fieldAt(sent, 'spec', 'template', 'spec')
}

test('pods in a namespace of a virtual cluster are made for its nodes, no matter who makes them', async () => {
  const dryRun = (namespace: string, spec: unknown) =>
    callApi(api.transport, {
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
      body: { metadata: { name: 'a' }, spec },
    })
  const table: [spec: unknown, refusal?: RegExp][] = [
    [sentTemplate('apps/v1', 'DaemonSet')],
    [sentTemplate('batch/v1', 'Job')],
    [podSpec({ nodeSelector: { ...east, disk: 'fast' }, ...toleratesAll })],
    [podSpec(), /a pod of virtual cluster east needs node selector .*virtual-cluster: east/],
    [podSpec(toleratesAll), /needs node selector/],
    [podSpec({ nodeSelector: { [groupLabel]: 'west' } }), /needs node selector/],
    [podSpec({ nodeSelector: { disk: 'fast' } }), /needs node selector/],
    [podSpec({ nodeSelector: east, nodeName: 'node-7' }), /names no node/],
  ]
  for (const [spec, refusal] of table) {
    const { status, body } = await dryRun('shop-east', spec)
    assert.equal(status, refusal ? 403 : 201, JSON.stringify(spec))
    if (refusal) assert.match(body.message, refusal)
    assert.equal((await dryRun('default', spec)).status, 201, 'elsewhere nothing is asked')
  }
})

test('in a confined namespace no pod reaches its node, no matter who makes it', async () => {
  const level = (namespace: string, value: string) =>
    callApi(api.transport, {
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { metadata: { labels: { [podSecurityLabel]: value } } },
    })
  const volume = (source: object) => ({ volumes: [{ name: 'a', ...source }] })
  const sys = { capabilities: { add: ['SYS_ADMIN'] } }
  const table: [spec: object, isRefused: boolean][] = [
    [{}, false],
    [volume({ emptyDir: {} }), false],
    [volume({ nfs: { server: 'a', path: '/' } }), false],
    [volume({ hostPath: { path: '/' } }), true],
    [volume({ iscsi: { targetPortal: 'a', iqn: 'iqn.2026-01.com.example:a', lun: 0 } }), true],
    [volume({ awsElasticBlockStore: { volumeID: 'a' } }), true],
    [{ hostNetwork: true }, true],
    [{ containers: [{ name: 'a', image: 'a', securityContext: { privileged: true } }] }, true],
    [{ containers: [{ name: 'a', image: 'a', securityContext: sys }] }, true],
  ]
  const path = '/api/v1/namespaces/shop-east/pods?dryRun=All'
  for (const isConfined of [true, false]) {
    await level('shop-east', isConfined ? podSecurityLevel : 'privileged')
    for (const [spec, isRefused] of table) {
      const body = pod('a', { nodeSelector: east, ...spec })
      const { status, text } = await callApi(api.transport, { method: 'POST', path, body })
      assert.equal(status, isConfined && isRefused ? 403 : 201, text)
    }
  }
})

test('its pods are bound by the scheduler alone', async () => {
  for (const user of ['olga', 'system:kube-scheduler', volcano]) await giveAll(user)
  await made('/api/v1/namespaces/shop-east/pods', pod('bound', { nodeSelector: east }))
  const body = { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'node-7' } }
  const bind = async (user: string, path: string) => {
    const call = { method: 'POST', path: `/api/v1/namespaces/shop-east/${path}`, body } as const
    const { status, body: answer } = await callApi(as(user), call)
    return status === 201 ? 'bound' : answer.message
  }
  const refusal = /pods of a virtual cluster are bound by the scheduler alone$/
  assert.match(await bind('olga', 'pods/bound/binding'), refusal)
  assert.match(await bind('olga', 'bindings'), refusal)
  assert.equal(await bind('system:kube-scheduler', 'pods/bound/binding?dryRun=All'), 'bound')
  assert.equal(await bind(volcano, 'pods/bound/binding'), 'bound')
})

/** Creates the rights of a user who may write all namespaces, and one VirtualCluster by name. */
async function giveRights(user: string, virtualClusters: readonly string[]): Promise<void> {
  const path = '/apis/rbac.authorization.k8s.io/v1'
  const namespaces = { apiGroups: [''], resources: ['namespaces'], verbs: ['*'] }
  const clusters = {
    apiGroups: ['edge.skerry.io'],
    resources: ['virtualclusters'],
    resourceNames: virtualClusters,
    verbs: ['update'],
  }
  const rules = virtualClusters.length > 0 ? [namespaces, clusters] : [namespaces]
  await made(`${path}/clusterroles`, { metadata: { name: user }, rules })
  await made(`${path}/clusterrolebindings`, {
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  })
}

test('only users who may update a virtual cluster may change whose a namespace is', async () => {
  await giveRights('olga', [])
  await giveRights('rita', ['east'])
  const relabel = async (user: string, name: string, labels: object) => {
    const reply = await callApi(as(user), {
      method: 'PATCH',
      path: `/api/v1/namespaces/${name}?dryRun=All`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { metadata: { labels } },
    })
    return reply.status
  }
  const cluster = (name: string | null) => ({ 'edge.skerry.io/virtual-cluster': name })
  assert.equal(await relabel('olga', 'shop-east', { team: 'till' }), 200)
  assert.equal(await relabel('olga', 'shop-east', cluster(null)), 403)
  assert.equal(await relabel('olga', 'shop-east', { 'edge.skerry.io/namespace': 'till' }), 403)
  assert.equal(await relabel('olga', 'default', cluster('east')), 403)
  assert.equal(await relabel('rita', 'default', cluster('east')), 200)
  assert.equal(await relabel('rita', 'default', cluster('west')), 403)
  assert.equal(await relabel('rita', 'shop-east', cluster('west')), 403)
  const enforced = (level: string | null) => ({ [podSecurityLabel]: level })
  const confine = { method: 'PATCH', path: '/api/v1/namespaces/shop-east' } as const
  const headers = { 'content-type': 'application/merge-patch+json' }
  const body = { metadata: { labels: enforced(podSecurityLevel) } }
  assert.equal((await callApi(api.transport, { ...confine, headers, body })).status, 200)
  assert.equal(await relabel('olga', 'shop-east', enforced('privileged')), 403)
  assert.equal(await relabel('olga', 'shop-east', enforced(null)), 403)
  assert.equal(await relabel('olga', 'shop-east', enforced('restricted')), 200)
  assert.equal(await relabel('olga', 'shop-east', enforced(podSecurityLevel)), 200)
  assert.equal(await relabel('rita', 'shop-east', enforced('privileged')), 200)
  assert.equal(await relabel('olga', 'default', enforced('privileged')), 200)
  const create = { method: 'POST', path: '/api/v1/namespaces?dryRun=All' } as const
  const fresh = { metadata: { name: 'new', labels: cluster('east') } }
  assert.equal((await callApi(as('olga'), { ...create, body: fresh })).status, 403)
  assert.equal((await callApi(as('rita'), { ...create, body: fresh })).status, 201)
})

test('the isolation of a namespace stays as its agent made it', async () => {
  const options = { clusterName: 'east', namespace: 'shop-east', closedNetwork: true }
  const objects = namespaceIsolation({ ...options, quota: { pods: '100' } })
  assert.deepEqual(
    objects.map(({ kind }) => kind),
    ['NetworkPolicy', 'ResourceQuota'],
  )
  assert.deepEqual(namespaceIsolation({ ...options, closedNetwork: false }), [])
  for (const object of objects) await made(paths[object.kind] ?? '', object)
  const user = 'system:serviceaccount:shop-east:robot'
  await giveAll(user)
  const path = `${paths['NetworkPolicy']}/virtual-cluster`
  const remove = { method: 'DELETE', path } as const
  const refused = await callApi(as(user), remove)
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /isolates a virtual cluster/)
  assert.equal((await callApi(api.transport, remove)).status, 200)
  // A user who clears out a namespace that is being deleted does not need to administer virtual clusters.
  await callApi(api.transport, { method: 'DELETE', path: '/api/v1/namespaces/shop-east' })
  const quota = `${paths['ResourceQuota']}/virtual-cluster`
  assert.equal((await callApi(as(user), { method: 'DELETE', path: quota })).status, 200)
})

/** Grants everything that RBAC can grant in a namespace of the virtual cluster. */
async function giveAll(user: string): Promise<void> {
  const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop-east'
  await made(`${path}/rolebindings`, {
    metadata: { name: `all-${user}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  })
}
