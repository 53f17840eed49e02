import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, Node } from '@skerry/api'
import { foreignSources, labelGroups, type SourceGroup } from './group-sources.ts'
import { planSet } from './plan-set.ts'
import type { VirtualClusterSet } from './virtual-cluster.ts'

const set: VirtualClusterSet = {
  apiVersion: 'edge.skerry.io/v1alpha1',
  kind: 'VirtualClusterSet',
  metadata: { name: 'branches', uid: 'u' },
  spec: { source: { label: { key: 'branch' } }, template: { region: 'north' } },
}

function node(branch: string): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: branch, labels: { branch } } }
}

const groupOf = (name: string): SourceGroup => ({ name, nodes: { nodeNames: [`${name}-1`] } })

test('a set has a VirtualCluster for each group, and none for one that is gone', () => {
  const first = planSet(set, [groupOf('east'), groupOf('west')], [])
  assert.deepEqual(
    first.create.map(({ metadata, spec }) => [metadata.name, spec]),
    [
      ['east', { region: 'north', nodeNames: ['east-1'] }],
      ['west', { region: 'north', nodeNames: ['west-1'] }],
    ],
  )
  const settled = planSet(set, [groupOf('east'), groupOf('west')], first.create)
  assert.deepEqual(settled, { create: [], update: [], remove: [], problems: [] })
  assert.deepEqual(planSet(set, [groupOf('east')], first.create).remove, ['west'])
})

test('what the template says reaches those that are there; a name that somebody gave one stays', () => {
  const [east] = planSet(set, [groupOf('east')], []).create
  assert.ok(east)
  const named = { ...east, spec: { ...east.spec, clusterName: 'bank-e' } }
  const changed = { ...set, spec: { ...set.spec, template: { region: 'south' } } }
  assert.deepEqual(
    planSet(changed, [groupOf('east')], [named]).update.map(({ spec }) => spec),
    [{ region: 'south', nodeNames: ['east-1'], clusterName: 'bank-e' }],
  )
})

test('groups that cannot be names, or that would have one name, are told', () => {
  const groups = [...labelGroups('branch', [node('Ost'), node('ost'), node('__')])]
  const plan = planSet(set, groups, [])
  assert.deepEqual(
    plan.create.map(({ metadata }) => metadata.name),
    ['ost'],
  )
  assert.equal(plan.problems.length, 2)
})

test('a group that is there keeps its nodes when another one would have its name', () => {
  const made = planSet(set, labelGroups('branch', [node('ost')]), []).create
  const plan = planSet(set, labelGroups('branch', [node('ost'), node('Ost')]), made)
  assert.deepEqual(plan, {
    create: [],
    update: [],
    remove: [],
    problems: ['two groups would be called "ost"'],
  })
})

const foreign: [keyof typeof foreignSources, AnyObject['spec'], SourceGroup['nodes']][] = [
  [
    'nodeGroups',
    { matchLabels: { a: 'b' } },
    { nodeSelector: { matchLabels: { 'apps.kubeedge.io/belonging-to': 'east' } } },
  ],
  [
    'nodeUnits',
    { nodes: ['n1'], selector: { matchLabels: { a: 'b' }, annotations: { c: 'd' } } },
    { nodeNames: ['n1'], nodeSelector: { matchLabels: { a: 'b' }, matchExpressions: [] } },
  ],
  [
    'nodePools',
    { type: 'Edge' },
    { nodeSelector: { matchLabels: { 'apps.openyurt.io/nodepool': 'east' } } },
  ],
]

for (const [source, spec, nodes] of foreign) {
  test(`nodes of ${source}`, () => {
    const object: AnyObject = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'east' }, spec }
    assert.deepEqual(foreignSources[source].groupOf(object), { name: 'east', nodes })
  })
}
