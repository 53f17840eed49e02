/**
 * A pod with all rights in its namespace of a virtual cluster cannot reach the rest of the edge through the
 * edge's own API.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  administrator,
  callApi,
  startTestApiServer,
  until,
  type TestApiServer,
} from '@skerry/testing'
import { addressAnnotations } from '../mapping/external-addresses.ts'
import { createMapping } from '../mapping/mapping.ts'
import { createNamespaceRule } from '../mapping/namespace-rule.ts'
import { isolationPolicies } from './isolation-policies.ts'

const rbac = 'rbac.authorization.k8s.io'
const gatewayApi = 'gateway.networking.k8s.io'
const core = '/api/v1/namespaces/shop-east'
const gateways = `/apis/${gatewayApi}/v1/namespaces/shop-east/gateways`
const tenant = 'system:serviceaccount:shop-east:default'
/** Writes such objects in every namespace, as load balancers, binders and counters of quotas do. */
const controller = 'system:serviceaccount:kube-system:controller'

let api: TestApiServer

before(async () => {
  api = await startTestApiServer({ withAccess: true })
  await made('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', gatewayDefinition)
  const labels = { 'edge.skerry.io/virtual-cluster': 'east', 'edge.skerry.io/namespace': 'shop' }
  await made('/api/v1/namespaces', { metadata: { name: 'shop-east', labels } })
  for (const object of isolationPolicies()) {
    const plural = `${object.kind.toLowerCase().replace(/y$/, 'ie')}s`
    await made(`/apis/admissionregistration.k8s.io/v1/${plural}`, object)
  }
  const group = { clusterName: 'east', namespaces: createNamespaceRule({ clusterName: 'east' }) }
  // The binding as a Work of the virtual cluster brings it.
  const binding = createMapping(group).toMember({
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { namespace: 'shop', name: 'own' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'shop' }],
  })
  await made(`/apis/${rbac}/v1/namespaces/shop-east/rolebindings`, binding)
  const rule = {
    apiGroups: ['', gatewayApi],
    resources: ['*'],
    verbs: ['get', 'create', 'update', 'patch'],
  }
  await made(`/apis/${rbac}/v1/clusterroles`, { metadata: { name: 'controller' }, rules: [rule] })
  await made(`/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name: 'controller' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'controller' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: controller }],
  })
  await until(
    async () => (await callApi(api.transport, { method: 'GET', path: gateways })).status === 200,
  )
})

after(() => api[Symbol.asyncDispose]())

const gatewayDefinition = {
  metadata: {
    name: `gateways.${gatewayApi}`,
    annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' },
  },
  spec: {
    group: gatewayApi,
    scope: 'Namespaced',
    names: { plural: 'gateways', singular: 'gateway', kind: 'Gateway', listKind: 'GatewayList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

async function made(path: string, body: object): Promise<void> {
  const reply = await callApi(api.transport, { method: 'POST', path, body })
  assert.equal(reply.status, 201, reply.text)
}

async function asks(
  user: string,
  method: 'POST' | 'PATCH',
  path: string,
  body: object,
): Promise<number> {
  const caller = { ...administrator, name: user, groups: ['system:authenticated'] }
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const kind = path === gateways ? { apiVersion: `${gatewayApi}/v1`, kind: 'Gateway' } : {}
  const call = { method, path, body: { ...kind, ...body }, headers: { 'content-type': type } }
  const { status, text } = await callApi(api.transportAs(caller), call)
  // The refusal must come from the policies alone.
  if (status === 403) assert.match(text, /ValidatingAdmissionPolicy/)
  return status
}

let names = 0
const fresh = () => `a${(names += 1)}`

const annotated = (key: string, value: string) => ({ metadata: { annotations: { [key]: value } } })

/** Changes to a Service or Gateway that has no address yet. */
const addresses: readonly (readonly [path: string, subresource: string, added: object])[] = [
  [`${core}/services`, '', { spec: { externalIPs: ['203.0.113.7'] } }],
  [`${core}/services`, '', { spec: { loadBalancerIP: '203.0.113.7' } }],
  [`${core}/services`, '', annotated('example.com/address', '203.0.113.7')],
  [`${core}/services`, '', annotated('example.com/address', '2001:db8::1')],
  [`${core}/services`, '', annotated('example.com/address', '["a","203.0.113.7"]')],
  ...[...addressAnnotations].map(
    (key) => [`${core}/services`, '', annotated(key, 'named')] as const,
  ),
  [
    `${core}/services`,
    '/status',
    { status: { loadBalancer: { ingress: [{ ip: '203.0.113.7', ipMode: 'VIP' }] } } },
  ],
  [gateways, '', { spec: { addresses: [{ type: 'IPAddress', value: '203.0.113.7' }] } }],
  [gateways, '', annotated('example.com/address', '203.0.113.7')],
  [gateways, '/status', { status: { addresses: [{ value: '203.0.113.7' }] } }],
]

const plain = { spec: { type: 'LoadBalancer', ports: [{ port: 443 }] } }

test('rights in a namespace of a virtual cluster alone do not let anybody divert traffic for an address', async () => {
  for (const [path, subresource, added] of addresses) {
    const what = `${path}${subresource} ${JSON.stringify(added)}`
    const name = fresh()
    assert.equal(await asks(tenant, 'POST', path, { ...plain, metadata: { name } }), 201, what)
    assert.equal(await asks(tenant, 'PATCH', `${path}/${name}${subresource}`, added), 403, what)
    assert.equal(await asks(controller, 'PATCH', `${path}/${name}${subresource}`, added), 200, what)
    // Addresses that others have set there stay, and block no other change.
    const labels = { metadata: { labels: { a: 'b' } } }
    assert.equal(await asks(tenant, 'PATCH', `${path}/${name}`, labels), 200, what)
    if (subresource !== '') continue
    const whole = {
      ...plain,
      ...added,
      metadata: { ...('metadata' in added ? (added.metadata as object) : {}), name: fresh() },
      spec: { ...plain.spec, ...('spec' in added ? (added.spec as object) : {}) },
    }
    assert.equal(await asks(tenant, 'POST', path, whole), 403, what)
  }
  for (const note of ['10.0.0.0/8', '12:30:45', 'version 1.2.3', '2026-01-01T00:00:00Z']) {
    const body = {
      ...plain,
      metadata: { name: fresh(), annotations: { 'example.com/note': note } },
    }
    assert.equal(await asks(tenant, 'POST', `${core}/services`, body), 201, note)
  }
})

test('a claim in a namespace of a virtual cluster names its own volumes alone, no matter who makes it', async () => {
  const claim = (volumeName: string | undefined, annotations = {}) => ({
    metadata: { name: fresh(), annotations },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: '',
      resources: { requests: { storage: '1Gi' } },
      ...(volumeName === undefined ? {} : { volumeName }),
    },
  })
  const path = `${core}/persistentvolumeclaims`
  const table: [volumeName: string | undefined, status: number][] = [
    [undefined, 201],
    ['data-east', 201],
    ['my--data-east', 201],
    ['pvc-west', 403],
    // Volumes of a sibling called far-east.
    ['data-far-east', 403],
    ['-east', 403],
    ['east', 403],
  ]
  for (const [volumeName, status] of table) {
    // Controllers create claims from the templates of StatefulSets and pods.
    for (const user of [tenant, controller]) {
      const told = await asks(user, 'POST', path, claim(volumeName))
      // A name that the API server itself refuses also counts as refused.
      const isAsExpected = status === 201 ? told === 201 : told === 403 || told === 422
      assert.ok(isAsExpected, `${user}: ${volumeName}: ${told}`)
    }
  }
  const annotations = { 'volume.kubernetes.io/selected-node': 'node-west' }
  assert.equal(await asks(tenant, 'POST', path, claim(undefined, annotations)), 403)
  const unbound = claim(undefined)
  assert.equal(await asks(tenant, 'POST', path, unbound), 201)
  const one = `${path}/${unbound.metadata.name}`
  const bound = { spec: { volumeName: 'pvc-1' } }
  for (const change of [{ metadata: { annotations } }, bound]) {
    assert.equal(await asks(tenant, 'PATCH', one, change), 403)
    assert.equal(await asks(controller, 'PATCH', one, change), 200)
  }
})

test('the isolation of a namespace is not opened by its status', async () => {
  const hard = { 'count/configmaps': '0' }
  const quotas = `${core}/resourcequotas`
  await made(quotas, { metadata: { name: 'virtual-cluster' }, spec: { hard } })
  const path = `${quotas}/virtual-cluster/status`
  assert.equal(await asks(controller, 'PATCH', path, { status: { hard, used: hard } }), 200)
  const raised = { status: { hard: { 'count/configmaps': '9' } } }
  assert.equal(await asks(tenant, 'PATCH', path, raised), 403)
  const own = { metadata: { name: 'own' }, spec: { hard: { pods: '9' } } }
  assert.equal(await asks(tenant, 'POST', quotas, own), 201)
  assert.equal(await asks(tenant, 'PATCH', `${quotas}/own/status`, raised), 200)
})
