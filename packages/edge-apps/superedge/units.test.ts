import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { startEdgeWorld, type EdgeWorld } from '../testing/edge-world.ts'
import { nodeGroups, nodeUnits, type UnitCondition } from './unit.ts'

async function startHalls(): Promise<EdgeWorld> {
  const world = await startEdgeWorld(['superedge'])
  await world.eventually(resources.customResourceDefinitions, (all) =>
    all.some(({ metadata }) => metadata.name === 'nodegroups.site.superedge.io') ? true : undefined,
  )
  await world.node('n1', { disk: 'ssd' })
  await world.node('n2', {}, false)
  await world.eventually(nodeUnits, () => true)
  await world.create(nodeUnits, {
    apiVersion: 'site.superedge.io/v1alpha2',
    kind: 'NodeUnit',
    metadata: { name: 'hall-a' },
    spec: { nodes: ['n1', 'n2', 'nosuch'], setNode: { labels: { hall: 'a' } } },
  })
  return world
}

const labelsOf = (
  world: EdgeWorld,
  name: string,
  isWanted: (labels: Record<string, string>) => boolean,
) =>
  world.eventually(resources.nodes, (all) => {
    const labels = all.find(({ metadata }) => metadata.name === name)?.metadata.labels ?? {}
    return isWanted(labels) ? labels : undefined
  })

test('a unit shows its ready nodes, puts its settings on them, and takes them along when it is deleted', async () => {
  await using world = await startHalls()
  const status = await world.eventually(nodeUnits, ([each]) =>
    each?.status?.readyRate === '1/2' ? each.status : undefined,
  )
  assert.deepEqual(status, { readyRate: '1/2', readyNodes: ['n1'], notReadyNodes: ['n2'] })
  const labels = await labelsOf(world, 'n1', ({ hall }) => hall === 'a')
  assert.deepEqual(labels, { disk: 'ssd', hall: 'a', 'hall-a': 'nodeunits.superedge.io' })
  await world.cluster.resource(nodeUnits).delete({ name: 'hall-a' }, world.signal)
  await world.eventually(nodeUnits, (all) => (all.length === 0 ? true : undefined))
  assert.deepEqual(await labelsOf(world, 'n1', () => true), { disk: 'ssd' })
})

test('units and groups of v1alpha1, whose fields have other names, have the same effect', async () => {
  await using world = await startHalls()
  const apiVersion = 'site.superedge.io/v1alpha1'
  await world.create(
    { ...nodeUnits, version: 'v1alpha1' },
    {
      apiVersion,
      kind: 'NodeUnit',
      metadata: { name: 'hall-b' },
      spec: { type: 'edge', nodes: ['n1'], setnode: { labels: { floor: 'f1' } } },
    },
  )
  await world.create(
    { ...nodeGroups, version: 'v1alpha1' },
    {
      apiVersion,
      kind: 'NodeGroup',
      metadata: { name: 'halls' },
      spec: { nodeunits: ['hall-b'], workload: [{ name: 'demo' }] },
    },
  )
  const labels = await labelsOf(
    world,
    'n1',
    ({ halls, floor }) => halls !== undefined && floor !== undefined,
  )
  assert.deepEqual([labels['halls'], labels['floor']], ['hall-b', 'f1'])
})

test('a setting that no node can have is refused with the unit, or said by an event', async () => {
  await using world = await startHalls()
  const withLabels = (labels: object) => ({ spec: { setNode: { labels } } })
  await assert.rejects(
    world.patch(nodeUnits, { name: 'hall-a' }, withLabels({ hall: 'no value' })),
    /spec\.setNode\.labels\.hall/,
  )
  await world.patch(nodeUnits, { name: 'hall-a' }, withLabels({ 'no key': 'a' }))
  const event = await world.eventually(resources.events, (all) =>
    all.find(({ reason }) => reason === 'SettingsRefused'),
  )
  assert.equal(event.involvedObject.name, 'hall-a')
  assert.match(event.message ?? '', /^Cannot give a node the settings of hall-a: .*no key/)
})

test('a selector that cannot be read selects nothing, and other units go on', async () => {
  await using world = await startHalls()
  const matchLabels = { 'no key': 'a' }
  await world.create(nodeUnits, {
    apiVersion: 'site.superedge.io/v1alpha2',
    kind: 'NodeUnit',
    metadata: { name: 'broken' },
    spec: { selector: { matchLabels } },
  })
  await world.create(nodeGroups, {
    apiVersion: 'site.superedge.io/v1alpha2',
    kind: 'NodeGroup',
    metadata: { name: 'broken-group' },
    spec: { selector: { matchLabels } },
  })
  const reasonOf = ([condition]: readonly UnitCondition[] = []) => condition?.reason
  await world.eventually(nodeUnits, (all) => {
    const broken = all.find(({ metadata }) => metadata.name === 'broken')
    return reasonOf(broken?.status?.conditions) === 'InvalidSelector' ? true : undefined
  })
  await world.eventually(nodeGroups, ([each]) =>
    reasonOf(each?.status?.conditions) === 'InvalidSelector' ? true : undefined,
  )
  await world.patch(nodeUnits, { name: 'hall-a' }, { spec: { setNode: { labels: { hall: 'b' } } } })
  await labelsOf(world, 'n1', ({ hall }) => hall === 'b')
})

test('a unit above L3 is not deleted, in SuperEdge’s words, until it is L3 again', async () => {
  await using world = await startHalls()
  await world.patch(nodeUnits, { name: 'hall-a' }, { spec: { autonomyLevel: 'L4' } })
  const conditions = await world.eventually(nodeUnits, ([each]) => each?.status?.conditions)
  assert.equal(conditions[0]?.type, 'Autonomy')
  await world.cluster.resource(nodeUnits).delete({ name: 'hall-a' }, world.signal)
  const event = await world.eventually(resources.events, (all) =>
    all.find(({ reason = '' }) => reason.includes('L4')),
  )
  assert.equal(event.reason, 'The nodeunit whose autonomyLevel is L4 is not allowed to be deleted')
  assert.equal(event.message, 'Before deleting, please adjust the autonomyLevel of nodeunit to L3')
  await world.patch(nodeUnits, { name: 'hall-a' }, { spec: { autonomyLevel: 'L3' } })
  await world.eventually(nodeUnits, (all) => (all.length === 0 ? true : undefined))
})

test('a group gives its units’ nodes a label with the unit, and takes it away', async () => {
  await using world = await startHalls()
  await world.create(nodeGroups, {
    apiVersion: 'site.superedge.io/v1alpha2',
    kind: 'NodeGroup',
    metadata: { name: 'region' },
    spec: { nodeUnits: ['hall-a'] },
  })
  await labelsOf(world, 'n2', ({ region }) => region === 'hall-a')
  const status = await world.eventually(nodeGroups, ([each]) => each?.status)
  assert.deepEqual(status, { unitNumber: 1, nodeUnits: ['hall-a'] })
  await world.cluster.resource(nodeGroups).delete({ name: 'region' }, world.signal)
  await labelsOf(world, 'n2', ({ region }) => region === undefined)
})

test('two units that set one label otherwise: the older one wins, and the other says so', async () => {
  await using world = await startHalls()
  await labelsOf(world, 'n1', ({ hall }) => hall === 'a')
  await world.create(nodeUnits, {
    apiVersion: 'site.superedge.io/v1alpha2',
    kind: 'NodeUnit',
    metadata: { name: 'later' },
    spec: {
      selector: { matchLabels: { disk: 'ssd' } },
      setNode: { labels: { hall: 'b', rack: '1' } },
    },
  })
  await labelsOf(world, 'n1', ({ hall, rack }) => hall === 'a' && rack === '1')
  const [condition] = await world.eventually(
    nodeUnits,
    (all) => all.find(({ metadata }) => metadata.name === 'later')?.status?.conditions,
  )
  assert.deepEqual(condition, {
    type: 'Conflict',
    status: 'True',
    reason: 'OtherUnitFirst',
    message: 'label hall is set by unit hall-a (e.g. on node n1)',
  })
})
