import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, Node } from '@skerry/api'
import {
  goneSinceAnnotation,
  type VirtualCluster,
  type VirtualClusterSet,
} from '@skerry/fleet-kinds'
import { foreignSources, labelGroups, type SourceGroup } from './group-sources.ts'
import { planSet } from './plan-set.ts'

const set: VirtualClusterSet = {
  apiVersion: 'edge.skerry.io/v1alpha1',
  kind: 'VirtualClusterSet',
  metadata: { name: 'branches', uid: 'u' },
  spec: { source: { label: { key: 'branch' } }, template: { region: 'north' } },
}

function node(branch: string): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: branch, labels: { branch } } }
}

const nowMs = Date.parse('2026-03-01T12:00:00.700Z')
const nothing = { create: [], update: [], remove: [], waiting: [] }

const groupOf = (name: string): SourceGroup => ({ name, nodes: { nodeNames: [`${name}-1`] } })

test('a set has a VirtualCluster for each group, and none for a group that is gone', () => {
  const first = planSet(set, [groupOf('east'), groupOf('west')], [], nowMs)
  assert.deepEqual(
    first.create.map(({ metadata, spec }) => [metadata.name, spec]),
    [
      ['east', { region: 'north', nodeNames: ['east-1'] }],
      ['west', { region: 'north', nodeNames: ['west-1'] }],
    ],
  )
  const settled = planSet(set, [groupOf('east'), groupOf('west')], first.create, nowMs)
  assert.deepEqual(settled, { ...nothing, problems: [] })
  const atOnce = { ...set, spec: { ...set.spec, gracePeriodSeconds: 0 } }
  assert.deepEqual(planSet(atOnce, [groupOf('east')], first.create, nowMs), {
    ...nothing,
    remove: ['west'],
    problems: [],
  })
})

test('a virtual cluster whose group is gone stays for the grace period', () => {
  const [east] = planSet(set, [groupOf('east')], [], nowMs).create
  assert.ok(east)
  const lost = planSet(set, [], [east], nowMs)
  const noted = { ...east.metadata, annotations: { [goneSinceAnnotation]: '2026-03-01T12:00:00Z' } }
  const told = ['group "east" is gone: its virtual cluster goes at 2026-03-01T12:10:00Z, unless']
  assert.deepEqual(lost.update, [{ ...east, metadata: noted }])
  assert.deepEqual([lost.remove, lost.waiting], [[], ['east']])
  assert.deepEqual(
    lost.problems.map((each) => each.slice(0, told[0]?.length)),
    told,
  )
  const gone = lost.update[0] ?? east
  const minuteMs = 60_000
  const later = planSet(set, [], [gone], nowMs + 9 * minuteMs)
  assert.deepEqual(later, {
    ...nothing,
    waiting: ['east'],
    problems: lost.problems,
    nextMs: minuteMs - 700,
  })
  assert.deepEqual(planSet(set, [], [gone], nowMs + 10 * minuteMs).remove, ['east'])
  const back = planSet(set, [groupOf('east')], [gone], nowMs + 20 * minuteMs)
  assert.deepEqual(back, {
    ...nothing,
    update: [{ ...east, metadata: { ...east.metadata, annotations: {} } }],
    problems: [],
  })
})

test('an unreadable or future time counts from now', () => {
  const [east] = planSet(set, [groupOf('east')], [], nowMs).create
  assert.ok(east)
  for (const since of ['', 'yesterday', '2026-03-01T12:00:01Z']) {
    const annotations = { [goneSinceAnnotation]: since }
    const found: VirtualCluster = { ...east, metadata: { ...east.metadata, annotations } }
    const { update, remove } = planSet(set, [], [found], nowMs)
    assert.deepEqual(remove, [], since)
    assert.deepEqual(
      update.map(({ metadata }) => metadata.annotations?.[goneSinceAnnotation]),
      ['2026-03-01T12:00:00Z'],
      since,
    )
  }
})

test('changes to the template reach existing virtual clusters; a name that somebody gave one stays', () => {
  const [east] = planSet(set, [groupOf('east')], [], nowMs).create
  assert.ok(east)
  const named = { ...east, spec: { ...east.spec, clusterName: 'bank-e' } }
  const changed = { ...set, spec: { ...set.spec, template: { region: 'south' } } }
  assert.deepEqual(
    planSet(changed, [groupOf('east')], [named], nowMs).update.map(({ spec }) => spec),
    [{ region: 'south', nodeNames: ['east-1'], clusterName: 'bank-e' }],
  )
})

test('groups that cannot be names, or that would share one name, are reported', () => {
  const groups = [...labelGroups('branch', [node('Ost'), node('ost'), node('__')])]
  const plan = planSet(set, groups, [], nowMs)
  assert.deepEqual(
    plan.create.map(({ metadata }) => metadata.name),
    ['ost'],
  )
  assert.equal(plan.problems.length, 2)
})

test('an existing group keeps its nodes when another one would have its name', () => {
  const made = planSet(set, labelGroups('branch', [node('ost')]), [], nowMs).create
  const plan = planSet(set, labelGroups('branch', [node('ost'), node('Ost')]), made, nowMs)
  assert.deepEqual(plan, {
    ...nothing,
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
