/** Clusters in push mode, as `karmadactl join` registers them: the hub itself dials their API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError, type KubeObject, type Secret } from '@skerry/api'
import {
  createCluster,
  readBody,
  resources,
  type Cluster as Api,
  type PatchRequest,
  type TypedResource,
} from '@skerry/client'
import {
  clusterResource,
  executionNamespace,
  workResource,
  type Cluster,
  type ClusterSpec,
} from '@skerry/karmada'
import type { TestApiServer } from '@skerry/testing'
import { registerCluster, startTestEdge, startTestHub, type TestHub } from './test-fleet.ts'

const signal = AbortSignal.timeout(120_000)
const space = { namespace: 'karmada-cluster' }
const rbac = 'rbac.authorization.k8s.io'

function clientOf(member: TestApiServer, { context }: TestHub): Api {
  return createCluster(member.transport, { ...context, userAgent: 'test' })
}

async function accountToken(edge: Api, name: string): Promise<string> {
  const metadata = { ...space, name }
  const accounts = edge.resource(resources.serviceAccounts)
  await accounts.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata }, signal)
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const request = { ...metadata, subresource: 'token', body }
  const answer = await accounts.createSubresource(request, signal)
  return Object(answer['status']).token
}

/** What join makes at the cluster: an account that may do everything, and one that may nothing yet. */
async function memberTokens(edge: Api) {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: space.namespace } }
  await edge.resource(resources.namespaces).create(namespace, signal)
  const apiVersion = `${rbac}/v1`
  const metadata = { name: 'karmada-controller-manager:karmada-shop' }
  const rules = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['get'], nonResourceURLs: ['*'] },
  ]
  const role = { apiVersion, kind: 'ClusterRole', metadata, rules }
  await edge.resource(resources.clusterRoles).create(role, signal)
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: metadata.name }
  const subjects = [{ kind: 'ServiceAccount', ...space, name: 'karmada-shop' }]
  const binding = { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects }
  await edge.resource(resources.clusterRoleBindings).create(binding, signal)
  return {
    token: await accountToken(edge, 'karmada-shop'),
    impersonatorToken: await accountToken(edge, 'karmada-impersonator'),
  }
}

function clusterOf(name: string, spec: Partial<ClusterSpec>): Cluster {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { syncMode: 'Push', secretRef: { ...space, name }, ...spec },
  }
}

function secretOf(name: string, stringData: Record<string, string>): Secret {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { ...space, name }, stringData }
}

/** As karmadactl does it: both secrets, the Cluster, and that the secrets are the Cluster's. */
async function join(fleet: TestHub, member: TestApiServer, edge: Api): Promise<void> {
  const { token, impersonatorToken } = await memberTokens(edge)
  const secrets = fleet.admin.resource(resources.secrets)
  const caBundle = member.credentials.ca
  const kubeSystem = await edge.resource(resources.namespaces).get({ name: 'kube-system' }, signal)
  const impersonatorSecretRef = { ...space, name: 'shop-impersonator' }
  await secrets.create(secretOf('shop-impersonator', { token: impersonatorToken }), signal)
  await secrets.create(secretOf('shop', { token, caBundle }), signal)
  const id = kubeSystem.metadata.uid ?? ''
  const spec = { id, apiEndpoint: member.url, impersonatorSecretRef }
  const { metadata, apiVersion, kind } = await fleet.admin
    .resource(clusterResource)
    .create(clusterOf('shop', spec), signal)
  const owner = { apiVersion, kind, name: 'shop', uid: metadata.uid, controller: true }
  const patch = { metadata: { ownerReferences: [owner] } }
  for (const name of ['shop', 'shop-impersonator']) {
    await secrets.patch({ ...space, name, type: 'merge', patch }, signal)
  }
}

/** Until the object of this name is as wanted; it is undefined once it is gone. */
async function until<T extends KubeObject>(
  api: Api,
  resource: TypedResource<T>,
  key: { namespace?: string; name: string },
  isWanted: (object: T | undefined) => boolean,
): Promise<void> {
  const { name, ...request } = key
  const { items, metadata } = await api.resource(resource).list(request, signal)
  if (isWanted(items.find((each) => each.metadata.name === name))) return
  const { resourceVersion = '' } = metadata
  for await (const event of api.resource(resource).watch({ ...request, resourceVersion }, signal)) {
    if (event.type === 'BOOKMARK' || event.object.metadata.name !== name) continue
    if (isWanted(event.type === 'DELETED' ? undefined : event.object)) return
  }
}

function readyOf(cluster: Cluster | undefined) {
  return cluster?.status?.conditions?.find(({ type }) => type === 'Ready')
}

async function ask(api: Api, path: string, as?: string): Promise<{ status: number; text: string }> {
  const headers: Record<string, string> = as === undefined ? {} : { 'impersonate-user': as }
  const answer = await api.raw({ method: 'GET', path, headers }, signal)
  return { status: answer.status, text: (await readBody(answer.body)).toString('utf8') }
}

test('a joined cluster is told of, fed and reached without an agent, until it is unjoined', async () => {
  await using fleet = await startTestHub({ push: true })
  await using member = await startTestEdge()
  const { admin } = fleet
  const edge = clientOf(member, fleet)
  await join(fleet, member, edge)
  const shop = { name: 'shop' }
  await until(
    admin,
    clusterResource,
    shop,
    (cluster) =>
      readyOf(cluster)?.status === 'True' &&
      (cluster?.status?.apiEnablements ?? []).length > 0 &&
      cluster?.status?.kubernetesVersion !== undefined &&
      cluster.status.nodeSummary !== undefined,
  )
  const namespace = executionNamespace('shop')
  const made = { namespace: 'default', name: 'till' }
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: made, data: { till: '7' } }
  const work = {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { namespace, name: 'till', finalizers: ['karmada.io/execution-controller'] },
    spec: { workload: { manifests: [manifest] } },
  }
  await admin.resource(workResource).create(work, signal)
  await until(
    admin,
    workResource,
    { namespace, name: 'till' },
    (each) =>
      (each?.status?.conditions ?? []).some(
        ({ type, status }) => type === 'Applied' && status === 'True',
      ) && (each?.status?.manifestStatuses ?? []).length > 0,
  )
  const configMaps = edge.resource(resources.configMaps)
  assert.equal((await configMaps.get(made, signal)).data?.['till'], '7')
  await reach(admin)
  await admin.resource(clusterResource).delete(shop, signal)
  await until(admin, clusterResource, shop, (cluster) => cluster === undefined)
  for (const name of ['shop', 'shop-impersonator']) {
    await until(admin, resources.secrets, { ...space, name }, (secret) => secret === undefined)
  }
  const roles = await edge.resource(resources.clusterRoles).list({}, signal)
  assert.equal(
    roles.items.some(({ metadata }) => metadata.name === 'skerry-hub-impersonator'),
    false,
  )
  assert.equal((await ask(admin, '/clusters/shop/version')).status, 404)
  // What runs there goes on.
  assert.equal((await configMaps.get(made, signal)).data?.['till'], '7')
})

/** Both ways to it, as whoever asks. */
async function reach(admin: Api): Promise<void> {
  const proxy = '/apis/cluster.karmada.io/v1alpha1/clusters/shop/proxy'
  const whoami = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  for (const base of ['/clusters/shop', proxy]) {
    const asked = await ask(admin, `${base}/api/v1/namespaces/default/configmaps/till`)
    assert.equal(asked.status, 200, asked.text)
  }
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const answer = await admin.raw(
    {
      method: 'POST',
      path: `${proxy}${whoami}`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(review)),
    },
    signal,
  )
  const text = (await readBody(answer.body)).toString('utf8')
  assert.equal(JSON.parse(text).status.userInfo.username, 'kubernetes-admin', text)
  // Whom the hub does not let go there is not passed on.
  assert.equal((await ask(admin, `${proxy}/version`, 'anna')).status, 403)
}

test('a Cluster that cannot be pushed to says why, and can be deleted', async () => {
  await using fleet = await startTestHub({ push: true })
  const { admin } = fleet
  const secrets = admin.resource(resources.secrets)
  const clusters = admin.resource(clusterResource)
  const apiEndpoint = 'https://127.0.0.1:1'
  const data = { token: 'none', caBundle: fleet.caPem }
  for (const name of ['dead', 'plain', 'odd']) await secrets.create(secretOf(name, data), signal)
  await secrets.create(secretOf('loose', { token: 'none' }), signal)
  const table: [string, Partial<ClusterSpec>, RegExp][] = [
    ['dead', { apiEndpoint }, /127\.0\.0\.1/],
    ['plain', { apiEndpoint: 'http://127.0.0.1:1' }, /spec\.apiEndpoint must be an https/],
    ['odd', { apiEndpoint, proxyURL: 'socks5://127.0.0.1:1' }, /spec\.proxyURL must be/],
    ['bare', { apiEndpoint }, /secret "karmada-cluster\/bare" .* is not there/],
    ['loose', { apiEndpoint }, /no caBundle/],
  ]
  for (const [name, spec] of table) await clusters.create(clusterOf(name, spec), signal)
  for (const [name, , why] of table) {
    await until(admin, clusterResource, { name }, (cluster) => {
      const ready = readyOf(cluster)
      return ready?.status === 'False' && why.test(ready.message)
    })
    const { status, text } = await ask(admin, `/clusters/${name}/version`)
    assert.equal(status, 503, text)
  }
  await clusters.delete({ name: 'dead' }, signal)
  await until(admin, clusterResource, { name: 'dead' }, (cluster) => cluster === undefined)
})

test('whoever has the hub send a secret somewhere must be allowed to read it', async () => {
  await using fleet = await startTestHub({ push: true })
  const { admin } = fleet
  const apiVersion = `${rbac}/v1`
  const metadata = { name: 'registrar' }
  const rules = [{ verbs: ['*'], apiGroups: ['cluster.karmada.io'], resources: ['clusters'] }]
  const role = { apiVersion, kind: 'ClusterRole', metadata, rules }
  await admin.resource(resources.clusterRoles).create(role, signal)
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'registrar' }
  const subjects = [{ apiGroup: rbac, kind: 'User', name: 'anna' }]
  const binding = { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects }
  await admin.resource(resources.clusterRoleBindings).create(binding, signal)
  await admin
    .resource(clusterResource)
    .create(clusterOf('shop', { apiEndpoint: 'https://shop.example' }), signal)
  using transport = await fleet.as({ commonName: 'anna' })
  const anna = createCluster(transport, { ...fleet.context, userAgent: 'test' })
  const clusters = anna.resource(clusterResource)
  const isRefused = (error: unknown): boolean =>
    isStatusError(error, 'Forbidden') && /must be allowed to get it/.test(error.message)
  const secretRef = { ...space, name: 'shop' }
  const thief = clusterOf('thief', { apiEndpoint: 'https://thief.example', secretRef })
  await assert.rejects(clusters.create(thief, signal), isRefused)
  for (const spec of [{ apiEndpoint: 'https://thief.example' }, { proxyURL: 'http://thief' }]) {
    const change = { name: 'shop', type: 'merge', patch: { spec } } as const
    await assert.rejects(clusters.patch(change, signal), isRefused)
  }
  // What does not say where it is, they may.
  const patch = { spec: { region: 'north' } }
  await clusters.patch({ name: 'shop', type: 'merge', patch }, signal)
})

async function agentOf(fleet: TestHub, name: string) {
  const transport = await fleet.as({
    commonName: `system:karmada:agent:${name}`,
    organizations: ['system:karmada:agents'],
  })
  const cluster = createCluster(transport, { ...fleet.context, userAgent: 'test' })
  return { cluster, [Symbol.dispose]: () => transport[Symbol.dispose]() }
}

test('an agent puts its cluster in push mode neither at first nor later', async () => {
  await using fleet = await startTestHub({ push: true })
  using agent = await agentOf(fleet, 'shop')
  const clusters = agent.cluster.resource(clusterResource)
  const fresh = clusterOf('shop', { apiEndpoint: 'https://127.0.0.1:1' })
  const isRefused = (error: unknown): boolean =>
    isStatusError(error, 'Forbidden') &&
    /an agent may not put a cluster in push/.test(error.message)
  await assert.rejects(clusters.create(fresh, signal), isRefused)
  await registerCluster(fleet, 'shop')
  const change = { name: 'shop', patch: { spec: { syncMode: 'Push' } } }
  const applied = { ...fresh, spec: { syncMode: 'Push' } }
  const writes: PatchRequest[] = [
    { ...change, type: 'merge' },
    { name: 'shop', type: 'apply', patch: applied, fieldManager: 'me', force: true },
  ]
  for (const write of writes) await assert.rejects(clusters.patch(write, signal), isRefused)
  const known = await fleet.admin.resource(clusterResource).get({ name: 'shop' }, signal)
  await assert.rejects(clusters.update({ ...known, spec: { syncMode: 'Push' } }, signal), isRefused)
  const { spec: kept } = await fleet.admin.resource(clusterResource).get({ name: 'shop' }, signal)
  assert.equal(kept.syncMode, 'Pull')
})

test('no agent speaks for a cluster in push mode, nor gives its credentials', async () => {
  await using fleet = await startTestHub({ push: true })
  using agent = await agentOf(fleet, 'shop')
  const secrets = fleet.admin.resource(resources.secrets)
  await secrets.create(secretOf('shop', { token: 'none', caBundle: fleet.caPem }), signal)
  await fleet.admin
    .resource(clusterResource)
    .create(clusterOf('shop', { apiEndpoint: 'https://127.0.0.1:1' }), signal)
  const clusters = agent.cluster.resource(clusterResource)
  const changes = [
    { spec: { syncMode: 'Pull' } },
    { spec: { apiEndpoint: 'https://thief.example' } },
    { spec: { secretRef: { ...space, name: 'other' } } },
    { spec: { insecureSkipTLSVerification: true } },
    { metadata: { labels: { city: 'hull' } } },
  ]
  for (const patch of changes) {
    const change = { name: 'shop', type: 'merge', patch } as const
    await assert.rejects(clusters.patch(change, signal), (error: unknown) =>
      isStatusError(error, 'Forbidden'),
    )
  }
  const own = agent.cluster.resource(resources.secrets)
  const patch = { stringData: { token: 'mine' } }
  await assert.rejects(
    own.patch({ ...space, name: 'shop', type: 'merge', patch }, signal),
    (error: unknown) =>
      isStatusError(error, 'Forbidden') && /no agent keeps its credentials/.test(error.message),
  )
  // What an agent has left before counts for nothing.
  using other = await agentOf(fleet, 'farm')
  const planted = { ...secretOf('farm', { token: 'mine', caBundle: fleet.caPem }), type: 'Opaque' }
  await other.cluster.resource(resources.secrets).create(planted, signal)
  const farm = clusterOf('farm', { apiEndpoint: 'https://127.0.0.1:1' })
  await fleet.admin.resource(clusterResource).create(farm, signal)
  await until(fleet.admin, clusterResource, { name: 'farm' }, (cluster) =>
    /was written by an agent/.test(readyOf(cluster)?.message ?? ''),
  )
})
