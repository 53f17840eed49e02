import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { systemClock } from '@skerry/base'
import { createHttpsTransport, readBody, resources } from '@skerry/client'
import { clusterNamespace } from '@skerry/fleet-kinds'
import { until } from '@skerry/testing'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import {
  createKarmadaAccess,
  deleteKarmadaAccess,
  karmadaAccounts,
} from '../admin/karmada-access.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const asAnna = [
  ['impersonate-user', 'anna'],
  ['impersonate-group', 'shop-keepers'],
] as const

async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge())
  const fleet = stack.use(await startTestHub())
  const agent = stack.use(await startTestAgent(fleet, { name: 'edge', api: edge.api }))
  await untilCluster(
    fleet,
    'edge',
    ({ Ready, Connected }) => Ready === 'True' && Connected === 'True',
  )
  const options = {
    name: 'edge',
    server: fleet.url,
    caPem: fleet.caPem,
    ttlSeconds: 3_600,
    syncMode: 'Pull' as const,
  }
  const objects = await createKarmadaAccess(fleet.admin, options, soon())
  const owned = stack.move()
  return { edge, fleet, agent, objects, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function tokenIn(objects: readonly AnyObject[], name: string): string {
  const data = objects.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === name)?.[
    'data'
  ]
  return Buffer.from(Object(data).token, 'base64').toString('utf8')
}

interface Call {
  token: string
  path: string
  headers?: readonly (readonly [string, string])[]
  body?: object
}

async function call(fleet: TestHub, { token, path, headers = [], body }: Call) {
  using transport = createHttpsTransport(
    {
      server: fleet.url,
      certificateAuthority: fleet.caPem,
      credentials: async () => ({ bearerToken: token }),
    },
    { clock: systemClock },
  )
  const answer = await transport.send(
    {
      method: body ? 'POST' : 'GET',
      path,
      headers: { 'content-type': 'application/json', ...Object.fromEntries(headers) },
      ...(body ? { body: Buffer.from(JSON.stringify(body)) } : {}),
    },
    soon(),
  )
  const text = (await readBody(answer.body)).toString('utf8')
  return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text }
}

const review = {
  path: '/clusters/edge/apis/authentication.k8s.io/v1/selfsubjectreviews',
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
}

test('a delegate says at its cluster who asks, and the edge sees that user', async () => {
  await using all = await startFleet()
  const token = tokenIn(all.objects, 'edge-impersonator')
  const answer = await call(all.fleet, { token, ...review, headers: asAnna })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  const { username, groups } = answer.body.status.userInfo
  assert.equal(username, 'anna')
  assert.deepEqual(groups.toSorted(), ['shop-keepers', 'system:authenticated'])
  const line = await auditedOf(join(all.fleet.directory, 'audit.log'), 'anna')
  const account = karmadaAccounts('edge').impersonator.name
  assert.equal(line.impersonator, `system:serviceaccount:${clusterNamespace}:${account}`)
})

/** Waits for lines of the audit log, which are written a little after their answers. */
function auditedOf(path: string, asked: string): Promise<{ impersonator?: string }> {
  return until(async () => {
    const lines = (await readFile(path, 'utf8')).split('\n').filter((text) => text !== '')
    return lines.map((text) => JSON.parse(text)).find(({ user }) => user === asked)
  }, soon())
}

test('a delegate has no rights anywhere else', async () => {
  await using all = await startFleet()
  const token = tokenIn(all.objects, 'edge-impersonator')
  const asMaster = [
    ['impersonate-user', 'anna'],
    ['impersonate-group', 'system:masters'],
  ] as const
  const refused = [
    // These go to the hub itself, to another cluster, by the other path, and as itself.
    { path: '/api/v1/secrets', headers: asMaster },
    { path: '/apis/cluster.karmada.io/v1alpha1/clusters/edge', headers: asMaster },
    { path: '/clusters/other/api', headers: asMaster },
    { path: '/tunnel/v1/clusters/edge', headers: asMaster },
    { path: '/apis/cluster.karmada.io/v1alpha1/clusters/edge/proxy/api', headers: asMaster },
    { path: '/clusters/edge/api', headers: [] },
  ]
  for (const { path, headers } of refused) {
    const { status } = await call(all.fleet, { token, path, headers })
    assert.equal(status, 403, path)
  }
  for (const path of ['/clusters/edge/../../api/v1/secrets', '/clusters/edge/%2e%2e/api']) {
    const { status } = await call(all.fleet, { token, path, headers: asMaster })
    assert.notEqual(status, 200, path)
  }
})

test('a right to the way is not a right to speak for others', async () => {
  await using all = await startFleet()
  const token = tokenIn(all.objects, 'edge')
  const own = await call(all.fleet, { token, ...review })
  const account = karmadaAccounts('edge').own.name
  assert.equal(
    own.body.status.userInfo.username,
    `system:serviceaccount:${clusterNamespace}:${account}`,
  )
  const answer = await call(all.fleet, { token, ...review, headers: asAnna })
  assert.equal(answer.status, 403)
  const every = { apiGroups: ['cluster.karmada.io'], resources: ['clusters/proxy'], verbs: ['*'] }
  await all.fleet.admin.resource(resources.clusterRoles).create(
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'way-by-every-verb' },
      rules: [every],
    },
    soon(),
  )
  await all.fleet.admin.resource(resources.clusterRoleBindings).create(
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'way-by-every-verb' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'way-by-every-verb',
      },
      subjects: [{ kind: 'ServiceAccount', namespace: clusterNamespace, name: account }],
    },
    soon(),
  )
  const wide = await call(all.fleet, { token, ...review, headers: asAnna })
  assert.equal(wide.status, 403)
})

test('tokens that were given to Karmada are void when its access is taken away', async () => {
  await using all = await startFleet()
  const tokens = ['edge', 'edge-impersonator'].map((name) => tokenIn(all.objects, name))
  await deleteKarmadaAccess(all.fleet.admin, 'edge', soon())
  for (const token of tokens) {
    const { status } = await call(all.fleet, { token, ...review, headers: asAnna })
    assert.equal(status, 401)
  }
  const accounts = await all.fleet.admin
    .resource(resources.serviceAccounts)
    .list({ namespace: clusterNamespace }, soon())
  assert.deepEqual(
    accounts.items.map(({ metadata }) => metadata.name).filter((name) => name !== 'default'),
    [],
  )
})

test('a cluster that the hub does not know is not offered to Karmada', async () => {
  await using fleet = await startTestHub()
  const options = { server: fleet.url, caPem: fleet.caPem, ttlSeconds: 3_600 }
  await assert.rejects(
    createKarmadaAccess(fleet.admin, { ...options, name: 'gone', syncMode: 'Pull' }, soon()),
    /the hub has none; register it first/,
  )
})
