import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@skerry/api'
import { planGroup, type GroupView } from './group-plan.ts'
import type { NodeGroup, NodeUnit } from './unit.ts'

const apiVersion = 'site.superedge.io/v1alpha2'

function group(name: string, spec: NonNullable<NodeGroup['spec']>): NodeGroup {
  return { apiVersion, kind: 'NodeGroup', metadata: { name }, spec }
}

function unit(name: string, labels: Record<string, string> = {}): NodeUnit {
  return { apiVersion, kind: 'NodeUnit', metadata: { name, labels } }
}

function node(name: string, labels: Record<string, string>): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
}

function plan(own: NodeGroup, rest: Partial<GroupView> = {}) {
  return planGroup({ group: own, groups: [own], units: [], nodes: [], ...rest })
}

test('a group has the units that it names and selects; unknown names count for nothing, and leavers lose its label', () => {
  const own = group('region', {
    nodeUnits: ['b', 'nosuch'],
    selector: { matchLabels: { area: 'north' } },
  })
  const left = unit('c', { region: 'nodegroups.superedge.io' })
  const { join, leave, status } = plan(own, {
    units: [unit('b'), unit('a', { area: 'north' }), left],
  })
  assert.deepEqual(
    { join, leave, status },
    {
      join: ['a', 'b'],
      leave: ['c'],
      status: { unitNumber: 2, nodeUnits: ['a', 'b'] },
    },
  )
})

test('units are found by the values of nodes’ labels, named in the order of the sorted keys', () => {
  const own = group('place', { autoFindNodeKeys: ['room', 'region'] })
  const nodes = [
    node('n1', { room: 'a', region: 'south' }),
    node('n2', { room: 'a', region: 'south' }),
    node('n3', { room: 'b' }),
  ]
  const { create } = plan(own, { nodes })
  assert.deepEqual(create, [
    {
      apiVersion,
      kind: 'NodeUnit',
      metadata: {
        name: 'south-a',
        labels: {
          'site.superedge.io/node-group-auto-keys-hash': '9f540f10970dc4a6f2816507b755686ee834ba49',
          place: 'nodegroups.superedge.io',
        },
        annotations: { region: 'south', room: 'a' },
      },
      spec: { type: 'unit-node-edge', selector: { matchLabels: { region: 'south', room: 'a' } } },
    },
  ])
  assert.deepEqual(plan(own, { nodes, units: create }).create, [])
  assert.deepEqual(plan(own, { units: create }).status, { unitNumber: 1, nodeUnits: ['south-a'] })
})

test('values that cannot name a unit, and names that another unit has, are said', () => {
  const own = group('place', { autoFindNodeKeys: ['room'] })
  const nodes = [node('n1', { room: 'Hall_1' }), node('n2', { room: 'b' })]
  const { create, status } = plan(own, { nodes, units: [unit('b')] })
  assert.deepEqual(create, [])
  assert.deepEqual(
    status.conditions?.map(({ reason }) => reason),
    ['InvalidUnitName', 'UnitNameTaken'],
  )
})

test('keys that lead back to the group are refused: units would be made without end', () => {
  const one = group('one', { autoFindNodeKeys: ['room', 'two'] })
  const two = group('two', { autoFindNodeKeys: ['one'] })
  const { create, status } = plan(one, {
    groups: [one, two],
    nodes: [node('n1', { room: 'a', two: 'b' })],
  })
  assert.deepEqual(create, [])
  assert.equal(status.conditions?.[0]?.reason, 'Cycle')
})

test('a group that is deleted takes its label from its units', () => {
  const own = group('region', { nodeUnits: ['a'] })
  own.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  const { join, leave } = plan(own, { units: [unit('a', { region: 'nodegroups.superedge.io' })] })
  assert.deepEqual({ join, leave }, { join: [], leave: ['a'] })
})
