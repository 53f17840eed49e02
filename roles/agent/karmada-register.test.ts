import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  StatusError,
  bootstrapNamespace,
  bootstrapSecretName,
  type BootstrapToken,
  type KubeObject,
  type Secret,
} from '@skerry/api'
import { linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { requestCertificate } from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  fixedCredentials,
  resources,
  type ClusterClient,
  type HttpsTransportConfig,
  type TypedResource,
} from '@skerry/client'
import { agentsGroup, clusterResource } from '@skerry/fleet-kinds'
import { pendingRegistrations } from '@skerry/membership'
import { spkiHash } from '@skerry/pki'
import { until } from '@skerry/testing'
import { registerCluster, startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'
import { openKarmadaIdentity } from './karmada-identity.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const generator = 'system:karmada:agent:rbac-generator'

/** Creates a token through the hub's own API, as `karmadactl token create` does. */
async function openToken(fleet: TestHub, id: string): Promise<BootstrapToken> {
  const token = { id, secret: '0123456789abcdef' }
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: bootstrapNamespace, name: bootstrapSecretName(id) },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': token.secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': 'system:bootstrappers:karmada:default-cluster-token',
    },
  }
  await fleet.admin.resource(resources.secrets).create(secret, soon())
  return token
}

type Credentials = HttpsTransportConfig['credentials']

/** A client of the hub over its socket, until it is disposed. */
function clientOf(fleet: TestHub, credentials: Credentials, userAgent = 'karmadactl/v1.18.1') {
  const transport = createHttpsTransport(
    {
      server: fleet.url,
      certificateAuthority: fleet.caPem,
      ...(credentials ? { credentials } : {}),
    },
    { clock: systemClock },
  )
  const cluster = createCluster(transport, { ...deps, userAgent })
  return { cluster, [Symbol.dispose]: () => transport[Symbol.dispose]() }
}

function withToken(fleet: TestHub, { id, secret }: BootstrapToken) {
  return clientOf(fleet, fixedCredentials({ bearerToken: `${id}.${secret}` }))
}

async function certificate(cluster: ClusterClient, commonName: string, signal = soon()) {
  const { certificatePem, privateKeyPem } = await requestCertificate(
    cluster,
    {
      generateName: commonName === generator ? 'agent-rbac-generator-' : 'agent-',
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['digital signature', 'key encipherment', 'client auth'],
      subject: { commonName, organizations: [agentsGroup] },
    },
    deps,
    signal,
  )
  return fixedCredentials({ certificate: certificatePem, key: privateKeyPem })
}

async function reasonOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked
    return 'done'
  } catch (error) {
    if (error instanceof StatusError) return error.reason
    throw error
  }
}

const clusterRoles: TypedResource<KubeObject> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
  isNamespaced: false,
}

test("the hub's public cluster-info is signed with a token of karmadactl’s", async () => {
  await using fleet = await startTestHub()
  await openToken(fleet, 'abcdef')
  using anyone = clientOf(fleet, undefined)
  const maps = anyone.cluster.resource(resources.configMaps)
  const key = { namespace: 'kube-public', name: 'cluster-info' }
  const signal = soon()
  await until(async () => {
    const { data = {} } = await maps.get(key, signal)
    assert.match(data['kubeconfig'] ?? '', /certificate-authority-data/)
    return data['jws-kubeconfig-abcdef'] !== undefined
  }, signal)
})

test('a registration as karmadactl makes it gets past its roles, none of which are stored', async () => {
  await using fleet = await startTestHub()
  await registerCluster(fleet, 'taken')
  using asker = withToken(fleet, await openToken(fleet, 'abcdef'))
  using made = clientOf(fleet, await certificate(asker.cluster, generator))
  const { cluster } = made
  const name = 'system:karmada:north:agent'
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
  }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'karmada-es-north' } }
  const clusters = cluster.resource(clusterResource)
  const own = {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'rbac-generator' },
    spec: { syncMode: 'Pull' as const },
  }
  assert.deepEqual(
    await Promise.all(
      [
        clusters.get({ name: 'north' }, soon()),
        cluster.resource(clusterRoles).create(role, soon()),
        cluster.resource(resources.namespaces).create(namespace, soon()),
        clusters.get({ name: 'taken' }, soon()),
        clusters.list({}, soon()),
        clusters.create(own, soon()),
        cluster.resource(resources.secrets).list({ namespace: bootstrapNamespace }, soon()),
      ].map(reasonOf),
    ),
    ['NotFound', 'AlreadyExists', 'AlreadyExists', ...Array<string>(4).fill('Forbidden')],
  )
  const { admin } = fleet
  assert.equal(await reasonOf(admin.resource(clusterRoles).get({ name }, soon())), 'NotFound')
})

test('a role generator deletes its own request, and nobody else’s', async () => {
  await using fleet = await startTestHub()
  const requests = fleet.admin.resource(resources.certificateSigningRequests)
  using asker = withToken(fleet, await openToken(fleet, 'abcdef'))
  using one = clientOf(fleet, await certificate(asker.cluster, generator))
  const own = (await requests.list({}, soon())).items.map(({ metadata }) => metadata.name ?? '')
  await certificate(asker.cluster, generator)
  const all = (await requests.list({}, soon())).items.map(({ metadata }) => metadata.name ?? '')
  assert.deepEqual([own.length, all.length], [1, 2])
  const given = one.cluster.resource(resources.certificateSigningRequests)
  const answers = all.map(async (name) => [
    own.includes(name),
    await reasonOf(given.delete({ name }, soon())),
  ])
  const expected = all.map((name) => (own.includes(name) ? [true, 'done'] : [false, 'Forbidden']))
  assert.deepEqual(await Promise.all(answers), expected)
})

test('a user who comes to a Karmada with an unknown token learns where to get others', async () => {
  await using fleet = await startTestHub()
  const directory = join(fleet.directory, 'agent')
  const asked = {
    directory,
    server: fleet.url,
    clusterName: 'north',
    tokenFile: undefined,
    tokenText: 'abcdef.0123456789abcdef',
    caHash: spkiHash(fleet.caPem),
    readClusterId: async () => 'one',
  }
  await assert.rejects(
    openKarmadaIdentity(asked, fleet.context),
    /token abcdef is unknown there or expired; create one with: karmadactl token create --print-register-command$/,
  )
})

test('a token that names no cluster is good for one key and a free name', async () => {
  await using fleet = await startTestHub()
  await registerCluster(fleet, 'taken')
  const token = await openToken(fleet, 'abcdef')
  using asker = withToken(fleet, token)
  using over = linkedSignal(soon())
  const { signal } = over
  await certificate(asker.cluster, 'system:karmada:agent:north')
  const waiting = ['taken', 'south'].map((name) =>
    certificate(asker.cluster, `system:karmada:agent:${name}`, signal),
  )
  const pending = await until(async () => {
    const found = await pendingRegistrations(fleet.admin, signal)
    return found.length === 2 && found.every(({ waitsFor }) => waitsFor !== '') && found
  }, signal)
  const why = Object.fromEntries(pending.map(({ cluster, waitsFor }) => [cluster, waitsFor]))
  assert.match(why['taken'] ?? '', /names no cluster, and this one is registered/)
  assert.match(why['south'] ?? '', /was used before, by key sha256:/)
  over.abort(new Error('nobody will accept them'))
  const ended = await Promise.allSettled(waiting)
  assert.ok(ended.every(({ status }) => status === 'rejected'))
})

test('Karmada’s agent reports its cluster, keeps its own secrets, and sees no other cluster', async () => {
  await using fleet = await startTestHub()
  await registerCluster(fleet, 'other')
  using asker = withToken(fleet, await openToken(fleet, 'abcdef'))
  const credentials = await certificate(asker.cluster, 'system:karmada:agent:north')
  using agent = clientOf(fleet, credentials, 'karmada-agent/v1.18.1')
  const clusters = agent.cluster.resource(clusterResource)
  const created = await clusters.create(
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'north' },
      spec: { syncMode: 'Pull', id: 'one', apiEndpoint: 'https://10.0.0.1:6443' },
    },
    soon(),
  )
  assert.deepEqual([created.spec.id, created.spec.apiEndpoint], ['one', undefined])
  const patch = { spec: { apiEndpoint: 'https://10.0.0.2:6443' } }
  const updated = await clusters.patch({ name: 'north', type: 'merge', patch }, soon())
  assert.equal(updated.spec.apiEndpoint, undefined)
  const { items } = await clusters.list({}, soon())
  assert.deepEqual(
    items.map((each) => each.metadata.name),
    ['north'],
  )
  const secret = (name: string): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'karmada-cluster', name },
    type: 'Opaque',
    stringData: { token: 'abc' },
  })
  const secrets = agent.cluster.resource(resources.secrets)
  const key = { namespace: 'karmada-cluster', name: 'other' }
  assert.deepEqual(
    await Promise.all(
      [
        secrets.create(secret('north'), soon()),
        secrets.create(secret('north-impersonator'), soon()),
        secrets.create(secret('other'), soon()),
        secrets.get(key, soon()),
      ].map(reasonOf),
    ),
    ['done', 'done', 'Forbidden', 'Forbidden'],
  )
  using twin = withToken(fleet, await openToken(fleet, 'fedcba'))
  const other = await certificate(twin.cluster, 'system:karmada:agent:north-impersonator')
  using thief = clientOf(fleet, other, 'karmada-agent/v1.18.1')
  const stolen = thief.cluster
    .resource(resources.secrets)
    .get({ ...key, name: 'north-impersonator' }, soon())
  assert.equal(await reasonOf(stolen), 'Forbidden')
})

test('a cluster in push mode is refused, with the alternative', async () => {
  await using fleet = await startTestHub()
  const asked = fleet.admin.resource(clusterResource).create(
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'south' },
      spec: { syncMode: 'Push' },
    },
    soon(),
  )
  await assert.rejects(asked, /none in push mode; register it with "karmadactl register"[^]*--push/)
})
