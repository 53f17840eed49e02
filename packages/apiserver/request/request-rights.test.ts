import assert from 'node:assert/strict'
import { request as httpsRequest } from 'node:https'
import { test } from 'node:test'
import type { PolicyRule } from '@skerry/api'
import { startTestApiServer, callApi, type TestApiServer } from '@skerry/testing'
import type { UserInfo } from '../contract/access.ts'
import { createRequestRights } from './request-rights.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
const configMaps = '/api/v1/namespaces/default/configmaps'
const jane: UserInfo = { name: 'jane', groups: ['system:authenticated'], extra: {} }

/** Starts a server on which jane may do what the rule allows in the namespace default, and nothing else. */
async function serverFor(...rules: PolicyRule[]): Promise<TestApiServer> {
  const server = await startTestApiServer({ withAccess: true })
  await allow(server, rules)
  return server
}

const onConfigMaps = (verbs: string[], ...resourceNames: string[]): PolicyRule => ({
  apiGroups: [''],
  resources: ['configmaps'],
  verbs,
  ...(resourceNames.length > 0 ? { resourceNames } : {}),
})

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

test('a right to one name creates and deletes nothing of another name, whatever the selector says', async () => {
  await using server = await serverFor(onConfigMaps(['*'], 'mine'))
  const asJane = server.transportAs(jane)
  await callApi(server.transport, { method: 'POST', path: configMaps, body: configMap('others') })
  const selected = `${configMaps}?fieldSelector=metadata.name%3Dmine`
  const listed = await callApi(asJane, { path: selected })
  assert.equal(listed.status, 200)
  const created = await callApi(asJane, {
    method: 'POST',
    path: selected,
    body: configMap('theirs'),
  })
  assert.equal(created.status, 403)
  const deleted = await callApi(asJane, { method: 'DELETE', path: selected })
  assert.equal(deleted.status, 403)
})

test('an apply and a PUT that make an object need the right to create', async () => {
  const applied = 'application/apply-patch+yaml'
  const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/new'
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update'] }
  await using server = await serverFor(onConfigMaps(['patch']), leases)
  const asJane = server.transportAs(jane)
  const apply = (name: string, transport = asJane) =>
    callApi(transport, {
      method: 'PATCH',
      path: `${configMaps}/${name}?fieldManager=test`,
      headers: { 'content-type': applied },
      body: configMap(name),
    })
  const refused = await apply('new')
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /"jane" cannot create resource "configmaps"/)
  const put = {
    method: 'PUT' as const,
    path: lease,
    body: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'new' } },
  }
  assert.equal((await callApi(asJane, put)).status, 403)
  for (const path of [`${configMaps}/new`, lease]) {
    assert.equal((await callApi(server.transport, { path })).status, 404, path)
  }
  // An object that exists already is only changed.
  assert.equal((await apply('new', server.transport)).status, 201)
  assert.equal((await apply('new')).status, 200)
})

test('the verb in a path is the only thing that such a path does', async () => {
  const watchers = { apiGroups: ['*'], resources: ['*'], verbs: ['watch'] }
  await using server = await serverFor(watchers)
  const asJane = server.transportAs(jane)
  const watched = '/api/v1/watch/namespaces/default'
  const table: readonly ['GET' | 'POST' | 'DELETE' | 'PUT', string, number][] = [
    ['POST', `${watched}/configmaps`, 405],
    ['DELETE', `${watched}/configmaps`, 405],
    ['PUT', `${watched}/configmaps/a`, 405],
    // A right to watch pods/log or pods/proxy does not include reading or calling.
    ['GET', `${watched}/pods/a/log`, 404],
    ['POST', `${watched}/pods/a/proxy`, 404],
    ['GET', `${watched}/pods/a/exec`, 404],
  ]
  for (const [method, path, status] of table) {
    const answer = await callApi(asJane, { method, path })
    assert.equal(answer.status, status, `${method} ${path}`)
  }
})

test('a flag that upstream takes for true is a watch, and needs the right to watch', async () => {
  await using server = await serverFor(onConfigMaps(['list']))
  const asJane = server.transportAs(jane)
  for (const flag of ['f', 'F', 'no', '']) {
    const { status } = await callApi(asJane, { path: `${configMaps}?watch=${flag}` })
    assert.equal(status, 403, flag)
  }
  const { status } = await callApi(asJane, { path: `${configMaps}?watch=False` })
  assert.equal(status, 200)
})

test('a session needs the right to create it, even as a GET', async () => {
  const dial = { dialNode: unreachable, dialAddress: unreachable }
  const subresources = ['exec', 'attach', 'portforward']
  const impersonated = { 'impersonate-user': 'jane' }
  for (const [verbs, status] of [
    [['get'], 403],
    [['get', 'create'], 404],
  ] as const) {
    await using server = await startTestApiServer({ withAccess: true, dial })
    const resources = subresources.map((name) => `pods/${name}`)
    await allow(server, [{ apiGroups: [''], resources, verbs: [...verbs] }])
    for (const subresource of subresources) {
      const path = `/api/v1/namespaces/default/pods/absent/${subresource}?command=id&stdout=1`
      const plain = await callApi(server.transportAs(jane), { path })
      assert.equal(plain.status, status, subresource)
      assert.equal(await upgraded(server, path, impersonated), status, subresource)
    }
  }
})

test('a session through the node needs the right to create it, too', async () => {
  const dial = { dialNode: unreachable, dialAddress: unreachable }
  const command = '/exec/default/web/app?command=id&output=1'
  for (const [verbs, isRefused] of [
    [['get'], true],
    [['get', 'create'], false],
  ] as const) {
    await using server = await startTestApiServer({ withAccess: true, dial })
    await server.objects.create(
      { group: '', resource: 'nodes' },
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'n1' },
        status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] },
      },
    )
    await allowEverywhere(server, [
      { apiGroups: [''], resources: ['nodes/proxy'], verbs: [...verbs] },
    ])
    const impersonated = { 'impersonate-user': 'jane' }
    for (const name of ['n1', 'n1:10250', 'https:n1:10250', 'https:n1:010250']) {
      const path = `/api/v1/nodes/${name}/proxy${command}`
      const status = await upgraded(server, path, impersonated)
      assert.equal(status === 403, isRefused, `${name} ${status}`)
    }
    for (const port of ['10250.0', '0x280a', '%2010250', '%2B10250']) {
      const path = `/api/v1/nodes/https:n1:${port}/proxy${command}`
      assert.equal(await upgraded(server, path, impersonated), 400, port)
    }
  }
})

test('a user who names parameters of a policy must be allowed to read them', async () => {
  const admission = {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    verbs: ['*'],
  }
  await using server = await startTestApiServer({ withAccess: true })
  await allowEverywhere(server, [admission])
  const asJane = server.transportAs(jane)
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic'
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const metadata = { name: 'secrets' }
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      paramKind: { apiVersion: 'v1', kind: 'Secret' },
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false', messageExpression: 'string(params.data.password)' }],
    },
  }
  const paramRef = { name: 'theirs', namespace: 'kube-system', parameterNotFoundAction: 'Deny' }
  const binding = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: 'secrets', validationActions: ['Deny'], paramRef },
  }
  const refused = await callApi(asJane, { method: 'POST', path: `${path}ies`, body: policy })
  assert.equal(refused.status, 422)
  assert.equal(refused.body.details.causes[0].field, 'spec.paramKind')
  await callApi(server.transport, { method: 'POST', path: `${path}ies`, body: policy })
  const unbound = await callApi(asJane, { method: 'POST', path: `${path}ybindings`, body: binding })
  assert.equal(unbound.status, 422)
  assert.equal(unbound.body.details.causes[0].field, 'spec.paramRef')
})

test('a right to escalate one name creates no role of that name', async () => {
  const apiGroups = ['rbac.authorization.k8s.io']
  const resources = ['roles']
  await using server = await serverFor(
    { apiGroups, resources, verbs: ['create', 'patch'] },
    { apiGroups, resources, verbs: ['escalate'], resourceNames: ['wide'] },
  )
  const metadata = { name: 'wide' }
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  const body = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules }
  const sent = { method: 'POST' as const, path: `${rbac}/roles`, body }
  assert.equal((await callApi(server.transportAs(jane), sent)).status, 403)
  await callApi(server.transport, { ...sent, body: { ...body, rules: [] } })
  const headers = { 'content-type': 'application/merge-patch+json' }
  const patched = { method: 'PATCH' as const, path: `${rbac}/roles/wide`, headers, body: { rules } }
  assert.equal((await callApi(server.transportAs(jane), patched)).status, 200)
})

test('a session ends when any of the rights that it needed is gone', async () => {
  const rights = new Set(['get', 'create'])
  const own = () => ({ user: jane, verb: 'get', isResourceRequest: true, path: '/x' }) as const
  const authorizer = {
    authorize: async ({ verb }: { verb: string }) =>
      ({ verdict: rights.has(verb) ? 'allow' : 'no-opinion', reason: '' }) as const,
  }
  const { requireVerb, mayGoOn } = createRequestRights(own, authorizer, async () => undefined)
  await requireVerb('create')
  await mayGoOn()
  rights.delete('create')
  await assert.rejects(mayGoOn(), { code: 403 })
})

/** Grants the same everywhere. */
async function allowEverywhere(server: TestApiServer, rules: PolicyRule[]): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  const metadata = { name: 'janes' }
  const roleRef = { apiGroup, kind: 'ClusterRole', name: 'janes' }
  const subjects = [{ apiGroup, kind: 'User', name: 'jane' }]
  const binding = { metadata, roleRef, subjects }
  const bodies = { clusterroles: { metadata, rules }, clusterrolebindings: binding }
  for (const [resource, body] of Object.entries(bodies)) {
    const path = `/apis/rbac.authorization.k8s.io/v1/${resource}`
    assert.equal((await callApi(server.transport, { method: 'POST', path, body })).status, 201)
  }
}

async function unreachable(): Promise<never> {
  throw new Error('Cannot reach the node: there is none')
}

async function allow(server: TestApiServer, rules: PolicyRule[]): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  const metadata = { name: 'janes' }
  const roleRef = { apiGroup, kind: 'Role', name: 'janes' }
  const subjects = [{ apiGroup, kind: 'User', name: 'jane' }]
  const bodies = { roles: { metadata, rules }, rolebindings: { metadata, roleRef, subjects } }
  for (const [path, body] of Object.entries(bodies)) {
    const sent = { method: 'POST' as const, path: `${rbac}/${path}`, body }
    assert.equal((await callApi(server.transport, sent)).status, 201)
  }
}

/** Returns the status of a WebSocket's handshake. */
function upgraded(
  { url, credentials }: TestApiServer,
  path: string,
  more: Readonly<Record<string, string>>,
): Promise<number> {
  const { ca, cert, key } = credentials
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    'sec-websocket-protocol': 'v5.channel.k8s.io',
    ...more,
  }
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(`${url}${path}`, { ca, cert, key, headers, agent: false })
    outgoing.on('error', reject)
    outgoing.on('upgrade', (_answer, socket) => {
      socket.destroy()
      resolve(101)
    })
    outgoing.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    outgoing.end()
  })
}
