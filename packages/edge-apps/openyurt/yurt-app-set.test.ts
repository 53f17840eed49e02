import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '@skerry/api'
import { resources } from '@skerry/client'
import { startEdgeWorld, type EdgeWorld } from '../testing/edge-world.ts'
import { nodePools } from './node-pool.ts'
import { yurtAppSets } from './yurt-app-set.ts'

const namespace = 'default'
const web = { name: 'web', namespace }
const poolLabel = 'apps.openyurt.io/pool-name'
const revisionLabel = 'apps.openyurt.io/controller-revision-hash'

const ofPb = {
  pools: ['pb'],
  tweaks: {
    replicas: 5,
    containerImages: [{ name: 'c', targetImage: 'nginx:pb' }],
    patches: [
      {
        path: '/spec/template/spec/containers/0/env',
        operation: 'add',
        value: [{ name: 'POOL', value: '{{nodepool-name}}' }],
      },
    ],
  },
}

function workload(image: string, workloadTweaks: readonly object[] = [ofPb]): object {
  const spec = {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { nodeSelector: { disk: 'ssd' }, containers: [{ name: 'c', image }] },
    },
  }
  return { workloadTemplate: { deploymentTemplate: { spec } }, workloadTweaks }
}

async function startPools(spec: object = {}): Promise<EdgeWorld> {
  const world = await startEdgeWorld(['openyurt'])
  await world.eventually(resources.customResourceDefinitions, (all) =>
    all.some(({ metadata }) => metadata.name === 'yurtappsets.apps.openyurt.io') ? true : undefined,
  )
  await world.eventually(nodePools, () => true)
  await world.eventually(yurtAppSets, () => true)
  for (const name of ['pa', 'pb']) {
    await world.create(nodePools, {
      apiVersion: 'apps.openyurt.io/v1beta2',
      kind: 'NodePool',
      metadata: { name, labels: { area: 'north' } },
      spec: { type: 'Edge' },
    })
  }
  await world.node('n1', { 'apps.openyurt.io/nodepool': 'pa' })
  await world.create(yurtAppSets, {
    apiVersion: 'apps.openyurt.io/v1beta1',
    kind: 'YurtAppSet',
    metadata: web,
    spec: {
      nodepoolSelector: { matchLabels: { area: 'north' } },
      workload: workload('nginx:1'),
      ...spec,
    },
  })
  return world
}

test('an application of v1alpha1 has a workload for each NodePool that its pools name', async () => {
  await using world = await startPools()
  await world.cluster.resource(yurtAppSets).delete(web, world.signal)
  // `workload` makes it.
  const template = workload('nginx:1', []) as { workloadTemplate: object }
  const pool = (name: string, replicas?: number) => ({
    name,
    nodeSelectorTerm: {
      matchExpressions: [{ key: 'apps.openyurt.io/nodepool', operator: 'In', values: [name] }],
    },
    ...(replicas === undefined ? {} : { replicas }),
  })
  await world.cluster.resource({ ...yurtAppSets, version: 'v1alpha1' }).create(
    {
      apiVersion: 'apps.openyurt.io/v1alpha1',
      kind: 'YurtAppSet',
      metadata: { name: 'old', namespace },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        workloadTemplate: template.workloadTemplate,
        topology: { pools: [pool('pa'), pool('pb', 7)] },
      },
    },
    world.signal,
  )
  const found = await world.eventually(resources.deployments, (all) => {
    const own = all.filter(
      ({ metadata }) => metadata.labels?.['apps.openyurt.io/ref-yurtappset'] === 'old',
    )
    return own.length === 2 ? own : undefined
  })
  const replicas = new Map(
    found.map(({ metadata, spec }) => [metadata.labels?.[poolLabel], spec?.replicas]),
  )
  assert.deepEqual([replicas.get('pa'), replicas.get('pb')], [2, 7])
})

/** Returns the workloads by their pool once there are as many as pools. */
function workloads(
  world: EdgeWorld,
  pools: readonly string[],
  isDone: (all: ReadonlyMap<string, Deployment>) => boolean = () => true,
): Promise<Map<string, Deployment>> {
  return world.eventually(resources.deployments, (all) => {
    const found = new Map(all.map((each) => [each.metadata.labels?.[poolLabel] ?? '', each]))
    const isAll = found.size === pools.length && pools.every((pool) => found.has(pool))
    return isAll && isDone(found) ? found : undefined
  })
}

const podLabel = (child: Deployment | undefined): string | undefined =>
  child?.spec?.template.metadata?.labels?.[revisionLabel]

const imageOf = (child: Deployment | undefined): string | undefined =>
  child?.spec?.template.spec?.containers[0]?.image

test('each pool that a selector finds has a workload of its own, with its tweaks and labels', async () => {
  await using world = await startPools()
  const found = await workloads(world, ['pa', 'pb'])
  const [first, second] = [found.get('pa'), found.get('pb')]
  assert.match(first?.metadata.name ?? '', /^web-pa-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  assert.equal(first?.metadata.generateName, 'web-pa-')
  assert.deepEqual(first?.spec?.selector.matchLabels, { app: 'web', [poolLabel]: 'pa' })
  assert.deepEqual(first?.spec?.template.spec?.nodeSelector, {
    'apps.openyurt.io/nodepool': 'pa',
    disk: 'ssd',
  })
  assert.deepEqual([first?.spec?.replicas, imageOf(first)], [2, 'nginx:1'])
  assert.deepEqual([second?.spec?.replicas, imageOf(second)], [5, 'nginx:pb'])
  assert.deepEqual(second?.spec?.template.spec?.containers[0]?.env, [{ name: 'POOL', value: 'pb' }])
  const status = await world.eventually(yurtAppSets, ([app]) =>
    app?.status?.['totalWorkloads'] === 2 ? app.status : undefined,
  )
  assert.equal(status.currentRevision, first?.metadata.labels?.[revisionLabel])
  assert.equal(
    status.conditions?.find(({ type }) => type === 'PoolFound')?.message,
    'There are 2 matched nodepools: [pa pb]',
  )
})

test('a change for one pool makes a revision, and the pods of the other pools go on', async () => {
  await using world = await startPools()
  const before = await workloads(world, ['pa', 'pb'])
  const tweak = {
    pools: ['pb'],
    tweaks: { containerImages: [{ name: 'c', targetImage: 'nginx:9' }] },
  }
  const spec = { workload: workload('nginx:1', [tweak]) }
  await world.patch(yurtAppSets, web, { spec })
  const after = await workloads(
    world,
    ['pa', 'pb'],
    (all) =>
      imageOf(all.get('pb')) === 'nginx:9' &&
      all.get('pa')?.metadata.labels?.[revisionLabel] !== podLabel(before.get('pa')),
  )
  assert.equal(podLabel(after.get('pa')), podLabel(before.get('pa')))
  assert.notEqual(podLabel(after.get('pb')), podLabel(before.get('pb')))
  const revisions = await world.eventually(resources.controllerRevisions, (all) =>
    all.length === 2 ? all : undefined,
  )
  assert.deepEqual(new Set(revisions.map(({ revision }) => revision)), new Set([1, 2]))
})

test('the history has as many revisions as the application says, and an older content is the newest again', async () => {
  await using world = await startPools({ revisionHistoryLimit: 2 })
  for (const image of ['nginx:1', 'nginx:2', 'nginx:3', 'nginx:2']) {
    const spec = { workload: workload(image) }
    await world.patch(yurtAppSets, web, { spec })
    await workloads(world, ['pa', 'pb'], (all) => imageOf(all.get('pa')) === image)
  }
  const kept = await world.eventually(resources.controllerRevisions, (all) =>
    all.length === 2 && all.some(({ revision }) => revision === 4) ? all : undefined,
  )
  assert.deepEqual(new Set(kept.map(({ revision }) => revision)), new Set([3, 4]))
})

test('the workload of a pool that is no longer chosen is kept for the grace time', async () => {
  await using world = await startPools()
  await workloads(world, ['pa', 'pb'])
  await world.patch(nodePools, { name: 'pa' }, { metadata: { labels: { area: null } } })
  await world.eventually(yurtAppSets, ([app]) =>
    app?.status?.groups?.some(({ name, phase }) => name === 'pa' && phase === 'Vanished')
      ? true
      : undefined,
  )
  const policy = { spec: { groupPolicy: { vanishedGraceSeconds: 0 } } }
  await world.patch(yurtAppSets, web, policy)
  await workloads(world, ['pb'])
})

test('a workload without pods is not ready, and a condition after those that stay reports a deleted one', async () => {
  await using world = await startPools({ groupPolicy: { vanishedGraceSeconds: 0 } })
  await workloads(world, ['pa', 'pb'])
  const before = await world.eventually(yurtAppSets, ([app]) =>
    app?.status?.['totalWorkloads'] === 2 ? app.status : undefined,
  )
  assert.equal(before['readyWorkloads'], 0)
  await world.patch(nodePools, { name: 'pa' }, { metadata: { labels: { area: null } } })
  const { conditions = [] } = await world.eventually(yurtAppSets, ([app]) =>
    app?.status?.conditions?.some(({ type }) => type === 'AppDeleted') ? app.status : undefined,
  )
  assert.deepEqual(
    conditions.map(({ type, status }) => [type, status]),
    [
      ['AppDispatched', 'True'],
      ['AppReady', 'False'],
      ['PoolFound', 'True'],
      ['AppDeleted', 'True'],
    ],
  )
})

test('a workload that is scaled by hand keeps its number of pods, also when the template changes', async () => {
  await using world = await startPools()
  const found = await workloads(world, ['pa', 'pb'])
  const name = found.get('pa')?.metadata.name ?? ''
  await world.patch(resources.deployments, { name, namespace }, { spec: { replicas: 7 } })
  const state = await world.eventually(yurtAppSets, ([app]) =>
    app?.status?.groups?.find(({ child, phase }) => child === name && phase === 'Edited'),
  )
  assert.equal(state.reason, 'EditKept')
  await world.patch(yurtAppSets, web, { spec: { workload: workload('nginx:2') } })
  const after = await workloads(world, ['pa', 'pb'], (all) => imageOf(all.get('pa')) === 'nginx:2')
  assert.equal(after.get('pa')?.spec?.replicas, 7)
})

test('a patch that cannot be applied is said in the state of its pool alone', async () => {
  const patches = [{ path: '/spec/nosuch/field', operation: 'replace', value: 1 }]
  const tweak = { pools: ['pb'], tweaks: { patches } }
  await using world = await startPools({ workload: workload('nginx:1', [tweak]) })
  await workloads(world, ['pa'])
  const refused = await world.eventually(yurtAppSets, ([app]) =>
    app?.status?.groups?.find(({ phase }) => phase === 'Refused'),
  )
  assert.deepEqual([refused.name, refused.reason], ['pb', 'InvalidTweak'])
  assert.match(refused.message ?? '', /^a patch cannot be applied: /)
})
