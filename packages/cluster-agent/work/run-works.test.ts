import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import type { AnyObject, ConfigMap, Deployment } from '@skerry/api'
import { runAll, linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import { startTestApiServer, untilObject } from '@skerry/testing'
import { clusterResource, executionNamespace, clusterKind } from '@skerry/fleet-kinds'
import { karmadaKinds, workResource, type Work, type WorkSpec } from '@skerry/karmada-kinds'
import { runWorks } from './run-works.ts'

const siteOwnedKey = 'hub.skerry.io/site-owned'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = executionNamespace('shop')
const settings = { namespace: 'default', name: 'settings' }

/** A hub and an edge in this process, and what applies Works between them. */
async function startScene() {
  await using stack = new AsyncDisposableStack()
  const kinds = await builtinKinds()
  const hubServer = stack.use(
    await startTestApiServer({
      kinds: [...kinds, clusterKind(kinds), ...(await karmadaKinds(kinds))],
      namespaces: ['default', namespace],
    }),
  )
  const edgeServer = stack.use(await startTestApiServer({ namespaces: ['default'] }))
  const hub = createCluster(hubServer.transport, deps)
  const edge = createCluster(edgeServer.transport, deps)
  await hub.resource(clusterResource).create(
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'shop' },
      spec: { syncMode: 'Pull', id: 'u' },
    },
    soon(),
  )
  await setReady(hub, 'True')
  const stop = linkedSignal(soon())
  const running = runAll(stop.signal, [
    (scope) => runWorks({ clusterName: 'shop' }, { ...deps, hub, local: edge }, scope),
  ])
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const owned = stack.move()
  return {
    hub,
    edge,
    works: hub.resource(workResource),
    configMaps: edge.resource(resources.configMaps),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function setReady(hub: ClusterClient, status: 'True' | 'False'): Promise<void> {
  const condition = {
    type: 'Ready',
    status,
    reason: 'Test',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const patch = { status: { conditions: [condition] } }
  await hub.resource(clusterResource).patchStatus({ name: 'shop', type: 'merge', patch }, soon())
}

function configMap(colour: string, annotations: Record<string, string> = {}): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...settings, labels: { app: 'till' }, annotations },
    data: { colour },
  }
}

function work(manifest: AnyObject, spec: Partial<WorkSpec> = {}): Work {
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { namespace, name: 'settings' },
    spec: { workload: { manifests: [manifest] }, ...spec },
  }
}

const workKey = { namespace, name: 'settings' }

function condition(object: Work | undefined, type = 'Applied'): string {
  const found = object?.status?.conditions?.find((each) => each.type === type)
  return found ? `${found.status} ${found.reason}` : ''
}

type Scene = Awaited<ReturnType<typeof startScene>>

function untilApplied({ hub }: Scene, wanted = 'True AppliedSuccessful', generation = 1) {
  return untilObject(
    hub,
    { resource: workResource, key: workKey },
    (object) => {
      return condition(object) === wanted && object?.metadata.generation === generation
    },
    soon(),
  )
}

function untilColour({ edge }: Scene, wanted: string | undefined): Promise<ConfigMap | undefined> {
  return untilObject(
    edge,
    { resource: resources.configMaps, key: settings },
    (object) => object?.data?.['colour'] === wanted,
    soon(),
  )
}

test('the objects of a Work are made in the cluster, and follow it', async () => {
  await using scene = await startScene()
  const made = await scene.works.create(work(configMap('green', { note: 'a' })), soon())
  const first = await untilColour(scene, 'green')
  assert.equal(first?.metadata.labels?.['karmada.io/managed'], 'true')
  const told = await untilApplied(scene)
  assert.equal(condition(told, 'Dispatching'), 'True Dispatching')
  assert.equal(told?.status?.conditions?.[1]?.message, 'Manifest has been successfully applied')
  // Labels that the cluster adds stay; those that came with the Work and are no longer wanted go.
  const labels = { added: 'here' }
  await scene.configMaps.patch(
    { ...settings, type: 'merge', patch: { metadata: { labels } } },
    soon(),
  )
  const fresh = await scene.works.get(workKey, soon())
  await scene.works.update({ ...fresh, spec: work(configMap('red')).spec }, soon())
  const second = await untilColour(scene, 'red')
  assert.equal(second?.metadata.uid, first?.metadata.uid)
  assert.deepEqual(
    [second?.metadata.labels?.['added'], second?.metadata.annotations?.['note']],
    ['here', undefined],
  )
  await scene.works.delete(workKey, soon())
  await untilObject(
    scene.hub,
    { resource: workResource, key: workKey },
    (object) => object === undefined,
    soon(),
  )
  await assert.rejects(scene.configMaps.get(settings, soon()), { reason: 'NotFound' })
  assert.deepEqual(made.metadata.finalizers, ['karmada.io/execution-controller'])
})

test('an object that is changed or deleted at the cluster comes back', async () => {
  await using scene = await startScene()
  await scene.works.create(work(configMap('green')), soon())
  await untilApplied(scene)
  const patch = { data: { colour: 'grey', more: 'x' } }
  await scene.configMaps.patch({ ...settings, type: 'merge', patch }, soon())
  const back = await untilColour(scene, 'green')
  assert.deepEqual(back?.data, { colour: 'green' })
  await scene.configMaps.delete(settings, soon())
  await untilObject(
    scene.edge,
    { resource: resources.configMaps, key: settings },
    (object) => {
      return object !== undefined && object.metadata.uid !== back?.metadata.uid
    },
    soon(),
  )
})

test('fields that are left to a site, and that it has applied, stay until the site releases them', async () => {
  await using scene = await startScene()
  const left = (colour: string, size: string): AnyObject => ({
    ...configMap(colour, { [siteOwnedKey]: 'data.colour' }),
    data: { colour, size },
  })
  const applyAtSite = (data: Record<string, string>) => {
    const patch = { apiVersion: 'v1', kind: 'ConfigMap', metadata: settings, data }
    const request = { ...settings, type: 'apply', fieldManager: 'site:till', force: true } as const
    return scene.configMaps.patch({ ...request, patch }, soon())
  }
  await scene.works.create(work(left('green', '1')), soon())
  await untilApplied(scene)
  await applyAtSite({ colour: 'grey', size: '9' })
  const { spec } = work(left('red', '2'))
  await scene.works.patch({ ...workKey, type: 'merge', patch: { spec } }, soon())
  const kept = await untilObject(
    scene.edge,
    { resource: resources.configMaps, key: settings },
    (object) => object?.data?.['size'] === '2',
    soon(),
  )
  assert.equal(kept?.data?.['colour'], 'grey')
  await applyAtSite({})
  await untilColour(scene, 'red')
})

test('an object that was there before is left alone, or taken over where the Work says so', async () => {
  await using scene = await startScene()
  const own: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: settings,
    data: { colour: 'own' },
  }
  await scene.configMaps.create(own, soon())
  await scene.works.create(work(configMap('green')), soon())
  const refused = await untilApplied(scene, 'False AppliedFailed')
  assert.equal(
    refused?.status?.conditions?.find(({ type }) => type === 'Applied')?.message,
    'Failed to apply all manifests (0/1): resource(kind=ConfigMap, default/settings) already exists in the cluster shop and the work.karmada.io/conflict-resolution strategy value is empty, Karmada will not manage this resource',
  )
  assert.deepEqual((await scene.configMaps.get(settings, soon())).data, { colour: 'own' })
  const overwriting = configMap('green', { 'work.karmada.io/conflict-resolution': 'overwrite' })
  const fresh = await scene.works.get(workKey, soon())
  await scene.works.update({ ...fresh, spec: work(overwriting).spec }, soon())
  await untilColour(scene, 'green')
  await untilApplied(scene, 'True AppliedSuccessful', 2)
})

test('an object that a Work could not have is not deleted with it', async () => {
  await using scene = await startScene()
  const own: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: settings,
    data: { colour: 'own' },
  }
  await scene.configMaps.create(own, soon())
  await scene.works.create(work(configMap('green')), soon())
  await untilApplied(scene, 'False AppliedFailed')
  await scene.works.delete(workKey, soon())
  await untilObject(
    scene.hub,
    { resource: workResource, key: workKey },
    (object) => object === undefined,
    soon(),
  )
  assert.deepEqual((await scene.configMaps.get(settings, soon())).data, { colour: 'own' })
})

test('a preserved object stays, and belongs to its cluster alone', async () => {
  await using scene = await startScene()
  const preserving = work(configMap('green'), { preserveResourcesOnDeletion: true })
  await scene.works.create(preserving, soon())
  await untilApplied(scene)
  await scene.works.delete(workKey, soon())
  await untilObject(
    scene.hub,
    { resource: workResource, key: workKey },
    (object) => object === undefined,
    soon(),
  )
  const { metadata, data } = await scene.configMaps.get(settings, soon())
  assert.deepEqual(
    [metadata.labels, metadata.annotations, data],
    [{ app: 'till' }, undefined, { colour: 'green' }],
  )
})

test('a Work that is suspended changes nothing until it goes on', async () => {
  await using scene = await startScene()
  await scene.works.create(work(configMap('green'), { suspendDispatching: true }), soon())
  await untilObject(
    scene.hub,
    { resource: workResource, key: workKey },
    (object) => {
      return condition(object, 'Dispatching') === 'False SuspendDispatching'
    },
    soon(),
  )
  await assert.rejects(scene.configMaps.get(settings, soon()), { reason: 'NotFound' })
  const patch = { spec: { suspendDispatching: false } }
  await scene.works.patch({ ...workKey, type: 'merge', patch }, soon())
  await untilColour(scene, 'green')
  assert.equal(
    condition(await untilApplied(scene, undefined, 2), 'Dispatching'),
    'True Dispatching',
  )
})

test('while its cluster is not ready a Work waits', async () => {
  await using scene = await startScene()
  await setReady(scene.hub, 'False')
  await scene.works.create(work(configMap('green')), soon())
  await untilObject(
    scene.hub,
    { resource: workResource, key: workKey },
    (object) => {
      return condition(object, 'Dispatching') === 'True Dispatching'
    },
    soon(),
  )
  assert.equal(condition(await scene.works.get(workKey, soon())), '')
  await setReady(scene.hub, 'True')
  await untilApplied(scene)
})

const deployment: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    namespace: 'default',
    name: 'web',
    annotations: { 'resourcetemplate.karmada.io/generation': '3' },
  },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web' }] },
    },
  },
}

test("an object's status, its health and the template that it is of are reported back", async () => {
  await using scene = await startScene()
  await scene.works.create(work(deployment), soon())
  const identifier = {
    ordinal: 0,
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    resource: '',
    namespace: 'default',
    name: 'web',
  }
  const untilHealth = async (wanted: string) => {
    const found = await untilObject(
      scene.hub,
      { resource: workResource, key: workKey },
      (object) => {
        return object?.status?.manifestStatuses?.[0]?.health === wanted
      },
      soon(),
    )
    return found?.status?.manifestStatuses
  }
  assert.deepEqual(await untilHealth('Unhealthy'), [
    { identifier, status: { generation: 1, resourceTemplateGeneration: 3 }, health: 'Unhealthy' },
  ])
  const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 }
  const status: Deployment['status'] = { ...counts, observedGeneration: 1 }
  await scene.edge
    .resource(resources.deployments)
    .patchStatus({ namespace: 'default', name: 'web', type: 'merge', patch: { status } }, soon())
  assert.deepEqual(await untilHealth('Healthy'), [
    {
      identifier,
      status: { generation: 1, resourceTemplateGeneration: 3, ...status },
      health: 'Healthy',
    },
  ])
  // Neither the cluster's defaults nor its status make the agent write again.
  const { metadata } = await scene.edge
    .resource(resources.deployments)
    .get({ namespace: 'default', name: 'web' }, soon())
  assert.equal(metadata.generation, 1)
})

test('a kind that the cluster does not have is reported, and the Work can be deleted', async () => {
  await using scene = await startScene()
  const valve = { apiVersion: 'example.com/v1', kind: 'Valve', metadata: { ...settings } }
  await scene.works.create(work(valve), soon())
  const told = await untilApplied(scene, 'False AppliedFailed')
  assert.match(
    told?.status?.conditions?.find(({ type }) => type === 'Applied')?.message ?? '',
    /\(0\/1\): no matches for kind "Valve" in version "example\.com\/v1"$/,
  )
  await scene.works.delete(workKey, soon())
  await untilObject(
    scene.hub,
    { resource: workResource, key: workKey },
    (object) => object === undefined,
    soon(),
  )
})

test('an object that cannot exist is reported, and the Work can be deleted', async () => {
  await using scene = await startScene()
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { ...settings } }
  await scene.works.create(work(node), soon())
  const told = await untilApplied(scene, 'False AppliedFailed')
  assert.match(
    told?.status?.conditions?.find(({ type }) => type === 'Applied')?.message ?? '',
    /Cannot place Node "settings": objects of its kind have no namespace$/,
  )
  await scene.works.delete(workKey, soon())
  await untilObject(
    scene.hub,
    { resource: workResource, key: workKey },
    (object) => object === undefined,
    soon(),
  )
})
