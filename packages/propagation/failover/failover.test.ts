import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  clusterTaintPolicyResource,
  resourceBindingResource,
  type ResourceBinding,
} from '@skerry/karmada-kinds'
import { clusterResource, type Cluster } from '@skerry/fleet-kinds'
import { untilObject } from '@skerry/testing'
import {
  addCluster,
  bindingOf,
  isPlaced,
  makeCluster,
  ready,
  signal,
  startScene,
  targetsOf,
  untilBinding,
  web,
  type Scene,
} from '../placement/testing/placement-scene.ts'
import { createFleetFailover } from './fleet-failover.ts'

const quick = { isOn: true, evictionsPerSecond: 1000 }
const weighted = {
  replicaSchedulingType: 'Divided',
  replicaDivisionPreference: 'Weighted',
  weightPreference: { dynamicWeight: 'AvailableReplicas' },
} as const
const divided = { placement: { replicaScheduling: weighted } }

async function setReady({ hub }: Scene, name: string, status: string): Promise<void> {
  const patch = { status: { conditions: [{ ...ready, status }] } }
  await hub.resource(clusterResource).patchStatus({ name, type: 'merge', patch }, signal)
}

async function taintsUntil({ hub }: Scene, name: string, wanted: string): Promise<void> {
  const place = { resource: clusterResource, key: { name } }
  await untilObject(
    hub,
    place,
    (found) => found !== undefined && taintKeys(found) === wanted,
    signal,
  )
}

function taintKeys({ spec }: Cluster): string {
  return (spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).join(' ')
}

async function taint({ hub }: Scene, name: string, timeAdded: string): Promise<void> {
  const patch = { spec: { taints: [{ key: 'storm', effect: 'NoExecute', timeAdded }] } }
  await hub.resource(clusterResource).patch({ name, type: 'merge', patch }, signal)
}

async function reportHealth(
  { hub }: Scene,
  health: Readonly<Record<string, 'Healthy' | 'Unhealthy'>>,
): Promise<void> {
  const aggregatedStatus = Object.entries(health).map(([clusterName, each]) => ({
    clusterName,
    health: each,
    status: { step: 3 },
  }))
  const bindings = hub.resource(resourceBindingResource)
  const patch = { status: { aggregatedStatus } }
  await bindings.patchStatus({ ...web, type: 'merge', patch }, signal)
}

function tasksOf({ spec }: ResourceBinding): string {
  return (spec.gracefulEvictionTasks ?? []).map((task) => task.fromCluster).join(' ')
}

/** Recreates a binding that was placed before the scheduler had seen all clusters. */
async function placeUntilRefused(scene: Scene): Promise<ResourceBinding> {
  const bindings = scene.hub.resource(resourceBindingResource)
  for (;;) {
    await bindings.create(bindingOf({ placement: {} }), signal)
    const seen = await untilBinding(scene, ({ status }) => status?.conditions !== undefined)
    if (seen.status?.conditions?.[0]?.reason === 'NoClusterFit') return seen
    await bindings.delete(web, signal)
  }
}

test('a cluster that is not heard from takes nothing new, until it is', async () => {
  await using scene = await startScene(createFleetFailover())
  await addCluster(scene, 'shore')
  await setReady(scene, 'shore', 'Unknown')
  await taintsUntil(scene, 'shore', 'cluster.karmada.io/unreachable:NoSchedule')
  const refused = await placeUntilRefused(scene)
  assert.match(refused.status?.conditions?.[0]?.message ?? '', /untolerated taint/)
  await setReady(scene, 'shore', 'True')
  assert.equal(targetsOf(await untilBinding(scene, isPlaced)), 'shore:4')
})

test('a policy taints a cluster by its conditions', async () => {
  await using scene = await startScene(createFleetFailover())
  await addCluster(scene, 'shore')
  const condition = { conditionType: 'Ready', operator: 'NotIn', statusValues: ['True'] } as const
  await scene.hub.resource(clusterTaintPolicyResource).create(
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'ClusterTaintPolicy',
      metadata: { name: 'storms' },
      spec: {
        addOnConditions: [{ ...condition, statusValues: [...condition.statusValues] }],
        taints: [{ key: 'storm', effect: 'NoExecute' }],
      },
    },
    signal,
  )
  await setReady(scene, 'shore', 'False')
  const notReady = 'cluster.karmada.io/not-ready:NoSchedule'
  const place = { resource: clusterResource, key: { name: 'shore' } }
  const isTainted = (cluster: Cluster | undefined): boolean => {
    const keys = cluster ? taintKeys(cluster) : ''
    return keys.includes('storm:NoExecute') && keys.includes(notReady)
  }
  await untilObject(scene.hub, place, isTainted, signal)
})

test('an object that does not tolerate a storm moves on, and its copy goes once the new one is healthy', async () => {
  await using scene = await startScene(createFleetFailover(quick))
  for (const name of ['reef', 'shore']) await addCluster(scene, name)
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf(divided), signal)
  assert.equal(targetsOf(await untilBinding(scene, isPlaced)), 'reef:2 shore:2')
  await taint(scene, 'reef', '2026-01-01T00:00:00Z')
  const moved = await untilBinding(scene, (each) => targetsOf(each) === 'shore:4')
  assert.equal(tasksOf(moved), 'reef')
  const [task] = moved.spec.gracefulEvictionTasks ?? []
  assert.equal(task?.purgeMode, 'Gracefully')
  assert.equal(task.replicas, 2)
  await reportHealth(scene, { shore: 'Healthy', reef: 'Healthy' })
  await untilBinding(scene, (each) => tasksOf(each) === '')
})

test('a taint that evicts has its time, and a cluster in one zone is found among zones', async () => {
  await using scene = await startScene()
  const taints = [{ key: 'storm', effect: 'NoExecute' }]
  await makeCluster(scene, 'reef', { taints, zone: 'north' })
  const { spec } = await scene.hub.resource(clusterResource).get({ name: 'reef' }, signal)
  assert.ok(spec.taints?.[0]?.timeAdded)
  assert.deepEqual([spec.zone, spec.zones], [undefined, ['north']])
})

test('where failover is off, nothing moves', async () => {
  await using scene = await startScene(createFleetFailover())
  for (const name of ['reef', 'shore']) await addCluster(scene, name)
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf(divided), signal)
  await untilBinding(scene, isPlaced)
  await taint(scene, 'reef', '2026-01-01T00:00:00Z')
  // Clusters that have replicas get their share of new ones, too.
  await bindings.patch({ ...web, type: 'merge', patch: { spec: { replicas: 6 } } }, signal)
  const grown = await untilBinding(scene, (each) => targetsOf(each) !== 'reef:2 shore:2')
  assert.equal(targetsOf(grown), 'reef:3 shore:3')
  assert.equal(tasksOf(grown), '')
})

test('an application that is ill in one cluster leaves it, with the state that it must keep', async () => {
  await using scene = await startScene(createFleetFailover(quick))
  for (const name of ['reef', 'shore']) await addCluster(scene, name)
  const bindings = scene.hub.resource(resourceBindingResource)
  const application = {
    decisionConditions: { tolerationSeconds: 0 },
    purgeMode: 'Directly' as const,
    statePreservation: { rules: [{ aliasLabelName: 'example.com/step', jsonPath: '{.step}' }] },
  }
  await bindings.create(
    bindingOf({ ...divided, propagateDeps: true, failover: { application } }),
    signal,
  )
  await untilBinding(scene, isPlaced)
  await reportHealth(scene, { reef: 'Unhealthy', shore: 'Healthy' })
  const moved = await untilBinding(scene, (each) => targetsOf(each) === 'shore:4')
  const [task] = moved.spec.gracefulEvictionTasks ?? []
  assert.equal(task?.fromCluster, 'reef')
  assert.equal(task.reason, 'ApplicationFailure')
  assert.deepEqual(task.preservedLabelState, { 'example.com/step': '3' })
  assert.deepEqual(task.clustersBeforeFailover, ['reef', 'shore'])
})
