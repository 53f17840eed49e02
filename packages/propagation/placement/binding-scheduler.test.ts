import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import {
  clusterResourceBindingResource,
  resourceBindingResource,
  type ResourceBinding,
} from '@skerry/karmada-kinds'
import { clusterResource } from '@skerry/fleet-kinds'
import { until } from '@skerry/testing'
import { placementAnnotation } from './needs-placement.ts'
import {
  addCluster,
  bindingOf,
  isPlaced,
  makeCluster,
  namespace,
  signal,
  startScene,
  targetsOf,
  untilBinding,
  web,
  type Scene,
} from './testing/placement-scene.ts'

const everywhere = { clusterAffinity: {} }
const divided = {
  replicaScheduling: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { dynamicWeight: 'AvailableReplicas' },
  },
} as const

test('a binding goes where its placement says, and the binding and its object report it', async () => {
  await using scene = await startScene()
  for (const name of ['reef', 'shore']) await addCluster(scene, name)
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: everywhere }), signal)
  const placed = await untilBinding(scene, isPlaced)
  assert.equal(targetsOf(placed), 'reef:4 shore:4')
  const [condition] = placed.status?.conditions ?? []
  assert.equal(condition?.reason, 'Success')
  assert.ok(placed.status?.lastScheduledTime)
  const message = 'Binding has been scheduled successfully. Result: {reef:4, shore:4}'
  for (const kind of ['ResourceBinding', 'Deployment']) await untilEvent(scene, kind, message)
})

async function untilEvent({ hub }: Scene, kind: string, message: string): Promise<void> {
  await until(async () => {
    const { items } = await hub.resource(resources.events).list({ namespace }, signal)
    return items.some((each) => each.involvedObject.kind === kind && each.message === message)
  }, signal)
}

test('replicas that are divided stay where they are, and only new ones are given out', async () => {
  await using scene = await startScene()
  for (const name of ['reef', 'shore']) await addCluster(scene, name)
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: divided }), signal)
  assert.equal(targetsOf(await untilBinding(scene, isPlaced)), 'reef:2 shore:2')
  await addCluster(scene, 'deep')
  const patch = { spec: { replicas: 7 } }
  await bindings.patch({ ...web, type: 'merge', patch }, signal)
  const grown = await untilBinding(scene, (each) => isPlaced(each) && sum(each) === 7)
  assert.equal(targetsOf(grown), 'deep:1 reef:3 shore:3')
})

function sum({ spec }: ResourceBinding): number {
  return (spec.clusters ?? []).reduce((all, { replicas = 0 }) => all + replicas, 0)
}

test('a binding that fits nowhere says why, and goes out as soon as a cluster fits', async () => {
  await using scene = await startScene()
  await addCluster(scene, 'shore', { taints: [{ key: 'storm', effect: 'NoSchedule' }] })
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: everywhere }), signal)
  const refused = await untilBinding(scene, ({ status }) => status?.conditions !== undefined)
  const [condition] = refused.status?.conditions ?? []
  assert.equal(condition?.reason, 'NoClusterFit')
  const reason = '1 cluster(s) had untolerated taint {storm:NoSchedule}'
  assert.equal(condition?.message, `0/1 clusters are available: ${reason}.`)
  const patch = { spec: { taints: null } }
  await scene.hub.resource(clusterResource).patch({ name: 'shore', type: 'merge', patch }, signal)
  assert.equal(targetsOf(await untilBinding(scene, isPlaced)), 'shore:4')
})

test('a cluster that leaves the fleet gives its replicas to the others', async () => {
  await using scene = await startScene()
  for (const name of ['reef', 'shore']) await addCluster(scene, name)
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: divided }), signal)
  await untilBinding(scene, isPlaced)
  await scene.hub.resource(clusterResource).delete({ name: 'reef' }, signal)
  const moved = await untilBinding(scene, (each) => targetsOf(each) !== 'reef:2 shore:2')
  assert.equal(targetsOf(moved), 'shore:4')
})

test('bindings of another scheduler, and those that are held back, are left alone', async () => {
  await using scene = await startScene()
  await addCluster(scene, 'shore')
  const bindings = scene.hub.resource(resourceBindingResource)
  const held = { placement: everywhere, suspension: { scheduling: true } }
  await bindings.create(bindingOf(held), signal)
  const other = { placement: everywhere, schedulerName: 'tides' }
  const metadata = { namespace, name: 'other' }
  await bindings.create({ ...bindingOf(other), metadata }, signal)
  // This one is created last and placed last, so everything before it is done.
  const last = { namespace, name: 'last' }
  await bindings.create({ ...bindingOf({ placement: everywhere }), metadata: last }, signal)
  await untilBinding(scene, (each) => targetsOf(each) !== '', last)
  assert.equal(targetsOf(await bindings.get(metadata, signal)), '')
  assert.equal(targetsOf(await bindings.get(web, signal)), '')
  const patch = { spec: { suspension: null } }
  await bindings.patch({ ...web, type: 'merge', patch }, signal)
  assert.equal(targetsOf(await untilBinding(scene, isPlaced)), 'shore:4')
})

test('waiting bindings are placed by priority', async () => {
  const alone = { placement: everywhere, workloadAffinityGroups: { antiAffinityGroup: 'watch' } }
  // Its name would put it last.
  const urgent = { namespace, name: 'zeal-deployment' }
  await using scene = await startScene([], async (before) => {
    await makeCluster(before, 'shore')
    const bindings = before.hub.resource(resourceBindingResource)
    await bindings.create(bindingOf(alone), signal)
    const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'zeal' }
    const first = { ...alone, resource, schedulePriority: { priority: 100 } }
    await bindings.create({ ...bindingOf(first), metadata: urgent }, signal)
  })
  assert.equal(targetsOf(await untilBinding(scene, isPlaced, urgent)), 'shore:4')
  const refused = await untilBinding(scene, ({ status }) => status?.conditions !== undefined)
  assert.equal(refused.status?.conditions?.[0]?.reason, 'NoClusterFit')
})

test('changes that others make to a binding while it is placed are not lost', async () => {
  const path = `/namespaces/${namespace}/resourcebindings/${web.name}/status`
  const other = {
    type: 'FullyApplied',
    status: 'True',
    reason: 'Test',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const
  let isSaid = false
  await using scene = await startScene([], undefined, (transport, { hub }) => ({
    async send(request, scope) {
      if (!isSaid && request.method === 'PATCH' && request.path.includes(path)) {
        isSaid = true
        const patch = { status: { conditions: [other] } }
        await hub
          .resource(resourceBindingResource)
          .patchStatus({ ...web, type: 'merge', patch }, scope)
      }
      return transport.send(request, scope)
    },
  }))
  await addCluster(scene, 'shore')
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: divided }), signal)
  const placed = await untilBinding(scene, isPlaced)
  const types = placed.status?.conditions?.map(({ type, status }) => `${type} ${status}`)
  assert.deepEqual(types?.toSorted(), ['FullyApplied True', 'Scheduled True'])
})

test('a binding that was placed, and does not report it, reports it in the end', async () => {
  const clusters = [{ name: 'shore', replicas: 4 }]
  await using scene = await startScene([], async (before) => {
    await makeCluster(before, 'shore')
    const made = bindingOf({ placement: divided, clusters })
    const annotations = { [placementAnnotation]: JSON.stringify(divided) }
    const metadata = { ...made.metadata, annotations }
    await before.hub.resource(resourceBindingResource).create({ ...made, metadata }, signal)
  })
  const placed = await untilBinding(scene, ({ status }) => status?.lastScheduledTime !== undefined)
  assert.deepEqual(placed.spec.clusters, clusters)
  assert.equal(placed.status?.conditions?.[0]?.reason, 'Success')
})

test('objects without a namespace are placed, too', async () => {
  await using scene = await startScene()
  await addCluster(scene, 'shore')
  const bindings = scene.hub.resource(clusterResourceBindingResource)
  const resource = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'all' }
  const name = 'all-deployment'
  const spec = { resource, placement: everywhere }
  await bindings.create({ ...clusterBinding, metadata: { name }, spec }, signal)
  const placed = await until(async () => {
    const binding = await bindings.get({ name }, signal)
    return isPlaced(binding) && binding
  }, signal)
  assert.equal(targetsOf(placed), 'shore:0')
})

const clusterBinding = {
  apiVersion: 'work.karmada.io/v1alpha2',
  kind: 'ClusterResourceBinding',
} as const
