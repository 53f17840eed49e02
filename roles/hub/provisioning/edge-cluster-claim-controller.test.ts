import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createEventSink,
  ifThere,
  resources,
  type ClusterClient as Api,
} from '@skerry/client'
import { createInformerSet, runController } from '@skerry/controller-runtime'
import { clusterKind, clusterResource } from '@skerry/fleet-kinds'
import { builtinKinds } from '@skerry/kinds'
import { edgeClusterKind, edgeClusterResource, type EdgeCluster } from '@skerry/provisioning'
import { startTestApiServer, untilObject } from '@skerry/testing'
import { claimKey, claimLabel, ownerOf } from './cluster-claim.ts'
import { edgeClusterClaimController } from './edge-cluster-claim-controller.ts'
import { removeMadeLogins } from './made-logins.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const namespace = 'default'

async function start(): Promise<{ readonly api: Api } & AsyncDisposable> {
  const kinds = await builtinKinds()
  await using stack = new AsyncDisposableStack()
  const all = [...kinds, clusterKind(kinds), edgeClusterKind(kinds)]
  const server = stack.use(await startTestApiServer({ kinds: all }))
  const api = createCluster(server.transport, deps)
  const informers = createInformerSet(api, deps)
  const events = createEventSink(api, deps)
  const stop = linkedSignal(soon())
  const parts = { ...deps, cluster: api, informers, events }
  const running = runAll(stop.signal, [
    (scope) => informers.run(scope),
    (scope) => events.run(scope),
    (scope) => runController(edgeClusterClaimController, parts, scope),
  ])
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const owned = stack.move()
  return { api, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function makeEdge(api: Api, name: string, secret = 'ssh'): Promise<EdgeCluster> {
  const machines = [
    { addresses: ['10.0.0.1'], role: 'Master' as const, credentials: { name: secret } },
  ]
  const head = { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster' }
  return api
    .resource(edgeClusterResource)
    .create({ ...head, metadata: { namespace, name }, spec: { machines } }, soon())
}

/** Creates the ConfigMap by which a hub reserves the name of an EdgeCluster. */
async function claim(api: Api, edge: EdgeCluster): Promise<void> {
  const labels = { [claimLabel]: '' }
  const metadata = { ...claimKey(edge.metadata.name ?? ''), labels }
  const data = { owner: ownerOf(edge) }
  const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
  await api.resource(resources.configMaps).create(made, soon())
}

const untilFree = (api: Api, name: string): Promise<unknown> =>
  untilObject(
    api,
    { resource: resources.configMaps, key: claimKey(name) },
    (found) => found === undefined,
    soon(),
  )

test('a name is free when its EdgeCluster has gone without its removal; another claim stays', async () => {
  await using scene = await start()
  const { api } = scene
  const [shop, bank] = [await makeEdge(api, 'shop'), await makeEdge(api, 'bank')]
  await claim(api, shop)
  await claim(api, bank)
  await api.resource(edgeClusterResource).delete({ namespace, name: 'shop' }, soon())
  await untilFree(api, 'shop')
  const kept = await ifThere(api.resource(resources.configMaps).get(claimKey('bank'), soon()))
  assert.equal(kept?.data?.['owner'], ownerOf(bank))
})

test('the claim of one that was made again under its name is free, and its cluster stays on the hub', async () => {
  await using scene = await start()
  const { api } = scene
  const { group, version } = clusterResource
  const cluster = { apiVersion: `${group}/${version}`, kind: 'Cluster', metadata: { name: 'shop' } }
  await api.resource(clusterResource).create({ ...cluster, spec: { syncMode: 'Pull' } }, soon())
  const edge = await makeEdge(api, 'shop')
  await claim(api, { ...edge, metadata: { ...edge.metadata, uid: 'the-one-before' } })
  await untilFree(api, 'shop')
  assert.ok(await api.resource(clusterResource).get({ name: 'shop' }, soon()))
})

test('Secrets that commands have made go with their cluster, but for one that another cluster names', async () => {
  await using scene = await start()
  const { api } = scene
  const secrets = api.resource(resources.secrets)
  const labels = { 'hub.skerry.io/login-of': 'shop' }
  for (const [name, labelled] of [
    ['shop-ssh', labels],
    ['shared-ssh', labels],
    ['own-ssh', undefined],
    ['bank-ssh', { 'hub.skerry.io/login-of': 'bank' }],
  ] as const) {
    const metadata = { namespace, name, ...(labelled === undefined ? {} : { labels: labelled }) }
    await secrets.create({ apiVersion: 'v1', kind: 'Secret', metadata }, soon())
  }
  const shop = await makeEdge(api, 'shop', 'shop-ssh')
  await makeEdge(api, 'bank', 'shared-ssh')
  await removeMadeLogins(shop, api, soon())
  await removeMadeLogins(shop, api, soon())
  const { items } = await secrets.list({ namespace }, soon())
  const names = items.map(({ metadata: { name = '' } }) => name).toSorted()
  assert.deepEqual(names, ['bank-ssh', 'own-ssh', 'shared-ssh'])
})
