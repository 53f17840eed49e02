import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import { isStatusError, type AnyObject, type ConfigMap, type Namespace } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import { callApi, startTestApiServer, untilObject } from '@skerry/testing'
import { runWorks } from '@skerry/cluster-agent'
import {
  clusterResource,
  executionNamespace,
  clusterKind,
  closingLabel,
  keptForAnnotation,
  virtualNamespaceLabels,
} from '@skerry/fleet-kinds'
import { karmadaKinds, workResource } from '@skerry/karmada-kinds'
import { isolationPolicies } from '../isolation/isolation-policies.ts'
import { createEdgeNames } from '../view/edge-names.ts'
import {
  emptyNamespaceController,
  type EmptyNamespaceTiming,
} from './empty-namespace-controller.ts'
import { viewOf } from './group-state.ts'
import { VirtualNamespaces } from './virtual-namespaces.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const policies = '/apis/admissionregistration.k8s.io/v1'
const works = executionNamespace('east')

/** Starts a hub, and one edge with a virtual cluster, whose namespaces are checked at once. */
async function startScene(timing: Partial<EmptyNamespaceTiming> = {}) {
  await using stack = new AsyncDisposableStack()
  const kinds = await builtinKinds()
  const hubServer = stack.use(
    await startTestApiServer({
      kinds: [...kinds, clusterKind(kinds), ...(await karmadaKinds(kinds))],
      namespaces: [works],
    }),
  )
  const edgeServer = stack.use(await startTestApiServer({ withAccess: true }))
  for (const body of isolationPolicies()) {
    const path = `${policies}/${body.kind.toLowerCase().replace(/y$/, 'ie')}s`
    assert.equal((await callApi(edgeServer.transport, { method: 'POST', path, body })).status, 201)
  }
  const hub = createCluster(hubServer.transport, deps)
  const local = createCluster(edgeServer.transport, deps)
  await register(hub)
  const { group, mapping } = viewOf('east', { spec: {} })
  const edge = createEdgeNames({ local, ...deps })
  const namespaces = new VirtualNamespaces(group, {}, { local, edge })
  const at = { graceMs: 0, closedMs: 20, keptMs: 50, ...timing }
  const options = {
    clusterName: 'east',
    mapping: namespaces.following(mapping),
    prepare: namespaces.prepare.bind(namespaces),
    controllers: (shared: Parameters<typeof emptyNamespaceController>[0]) => [
      emptyNamespaceController(shared, { local, edge, timing: at }),
    ],
  }
  const stop = linkedSignal(soon())
  const running = runAll(stop.signal, [
    (scope) => edge.run(scope),
    (scope) => runWorks(options, { ...deps, hub, local }, scope),
  ])
  const ended = running.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await ended
  })
  await edge.whenKnown(soon())
  const owned = stack.move()
  return { hub, local, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function register(hub: ClusterClient): Promise<void> {
  const client = hub.resource(clusterResource)
  const metadata = { name: 'east' }
  const spec = { syncMode: 'Pull', id: 'east' } as const
  await client.create(
    { apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster', metadata, spec },
    soon(),
  )
  const at = '2026-01-01T00:00:00Z'
  const ready = { type: 'Ready', status: 'True', reason: 'Test', message: '' }
  const status = { conditions: [{ ...ready, lastTransitionTime: at }] }
  await client.patchStatus({ ...metadata, type: 'merge', patch: { status } }, soon())
}

function untilNamespace(
  local: ClusterClient,
  name: string,
  isWanted: (found: Namespace) => boolean,
) {
  const namespace = { resource: resources.namespaces, key: { name } }
  return untilObject(local, namespace, (found) => found !== undefined && isWanted(found), soon())
}

const isGoing = ({ metadata }: Namespace): boolean => metadata.deletionTimestamp !== undefined
const isClosed = ({ metadata }: Namespace): boolean => metadata.labels?.[closingLabel] !== undefined
const keptFor = ({ metadata }: Namespace): string | undefined =>
  metadata.annotations?.[keptForAnnotation]

function configMap(name: string, namespace: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }
}

/** Sends a ConfigMap to namespace shop, and waits until it is there. */
async function send({ hub, local }: Scene, name: string): Promise<void> {
  const manifests: AnyObject[] = [{ ...configMap(name, 'shop') }]
  await hub.resource(workResource).create(
    {
      apiVersion: 'work.karmada.io/v1alpha1',
      kind: 'Work',
      metadata: { name, namespace: works },
      spec: { workload: { manifests } },
    },
    soon(),
  )
  const key = { namespace: 'shop-east', name }
  await untilObject(local, { resource: resources.configMaps, key }, Boolean, soon())
}

type Scene = Awaited<ReturnType<typeof startScene>>

test('a namespace that was made for sent objects goes when nothing is in it any more', async () => {
  await using scene = await startScene()
  const { hub, local } = scene
  const labels = {
    [virtualNamespaceLabels.cluster]: 'east',
    [virtualNamespaceLabels.namespace]: 'home',
  }
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'home-east', labels } }
  await local.resource(resources.namespaces).create(home, soon())
  await send(scene, 'first')
  await send(scene, 'second')
  await local
    .resource(resources.configMaps)
    .create(configMap('kube-root-ca.crt', 'shop-east'), soon())
  await hub.resource(workResource).delete({ namespace: works, name: 'first' }, soon())
  await hub.resource(workResource).delete({ namespace: works, name: 'second' }, soon())
  await untilNamespace(local, 'shop-east', isGoing)
  const made = await local.resource(resources.namespaces).get({ name: 'home-east' }, soon())
  assert.ok(!isGoing(made) && !isClosed(made), 'objects that a person made are theirs to delete')
})

test('a namespace in which somebody keeps something stays, and names the reason', async () => {
  await using scene = await startScene()
  const { hub, local } = scene
  await send(scene, 'first')
  await local.resource(resources.configMaps).create(configMap('mine', 'shop-east'), soon())
  await hub.resource(workResource).delete({ namespace: works, name: 'first' }, soon())
  await untilNamespace(local, 'shop-east', (found) => keptFor(found) === 'configmaps/mine')
  await local
    .resource(resources.configMaps)
    .delete({ namespace: 'shop-east', name: 'mine' }, soon())
  await untilNamespace(local, 'shop-east', isGoing)
})

test('nothing is made in a namespace that is about to go, until something is sent there again', async () => {
  await using scene = await startScene({ closedMs: 3_600_000 })
  const { hub, local } = scene
  await send(scene, 'first')
  await hub.resource(workResource).delete({ namespace: works, name: 'first' }, soon())
  await untilNamespace(local, 'shop-east', isClosed)
  const configMaps = local.resource(resources.configMaps)
  await assert.rejects(configMaps.create(configMap('mine', 'shop-east'), soon()), (error) => {
    assert.ok(isStatusError(error, 'Forbidden'), String(error))
    assert.match(error.message, /the namespace is empty.*try again in a moment/)
    return true
  })
  const elsewhere = local.resource(resources.priorityClasses)
  const late = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', value: 1 }
  await elsewhere.create({ ...late, metadata: { name: 'soon' } }, soon())
  await configMaps.create(configMap('mine', 'default'), soon())
  await send(scene, 'second')
  await untilNamespace(local, 'shop-east', (found) => !isClosed(found) && !isGoing(found))
  await configMaps.create(configMap('mine', 'shop-east'), soon())
})

test('an object that a Work now has elsewhere does not stay where it was', async () => {
  await using scene = await startScene()
  const { local } = scene
  await send(scene, 'first')
  const labels = {
    'karmada.io/managed': 'true',
    [virtualNamespaceLabels.cluster]: 'east',
    [virtualNamespaceLabels.namespace]: 'default',
  }
  const before = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'east-default' } }
  const sent = configMap('first', 'east-default')
  const annotations = { 'work.karmada.io/namespace': works, 'work.karmada.io/name': 'first' }
  sent.metadata = { ...sent.metadata, labels: { 'karmada.io/managed': 'true' }, annotations }
  const other = configMap('other', 'east-default')
  other.metadata = { ...sent.metadata, name: 'other' }
  await local.resource(resources.namespaces).create(before, soon())
  for (const each of [sent, other]) await local.resource(resources.configMaps).create(each, soon())
  const request = {
    name: 'east-default',
    type: 'merge',
    patch: { metadata: { labels, annotations } },
  } as const
  await local.resource(resources.namespaces).patch(request, soon())
  await untilNamespace(local, 'east-default', isGoing)
  await local.resource(resources.configMaps).get({ namespace: 'shop-east', name: 'first' }, soon())
})
