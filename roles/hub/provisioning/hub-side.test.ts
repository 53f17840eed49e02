import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, ifThere, resources, type ClusterClient as Api } from '@skerry/client'
import { clusterKind, clusterResource } from '@skerry/fleet-kinds'
import { builtinKinds } from '@skerry/kinds'
import {
  edgeClusterKind,
  edgeClusterResource,
  StepError,
  type EdgeCluster,
  type HubSide,
} from '@skerry/provisioning'
import { startTestApiServer } from '@skerry/testing'
import { createClusterToken } from '../../admin/hub-join-token.ts'
import { shutOut } from '../../admin/strike-off.ts'
import { hubSide } from './hub-side.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(120_000)

interface Scene extends AsyncDisposable {
  readonly api: Api
  readonly side: HubSide
  readonly credentials: { readonly ca: string }
}

async function start(): Promise<Scene> {
  const kinds = await builtinKinds()
  const own = [clusterKind(kinds), edgeClusterKind(kinds)]
  const server = await startTestApiServer({ kinds: [...kinds, ...own] })
  const api = createCluster(server.transport, deps)
  // These are all that the hub's side uses of a hub.
  const hub = {
    cluster: api,
    server: { address: { host: '192.0.2.1', port: 6443 } },
    pki: { authority: { certificatePem: server.credentials.ca } },
    context: deps,
  } as unknown as Parameters<typeof hubSide>[0]
  const side = hubSide(hub, { archiveDirectory: '/nowhere', role: 'hub' })
  const { credentials } = server
  return { api, side, credentials, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

function edgeOf(namespace: string, name: string, clusterName: string): EdgeCluster {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { namespace, name, uid: `uid-of-${namespace}-${name}` },
    spec: { clusterName, hubServer: 'https://hub.example.com:6443', machines: [] },
  }
}

const isFinal = (error: unknown): boolean => error instanceof StepError && error.isFinal

async function makeCluster(api: Api, name: string): Promise<void> {
  const { group, version } = clusterResource
  const cluster = { apiVersion: `${group}/${version}`, kind: 'Cluster', metadata: { name } }
  await api.resource(clusterResource).create({ ...cluster, spec: { syncMode: 'Pull' } }, soon())
}

const isThere = async (api: Api, name: string): Promise<boolean> =>
  (await ifThere(api.resource(clusterResource).get({ name }, soon()))) !== undefined

test('the first of two EdgeClusters has a name; the other gets no token and takes nothing away', async () => {
  await using scene = await start()
  const { api, side } = scene
  const [mine, other] = [edgeOf('a', 'one', 'shop'), edgeOf('b', 'two', 'shop')]
  await side.claim('shop', mine, soon())
  await side.claim('shop', mine, soon())
  assert.match((await side.createToken('shop', mine, soon())).caHash, /^sha256:/)
  await makeCluster(api, 'shop')
  await assert.rejects(side.claim('shop', other, soon()), isFinal)
  await assert.rejects(side.createToken('shop', other, soon()), isFinal)
  await assert.rejects(side.isReady('shop', other, soon()), isFinal)
  await side.forget('shop', other, soon())
  assert.equal(await isThere(api, 'shop'), true)
  await side.forget('shop', mine, soon())
  await side.forget('shop', mine, soon())
  assert.equal(await isThere(api, 'shop'), false)
  await side.claim('shop', other, soon())
})

test('the name of a cluster that is on the hub is refused, gives no token, and the cluster stays', async () => {
  await using scene = await start()
  const { api, side } = scene
  const thief = edgeOf('a', 'thief', 'bank')
  await makeCluster(api, 'bank')
  await assert.rejects(side.claim('bank', thief, soon()), isFinal)
  await assert.rejects(side.createToken('bank', thief, soon()), isFinal)
  await side.forget('bank', thief, soon())
  assert.equal(await isThere(api, 'bank'), true)
})

test('an EdgeCluster that was made again under its name does not have the claim of the old one', async () => {
  await using scene = await start()
  const old = edgeOf('a', 'one', 'shop')
  await scene.side.claim('shop', old, soon())
  const again = { ...old, metadata: { ...old.metadata, uid: 'another' } }
  await assert.rejects(scene.side.claim('shop', again, soon()), isFinal)
})

test('files come from the namespace that is asked for, and a file that lacks is named', async () => {
  await using scene = await start()
  const { api, side } = scene
  const metadata = { namespace: 'kube-system', name: 'x' }
  const data = { key: btoa('secret') }
  await api
    .resource(resources.secrets)
    .create({ apiVersion: 'v1', kind: 'Secret', metadata, data }, soon())
  const source = { namespace: 'default', kind: 'Secret' as const, name: 'x', key: 'key' }
  await assert.rejects(side.read(source, soon()), isFinal)
  const found = await side.read({ ...source, namespace: 'kube-system' }, soon())
  assert.equal(found.toString(), 'secret')
})

test('a name that is promised to a cluster by a token is not claimed before the token is gone', async () => {
  await using scene = await start()
  const { api, side } = scene
  const thief = edgeOf('a', 'thief', 'bank')
  const promise = { clusterName: 'bank', server: 'https://hub.example.com:6443', ttlSeconds: 60 }
  const { ca: caPem } = scene.credentials
  await createClusterToken(api, { ...promise, caPem }, deps, soon())
  await assert.rejects(side.claim('bank', thief, soon()), /promised to a cluster/)
  await side.forget('bank', thief, soon())
  await shutOut(api, { name: 'bank', nowMs: systemClock.now() }, soon())
  await side.claim('bank', thief, soon())
  // Its own token does not stand in its way.
  await side.createToken('bank', thief, soon())
  await side.claim('bank', thief, soon())
})

test('the error about a name that is taken says nothing of the objects of another namespace', async () => {
  await using scene = await start()
  await scene.side.claim('shop', edgeOf('a', 'one', 'shop'), soon())
  const claim = (namespace: string): Promise<void> =>
    scene.side.claim('shop', edgeOf(namespace, 'two', 'shop'), soon())
  await assert.rejects(claim('a'), /EdgeCluster one with the name shop/)
  await assert.rejects(claim('b'), /an EdgeCluster of another namespace with the name shop/)
})

test('a step of an object that is gone writes nothing into the next one of its name', async () => {
  await using scene = await start()
  const { api, side } = scene
  const edges = api.resource(edgeClusterResource)
  const machines = [
    { addresses: ['10.0.0.1'], role: 'Master' as const, credentials: { name: 'ssh' } },
  ]
  const { spec: _, ...head } = edgeOf('default', 'branch-7', 'branch-7')
  const make = (): Promise<EdgeCluster> => edges.create({ ...head, spec: { machines } }, soon())
  const old = await make()
  const key = { namespace: 'default', name: 'branch-7' }
  await edges.delete(key, soon())
  const next = await make()
  const taken = { digest: `sha256:${'a'.repeat(64)}`, publicKey: 'a key' }
  const machine = { address: '10.0.0.1', version: '0.2.0', package: taken }
  await side.recordProgram(old, machine, soon())
  assert.equal((await edges.get(key, soon())).status?.package, undefined)
  await side.recordProgram(next, machine, soon())
  assert.deepEqual((await edges.get(key, soon())).status?.package, taken)
})
