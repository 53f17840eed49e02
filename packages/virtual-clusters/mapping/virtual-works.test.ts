import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import type { AnyObject, ConfigMap } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, resources, type ClusterClient, type TypedResource } from '@skerry/client'
import { startTestApiServer, untilObject } from '@skerry/testing'
import { MappingRefusal } from '@skerry/cluster-agent'
import { clusterKind, clusterResource, executionNamespace, groupLabel } from '@skerry/fleet-kinds'
import { karmadaKinds, workResource, type Work } from '@skerry/karmada-kinds'
import { runWorks } from '@skerry/cluster-agent'

type WorksOptions = Parameters<typeof runWorks>[0]
import { createMapping } from './mapping.ts'
import { createNamespaceRule } from './namespace-rule.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const clusters = ['east', 'west']
const priorityClasses: TypedResource<AnyObject> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
  isNamespaced: false,
}

/** Starts a hub, and one edge whose nodes are two virtual clusters. */
async function startScene({ prepare }: Pick<WorksOptions, 'prepare'> = {}) {
  await using stack = new AsyncDisposableStack()
  const kinds = await builtinKinds()
  const hubServer = stack.use(
    await startTestApiServer({
      kinds: [...kinds, clusterKind(kinds), ...(await karmadaKinds(kinds))],
      namespaces: clusters.map(executionNamespace),
    }),
  )
  const edgeServer = stack.use(
    await startTestApiServer({ namespaces: ['shop', 'shop-east', 'shop-west'] }),
  )
  const hub = createCluster(hubServer.transport, deps)
  const edge = createCluster(edgeServer.transport, deps)
  for (const name of clusters) await register(hub, name)
  const stop = linkedSignal(soon())
  const agents = clusters.map((clusterName) => (scope: AbortSignal) => {
    const group = { clusterName, namespaces: createNamespaceRule({ clusterName }) }
    const mapping = createMapping(group)
    const options = { clusterName, mapping, ...(prepare ? { prepare } : {}) }
    return runWorks(options, { ...deps, hub, local: edge }, scope)
  })
  const running = runAll(stop.signal, agents)
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const owned = stack.move()
  return { hub, edge, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function register(hub: ClusterClient, name: string): Promise<void> {
  const client = hub.resource(clusterResource)
  await client.create(
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name },
      spec: { syncMode: 'Pull', id: name },
    },
    soon(),
  )
  const at = '2026-01-01T00:00:00Z'
  const ready = { type: 'Ready', status: 'True', reason: 'Test', message: '' }
  const status = { conditions: [{ ...ready, lastTransitionTime: at }] }
  await client.patchStatus({ name, type: 'merge', patch: { status } }, soon())
}

/** Sends a manifest to one virtual cluster, or another one in its place. */
async function send({ hub }: Scene, cluster: string, manifest: AnyObject): Promise<void> {
  const works = hub.resource(workResource)
  const key = workOf(cluster)
  const spec = { workload: { manifests: [manifest] } }
  const known = await works.list({ namespace: key.namespace }, soon())
  if (known.items[0]) await works.update({ ...known.items[0], spec }, soon())
  else {
    const work: Work = { apiVersion: 'work.karmada.io/v1alpha1', kind: 'Work', metadata: key, spec }
    await works.create(work, soon())
  }
}

function workOf(cluster: string) {
  return { namespace: executionNamespace(cluster), name: 'sent' }
}

type Scene = Awaited<ReturnType<typeof startScene>>

/** Waits until the Work reports that for its present version; resolves with the message. */
async function untilApplied({ hub }: Scene, cluster: string, wanted: boolean): Promise<string> {
  const status = wanted ? 'True' : 'False'
  const applied = (work: Work | undefined) =>
    work?.status?.conditions?.find(({ type }) => type === 'Applied')
  const found = await untilObject(
    hub,
    { resource: workResource, key: workOf(cluster) },
    (work) => {
      return applied(work)?.status === status
    },
    soon(),
  )
  return applied(found)?.message ?? ''
}

function priorityClass(description: string): AnyObject {
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'till' },
    value: 10,
    description,
  }
}

function untilDescription({ edge }: Scene, wanted: string | undefined) {
  return untilObject(
    edge,
    { resource: priorityClasses, key: { name: 'till' } },
    (object) => {
      return wanted === undefined ? object === undefined : object?.['description'] === wanted
    },
    soon(),
  )
}

const deployment: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'shop', name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web' }] },
    },
  },
}

test('one manifest for two virtual clusters becomes two objects, each on nodes of its own', async () => {
  await using scene = await startScene()
  for (const cluster of clusters) {
    await send(scene, cluster, deployment)
    await untilApplied(scene, cluster, true)
    const key = { namespace: `shop-${cluster}`, name: 'web' }
    const { spec } = await scene.edge.resource(resources.deployments).get(key, soon())
    assert.deepEqual(spec?.template.spec?.nodeSelector, { [groupLabel]: cluster })
    const work = await untilObject(
      scene.hub,
      { resource: workResource, key: workOf(cluster) },
      (object) => {
        return object?.status?.manifestStatuses !== undefined
      },
      soon(),
    )
    const [status] = work?.status?.manifestStatuses ?? []
    assert.equal(
      status?.identifier.namespace,
      'shop',
      'the hub gets reports on the objects that it sent',
    )
  }
  const own = scene.edge.resource(resources.deployments)
  assert.deepEqual((await own.list({ namespace: 'shop' }, soon())).items, [])
  await scene.hub.resource(workResource).delete(workOf('east'), soon())
  await untilObject(
    scene.edge,
    { resource: resources.deployments, key: { namespace: 'shop-east', name: 'web' } },
    (object) => {
      return object === undefined
    },
    soon(),
  )
  await own.get({ namespace: 'shop-west', name: 'web' }, soon())
})

test('an object that cannot be in a virtual cluster is reported, and its Work can be deleted', async () => {
  await using scene = await startScene()
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-7' } }
  await send(scene, 'east', node)
  assert.match(
    await untilApplied(scene, 'east', false),
    /^Failed to apply all manifests \(0\/1\): Cannot have Node "node-7" in a virtual cluster: /,
  )
  await scene.hub.resource(workResource).delete(workOf('east'), soon())
  await untilObject(
    scene.hub,
    { resource: workResource, key: workOf('east') },
    (object) => object === undefined,
    soon(),
  )
})

test('an object that would reach the machine of a node is reported at the hub, and is not made', async () => {
  await using scene = await startScene()
  const claimRef = { namespace: 'shop', name: 'data' }
  const spec = { claimRef, hostPath: { path: '/' }, accessModes: ['ReadWriteOnce'] }
  const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'root' }, spec }
  await send(scene, 'east', volume)
  assert.match(
    await untilApplied(scene, 'east', false),
    /Cannot have PersistentVolume "root" in a virtual cluster: it reaches the machine of its node, .* by hostPath: leave that out/,
  )
  const volumes = await scene.edge.resource(resources.persistentVolumes).list({}, soon())
  assert.deepEqual(volumes.items, [])
})

test("an object that is refused its namespace is not made, and the edge cluster's own is not deleted", async () => {
  await using scene = await startScene({
    prepare: () => Promise.reject(new MappingRefusal('the namespace is not of this one')),
  })
  const own: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      namespace: 'shop-east',
      name: 'web',
      labels: { 'karmada.io/managed': 'true' },
      annotations: { 'work.karmada.io/namespace': 'karmada-es-edge' },
    },
    data: { colour: 'own' },
  }
  await scene.edge.resource(resources.configMaps).create(own, soon())
  await send(scene, 'east', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'shop', name: 'web' },
    data: { colour: 'green' },
  })
  assert.match(await untilApplied(scene, 'east', false), /the namespace is not of this one$/)
  await scene.hub.resource(workResource).delete(workOf('east'), soon())
  await untilObject(
    scene.hub,
    { resource: workResource, key: workOf('east') },
    (object) => object === undefined,
    soon(),
  )
  const key = { namespace: 'shop-east', name: 'web' }
  const { data } = await scene.edge.resource(resources.configMaps).get(key, soon())
  assert.deepEqual(data, { colour: 'own' })
})

test('an object that two virtual clusters share changes with both, and goes with the last', async () => {
  await using scene = await startScene()
  for (const cluster of clusters) {
    await send(scene, cluster, priorityClass('first'))
    await untilApplied(scene, cluster, true)
  }
  await send(scene, 'east', priorityClass('second'))
  assert.match(await untilApplied(scene, 'east', false), /virtual cluster "west" has sent/)
  await untilDescription(scene, 'first')
  await send(scene, 'west', priorityClass('second'))
  await untilDescription(scene, 'second')
  for (const cluster of clusters) await untilApplied(scene, cluster, true)
  await scene.hub.resource(workResource).delete(workOf('west'), soon())
  await untilObject(
    scene.hub,
    { resource: workResource, key: workOf('west') },
    (object) => object === undefined,
    soon(),
  )
  await untilDescription(scene, 'second')
  await scene.hub.resource(workResource).delete(workOf('east'), soon())
  await untilDescription(scene, undefined)
})
