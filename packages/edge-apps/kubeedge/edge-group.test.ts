import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { startEdgeWorld, type EdgeWorld } from '../testing/edge-world.ts'
import { edgeGroupKind } from './edge-group.ts'

const edgeGroups = edgeGroupKind.resource

async function startGroups(): Promise<EdgeWorld> {
  const world = await startEdgeWorld(['kubeedge'])
  await world.node('n1', {})
  await world.node('n3', { hall: 'h9' }, false)
  await world.eventually(resources.customResourceDefinitions, (all) =>
    all.some(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True'),
    )
      ? true
      : undefined,
  )
  await world.eventually(edgeGroups, () => true)
  await create(world, 'g1', { nodes: ['n1', 'n3', 'nosuch'], topologyEnabled: true })
  return world
}

async function create(world: EdgeWorld, name: string, spec: object): Promise<void> {
  const kind = { apiVersion: 'apps.kubeedge.io/v1alpha1', kind: 'NodeGroup' }
  await world.create(edgeGroups, { ...kind, metadata: { name }, spec })
}

const labels = (world: EdgeWorld, name: string, group: string | undefined) =>
  world.eventually(resources.nodes, (all) => {
    const found = all.find(({ metadata }) => metadata.name === name)?.metadata.labels ?? {}
    return found['apps.kubeedge.io/belonging-to'] === group ? found : undefined
  })

const states = (world: EdgeWorld, group: string, length: number) =>
  world.eventually(edgeGroups, (all) => {
    const found = all.find(({ metadata }) => metadata.name === group)?.status?.nodeStatuses ?? []
    return found.length === length ? found : undefined
  })

test('a NodeGroup labels its nodes, and shows the ones that it cannot have', async () => {
  await using world = await startGroups()
  assert.equal((await labels(world, 'n1', 'g1'))['topology.kubernetes.io/zone'], 'g1')
  await create(world, 'g2', { matchLabels: { hall: 'h9' } })
  const nodeName = 'n3'
  assert.deepEqual(await states(world, 'g1', 3), [
    { nodeName: 'n1', readyStatus: 'Ready', selectionStatus: 'Succeeded' },
    { nodeName, readyStatus: 'NotReady', selectionStatus: 'Succeeded' },
    {
      nodeName: 'nosuch',
      readyStatus: 'Unknown',
      selectionStatus: 'Failed',
      selectionStatusReason: 'node does not exist',
    },
  ])
  assert.deepEqual(await states(world, 'g2', 1), [
    {
      nodeName,
      readyStatus: 'NotReady',
      selectionStatus: 'Failed',
      selectionStatusReason: 'node n3 has already belonged to NodeGroup g1',
    },
  ])
})

test('a label that is removed by hand comes back, and a deleted group’s node goes to the next group that wants it', async () => {
  await using world = await startGroups()
  await labels(world, 'n1', 'g1')
  const removed = { metadata: { labels: { 'apps.kubeedge.io/belonging-to': null } } }
  await world.patch(resources.nodes, { name: 'n1' }, removed)
  await labels(world, 'n1', 'g1')
  await create(world, 'g2', { matchLabels: { hall: 'h9' } })
  await labels(world, 'n3', 'g1')
  await world.cluster.resource(edgeGroups).delete({ name: 'g1' }, world.signal)
  await labels(world, 'n3', 'g2')
  const left = await labels(world, 'n1', undefined)
  assert.deepEqual(left, {})
  await world.eventually(edgeGroups, (all) => (all.length === 1 ? true : undefined))
})
