import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@skerry/api'
import { groupLabel, type VirtualCluster } from '@skerry/fleet-kinds'
import { planGroups } from './plan-groups.ts'

function node(name: string, labels: Record<string, string>, ready = 'True'): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  }
}

function group(name: string, spec: VirtualCluster['spec'], age = 0): VirtualCluster {
  const creationTimestamp = `2026-01-0${age + 1}T00:00:00Z`
  return {
    apiVersion: 'edge.skerry.io/v1alpha1',
    kind: 'VirtualCluster',
    metadata: { name, creationTimestamp },
    spec,
  }
}

const branch = (value: string) => ({ nodeSelector: { matchLabels: { branch: value } } })
const labelled = (name: string) => ({ [groupLabel]: name })

test('nodes get the label of the group that selects them, by label or by name, and lose it with it', () => {
  const plan = planGroups(
    'bank',
    [group('east', branch('east')), group('west', { nodeNames: ['n3'] })],
    [
      node('n1', { branch: 'east' }),
      node('n2', { branch: 'east', ...labelled('bank-east') }, 'False'),
      node('n3', {}),
      node('n4', labelled('bank-gone')),
      node('n5', {}),
    ],
  )
  assert.deepEqual(
    [...plan.labels],
    [
      ['n1', 'bank-east'],
      ['n3', 'bank-west'],
      ['n4', undefined],
    ],
  )
  assert.deepEqual(plan.groups.get('east'), {
    clusterName: 'bank-east',
    isRefused: false,
    nodes: { total: 2, ready: 1 },
    problems: [],
  })
})

test('a node that two groups select stays where it was, and both report it', () => {
  const [older, younger] = [group('a', branch('x')), group('b', { nodeNames: ['n1'] }, 1)]
  const fresh = planGroups('bank', [younger, older], [node('n1', { branch: 'x' })])
  assert.deepEqual([...fresh.labels], [['n1', 'bank-a']])
  const there = node('n1', { branch: 'x', ...labelled('bank-b') })
  const settled = planGroups('bank', [older, younger], [there])
  assert.deepEqual([...settled.labels], [])
  assert.deepEqual(settled.groups.get('a')?.problems, [
    'node "n1" is selected by "b", too, and stays in "b"',
  ])
  assert.deepEqual(settled.groups.get('b')?.problems, [
    'node "n1" is selected by "a", too, and stays here',
  ])
})

test('a name is free only after its holder has left', () => {
  const leaving = group('east', {})
  leaving.metadata.deletionTimestamp = '2026-02-01T00:00:00Z'
  leaving.status = { clusterName: 'bank-east' }
  const next = group('ost', { clusterName: 'bank-east' }, 1)
  assert.equal(planGroups('bank', [leaving, next], []).groups.get('ost')?.isRefused, true)
  assert.equal(planGroups('bank', [next], []).groups.get('ost')?.isRefused, false)
})

test('an existing virtual cluster that asks for something impossible keeps its name and its nodes, and reports it', () => {
  const wrong: VirtualCluster['spec'][] = [
    { ...branch('east'), namespaces: { pattern: 'everything' } },
    { ...branch('east'), clusterName: 'East!' },
    { nodeSelector: { matchExpressions: [{ key: 'branch', operator: 'Like' }] } },
  ]
  for (const spec of wrong) {
    const east = { ...group('east', spec), status: { clusterName: 'bank-east' } }
    const other = group('other', { nodeNames: ['n1'], clusterName: 'bank-east' }, 1)
    const third = group('third', { nodeNames: ['n1'] }, 2)
    const nodes = [node('n1', { branch: 'east', ...labelled('bank-east') })]
    const plan = planGroups('bank', [east, other, third], nodes)
    assert.deepEqual([...plan.labels], [], JSON.stringify(spec))
    assert.equal(plan.groups.get('east')?.isRefused, true)
    assert.deepEqual(plan.groups.get('east')?.nodes, { total: 1, ready: 1 })
    assert.match(plan.groups.get('other')?.problems[0] ?? '', /is that of VirtualCluster "east"/)
  }
})

test('a virtual cluster that is being deleted no longer selects anything', () => {
  const leaving = group('east', branch('east'))
  leaving.metadata.deletionTimestamp = '2026-02-01T00:00:00Z'
  const there = node('n1', { branch: 'east', ...labelled('bank-east') })
  const plan = planGroups('bank', [leaving], [there])
  assert.deepEqual([...plan.labels], [['n1', undefined]])
  assert.equal(plan.groups.has('east'), false)
})

const refused: [string, VirtualCluster['spec'], RegExp][] = [
  ['the name of another one', { clusterName: 'bank-first' }, /is that of VirtualCluster "first"/],
  ['the name of the whole cluster', { clusterName: 'bank' }, /the whole cluster's own name/],
  ['no name at all', { clusterName: 'East!' }, /clusterName "East!": /],
  ['a name that is too long', { clusterName: `bank-${'x'.repeat(50)}` }, /more than 48 characters/],
  [
    'a selector that nobody understands',
    { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } },
    /nodeSelector: .*Like/,
  ],
  [
    'another pattern of namespaces than the others',
    { namespaces: { pattern: '{cluster}-{namespace}' } },
    /must be the same in all VirtualClusters, and the oldest has none/,
  ],
]

test('refused: invalid external addresses', () => {
  for (const text of ['192.0.2.0/33', 'example.com', '192.0.2.0/', '']) {
    const asked = group('east', { isolation: { externalAddresses: ['192.0.2.1', text] } })
    const planned = planGroups('bank', [asked], []).groups.get('east')
    assert.match(planned?.problems[0] ?? '', /isolation.externalAddresses: Cannot permit/, text)
  }
})

test('refused: a pattern that names no namespaces', () => {
  const asked = group('east', { namespaces: { pattern: 'everything' } })
  const planned = planGroups('bank', [asked], []).groups.get('east')
  assert.equal(planned?.isRefused, true)
  assert.match(planned?.problems[0] ?? '', /namespaces.pattern: Cannot map namespaces/)
})

for (const [what, spec, why] of refused) {
  test(`refused: ${what}`, () => {
    const plan = planGroups('bank', [group('first', {}), group('second', spec, 1)], [])
    assert.equal(plan.groups.get('second')?.isRefused, true)
    assert.match(plan.groups.get('second')?.problems[0] ?? '', why)
    assert.equal(plan.groups.get('first')?.isRefused, false)
  })
}
