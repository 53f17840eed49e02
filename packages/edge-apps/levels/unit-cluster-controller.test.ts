import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { startEdgeWorld, type EdgeWorld } from '../testing/edge-world.ts'
import { nodeUnits, type NodeUnit } from '../superedge/unit.ts'

const spec = { containers: [{ name: 'c', image: 'busybox' }] }

/** One ready node of the unit, and one outside, both as `skerry node` writes them. */
async function startHall(): Promise<EdgeWorld> {
  const world = await startEdgeWorld(['superedge'])
  await world.eventually(resources.customResourceDefinitions, (all) =>
    all.some(({ metadata }) => metadata.name === 'nodegroups.site.superedge.io') ? true : undefined,
  )
  const annotations = { 'skerry.io/local-path-directory': '/volumes' }
  for (const name of ['n1', 'n9']) {
    await world.node(name, { place: name })
    await world.patch(resources.nodes, { name }, { metadata: { annotations } })
    const status = { capacity: { cpu: '2' }, allocatable: { cpu: '1500m' } }
    const request = { name, type: 'merge', patch: { status } } as const
    await world.cluster.resource(resources.nodes).patchStatus(request, world.signal)
  }
  await world.create(nodeUnits, {
    apiVersion: 'site.superedge.io/v1alpha2',
    kind: 'NodeUnit',
    metadata: { name: 'hall' },
    spec: { nodes: ['n1'] },
  })
  return world
}

function reasonIs(world: EdgeWorld, reason: string): Promise<NonNullable<NodeUnit['status']>> {
  return world.eventually(nodeUnits, ([unit]) => {
    const found = unit?.status?.conditions?.find(({ type }) => type === 'Autonomy')
    return found?.reason === reason ? unit?.status : undefined
  })
}

const level = (world: EdgeWorld, autonomyLevel: string): Promise<void> =>
  world.patch(nodeUnits, { name: 'hall' }, { spec: { autonomyLevel } })

test('a unit says what keeps it from being a cluster, and no more once it is L3 again', async () => {
  await using world = await startHall()
  await level(world, 'L5')
  const { unitClusterStatus } = await reasonIs(world, 'InsufficientReadyNode')
  assert.deepEqual(unitClusterStatus, {
    phase: 'Failed',
    conditions: [
      {
        type: 'Init',
        status: 'False',
        reason: 'InsufficientReadyNode',
        message: 'Insufficient Ready Node: 1 of 1 nodes ready, 3 needed for its control plane',
      },
    ],
    resource: { capacity: { cpu: '2' }, allocatable: { cpu: '1500m' } },
  })
  await level(world, 'L3')
  const status = await world.eventually(nodeUnits, ([unit]) =>
    unit?.status?.unitClusterStatus || unit?.status?.conditions ? undefined : unit?.status,
  )
  assert.deepEqual(status, { readyRate: '1/1', readyNodes: ['n1'] })
})

test('a pod is judged by the object that makes it in the end', async () => {
  await using world = await startHall()
  const metadata = { namespace: 'default', labels: { app: 'web' } }
  const template = { metadata: { labels: { app: 'web' } }, spec }
  const selector = { matchLabels: { app: 'web' } }
  const owned = (
    kind: string,
    { metadata: { name = '', uid = '' } }: Awaited<ReturnType<EdgeWorld['create']>>,
  ) => [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }]
  const deployment = await world.create(resources.deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, name: 'web' },
    spec: { selector, template },
  })
  const set = await world.create(resources.replicaSets, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { ...metadata, name: 'web-1', ownerReferences: owned('Deployment', deployment) },
    spec: { selector, template },
  })
  await world.create(resources.pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: 'web-1-x', ownerReferences: owned('ReplicaSet', set) },
    spec: { ...spec, nodeName: 'n1' },
  })
  await level(world, 'L4')
  const { conditions } = await reasonIs(world, 'SharedWorkload')
  assert.equal(
    conditions?.[0]?.message,
    'Cannot make the unit a cluster of its own: Deployment default/web may run outside of the unit, e.g. on node n9; make it by a grid, or choose a label that only nodes of the unit have',
  )
})

test('a unit that could be handed over says that this version does not', async () => {
  await using world = await startHall()
  await level(world, 'L4')
  const { conditions } = await reasonIs(world, 'NotSupported')
  assert.match(conditions?.[0]?.message ?? '', /this version hands no unit over/)
})
