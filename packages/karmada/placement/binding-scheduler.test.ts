import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createEventSink, resources, type Cluster as Api } from '@skerry/client'
import { createInformerSet, runController } from '@skerry/controller-runtime'
import { startTestApiServer } from '@skerry/testing'
import {
  clusterResourceBindingResource,
  resourceBindingResource,
  type BindingSpec,
  type ResourceBinding,
} from '../binding/resource-binding.ts'
import { clusterKind } from '../cluster/cluster-kind.ts'
import { clusterResource, type ClusterSpec } from '../cluster/cluster.ts'
import { karmadaKinds } from '../kinds/karmada-kinds.ts'
import { createFleetScheduler } from './binding-scheduler.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const signal = AbortSignal.timeout(60_000)
const namespace = 'default'
const web = { namespace, name: 'web-deployment' }
/** Goes to every cluster, so that it shows which ones the scheduler has seen. */
const lookout = { namespace, name: 'lookout-deployment' }

/** A hub in this process, whose scheduler runs. */
async function startScene() {
  await using stack = new AsyncDisposableStack()
  const kinds = await builtinKinds()
  const server = stack.use(
    await startTestApiServer({
      kinds: [...kinds, clusterKind(kinds), ...(await karmadaKinds(kinds))],
      namespaces: [namespace],
    }),
  )
  const hub = createCluster(server.transport, deps)
  const informers = createInformerSet(hub, deps)
  const events = createEventSink(hub, deps)
  const stop = linkedSignal(signal)
  const controllers = createFleetScheduler()
  const running = runAll(stop.signal, [
    (scope) => events.run(scope),
    (scope) => informers.run(scope),
    ...controllers.map(
      (each) => (scope: AbortSignal) =>
        runController(each, { ...deps, cluster: hub, informers, events }, scope),
    ),
  ])
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const placement = { clusterTolerations: [{ operator: 'Exists' }] }
  const bindings = hub.resource(resourceBindingResource)
  const seen = {
    ...bindingOf({}),
    metadata: lookout,
    spec: { resource: deploymentOf('lookout'), placement },
  }
  await bindings.create(seen, signal)
  const owned = stack.move()
  return { hub, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

interface Scene {
  readonly hub: Api
}

async function addCluster({ hub }: Scene, name: string, spec: Partial<ClusterSpec> = {}) {
  await hub.resource(clusterResource).create(
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name },
      spec: { syncMode: 'Pull', id: name, ...spec },
    },
    signal,
  )
  const apiEnablements = [{ groupVersion: 'apps/v1', resources: [deployments] }]
  const resourceSummary = { allocatable: { pods: '100' } }
  const patch = { status: { apiEnablements, resourceSummary } }
  await hub.resource(clusterResource).patchStatus({ name, type: 'merge', patch }, signal)
  await until(
    { hub },
    (each) => (each.spec.clusters ?? []).some((one) => one.name === name),
    lookout,
  )
}

const deployments = { name: 'deployments', kind: 'Deployment' }

function bindingOf(spec: Partial<BindingSpec>): ResourceBinding {
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: web,
    spec: { resource: deploymentOf('web'), replicas: 4, replicaRequirements: {}, ...spec },
  }
}

function deploymentOf(name: string) {
  return { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name }
}

async function until(
  { hub }: Scene,
  isWanted: (binding: ResourceBinding) => boolean,
  key = web,
): Promise<ResourceBinding> {
  const bindings = hub.resource(resourceBindingResource)
  for (;;) {
    const binding = await bindings.get(key, signal)
    if (isWanted(binding)) return binding
    await systemClock.sleep(20, signal)
  }
}

function targetsOf({ spec }: ResourceBinding): string {
  return (spec.clusters ?? []).map(({ name, replicas = 0 }) => `${name}:${replicas}`).join(' ')
}

function isPlaced({ metadata, status }: ResourceBinding): boolean {
  return status?.schedulerObservedGeneration === metadata.generation
}

const everywhere = { clusterAffinity: {} }
const divided = {
  replicaScheduling: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { dynamicWeight: 'AvailableReplicas' },
  },
} as const

test('a binding goes where its placement says, and the binding and its object say so', async () => {
  await using scene = await startScene()
  for (const name of ['reef', 'shore']) await addCluster(scene, name)
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: everywhere }), signal)
  const placed = await until(scene, isPlaced)
  assert.equal(targetsOf(placed), 'reef:4 shore:4')
  const [condition] = placed.status?.conditions ?? []
  assert.equal(condition?.reason, 'Success')
  assert.ok(placed.status?.lastScheduledTime)
  const message = 'Binding has been scheduled successfully. Result: {reef:4, shore:4}'
  for (const kind of ['ResourceBinding', 'Deployment']) await untilEvent(scene, kind, message)
})

async function untilEvent({ hub }: Scene, kind: string, message: string): Promise<void> {
  for (;;) {
    const { items } = await hub.resource(resources.events).list({ namespace }, signal)
    if (items.some((each) => each.involvedObject.kind === kind && each.message === message)) return
    await systemClock.sleep(20, signal)
  }
}

test('replicas that are divided stay where they are, and only new ones are given out', async () => {
  await using scene = await startScene()
  for (const name of ['reef', 'shore']) await addCluster(scene, name)
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: divided }), signal)
  assert.equal(targetsOf(await until(scene, isPlaced)), 'reef:2 shore:2')
  await addCluster(scene, 'deep')
  const patch = { spec: { replicas: 7 } }
  await bindings.patch({ ...web, type: 'merge', patch }, signal)
  const grown = await until(scene, (each) => isPlaced(each) && sum(each) === 7)
  assert.equal(targetsOf(grown), 'deep:1 reef:3 shore:3')
})

function sum({ spec }: ResourceBinding): number {
  return (spec.clusters ?? []).reduce((all, { replicas = 0 }) => all + replicas, 0)
}

test('what fits nowhere says why, and goes out as soon as a cluster fits', async () => {
  await using scene = await startScene()
  await addCluster(scene, 'shore', { taints: [{ key: 'storm', effect: 'NoSchedule' }] })
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: everywhere }), signal)
  const refused = await until(scene, ({ status }) => status?.conditions !== undefined)
  const [condition] = refused.status?.conditions ?? []
  assert.equal(condition?.reason, 'NoClusterFit')
  const reason = '1 cluster(s) had untolerated taint {storm:NoSchedule}'
  assert.equal(condition?.message, `0/1 clusters are available: ${reason}.`)
  const patch = { spec: { taints: null } }
  await scene.hub.resource(clusterResource).patch({ name: 'shore', type: 'merge', patch }, signal)
  assert.equal(targetsOf(await until(scene, isPlaced)), 'shore:4')
})

test('a cluster that leaves the fleet gives its replicas to the others', async () => {
  await using scene = await startScene()
  for (const name of ['reef', 'shore']) await addCluster(scene, name)
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: divided }), signal)
  await until(scene, isPlaced)
  await scene.hub.resource(clusterResource).delete({ name: 'reef' }, signal)
  const moved = await until(scene, (each) => targetsOf(each) !== 'reef:2 shore:2')
  assert.equal(targetsOf(moved), 'shore:4')
})

test('another scheduler’s bindings, and those that are held back, are left alone', async () => {
  await using scene = await startScene()
  await addCluster(scene, 'shore')
  const bindings = scene.hub.resource(resourceBindingResource)
  const held = { placement: everywhere, suspension: { scheduling: true } }
  await bindings.create(bindingOf(held), signal)
  const other = { placement: everywhere, schedulerName: 'tides' }
  const metadata = { namespace, name: 'other' }
  await bindings.create({ ...bindingOf(other), metadata }, signal)
  // Made last, it is placed last: what was to come before it has come.
  const last = { namespace, name: 'last' }
  await bindings.create({ ...bindingOf({ placement: everywhere }), metadata: last }, signal)
  while (targetsOf(await bindings.get(last, signal)) === '') await systemClock.sleep(20, signal)
  assert.equal(targetsOf(await bindings.get(metadata, signal)), '')
  assert.equal(targetsOf(await bindings.get(web, signal)), '')
  const patch = { spec: { suspension: null } }
  await bindings.patch({ ...web, type: 'merge', patch }, signal)
  assert.equal(targetsOf(await until(scene, isPlaced)), 'shore:4')
})

test('objects without a namespace are placed, too', async () => {
  await using scene = await startScene()
  await addCluster(scene, 'shore')
  const bindings = scene.hub.resource(clusterResourceBindingResource)
  const resource = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'all' }
  const name = 'all-deployment'
  const spec = { resource, placement: everywhere }
  await bindings.create({ ...clusterBinding, metadata: { name }, spec }, signal)
  for (;;) {
    const binding = await bindings.get({ name }, signal)
    if (isPlaced(binding)) return assert.equal(targetsOf(binding), 'shore:0')
    await systemClock.sleep(20, signal)
  }
})

const clusterBinding = {
  apiVersion: 'work.karmada.io/v1alpha2',
  kind: 'ClusterResourceBinding',
} as const
