import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodesWithoutPlace, placeKinds, placeRows, servedAs } from './node-places.ts'

const node = (name: string, labels: Record<string, string>, ready = 'True') => ({
  metadata: { name, labels },
  status: { conditions: [{ type: 'Ready', status: ready }] },
})

const nodes = [
  node('n10', { 'hall-a': 'nodeunits.superedge.io', halls: 'hall-a' }, 'Unknown'),
  node('n2', { 'hall-a': 'nodeunits.superedge.io', halls: 'hall-a' }),
  node('n3', { 'apps.kubeedge.io/belonging-to': 'east', 'hall-a': 'something else', halls: '' }),
  node('n4', { 'apps.openyurt.io/nodepool': 'east' }),
]

const served = (group: string, resource: string, kind: string) => ({
  group,
  version: 'v1',
  resource,
  kind,
  isNamespaced: false,
})

test('each kind of places has the nodes with its label, and how many of them are ready', () => {
  const all = [
    served('site.superedge.io', 'nodeunits', 'NodeUnit'),
    served('site.superedge.io', 'nodegroups', 'NodeGroup'),
    served('apps.kubeedge.io', 'nodegroups', 'NodeGroup'),
    served('apps.openyurt.io', 'nodepools', 'NodePool'),
  ]
  const names = ['hall-a', 'halls', 'east', 'east']
  const found = placeKinds.flatMap((kind, at) => {
    const as = servedAs(all, kind)
    assert.ok(as)
    return placeRows(kind, as, [{ metadata: { name: names[at] ?? '' } }], nodes)
  })
  assert.deepEqual(
    found.map((row) => [row.key, row.nodes.map(({ name }) => name).join(' '), row.ready]),
    [
      ['SuperEdge NodeUnit hall-a', 'n2 n10', 1],
      ['SuperEdge NodeGroup halls', 'n2 n10', 1],
      ['KubeEdge NodeGroup east', 'n3', 1],
      ['OpenYurt NodePool east', 'n4', 1],
    ],
  )
  assert.deepEqual(nodesWithoutPlace(found.slice(0, 2), nodes), ['n3', 'n4'])
  assert.equal(servedAs(all, { group: 'apps', resource: 'deployments' }), undefined)
  assert.equal(servedAs(undefined, { group: '', resource: 'nodes' }), undefined)
})

test('a unit that is a cluster of its own has its addresses, and the servers that are missing', () => {
  const [units] = placeKinds
  assert.ok(units)
  const unit = (phase: string, status: string, message: string) => ({
    metadata: { name: 'hall-a' },
    status: {
      unitClusterStatus: {
        phase,
        addresses: [{ host: '10.0.0.2' }, { host: '10.0.0.3' }],
        conditions: [{ type: 'Init', status, message }],
      },
    },
  })
  const table = [
    [unit('Running', 'True', 'its own control plane acts'), []],
    [unit('Running', 'Unknown', '2 of its 3 servers serve'), ['2 of its 3 servers serve']],
    [unit('Failed', 'False', 'as the condition says'), []],
  ] as const
  for (const [place, problems] of table) {
    const [row] = placeRows(units, served('g', 'nodeunits', 'NodeUnit'), [place], nodes)
    assert.deepEqual([row?.ownServers, row?.problems], [['10.0.0.2', '10.0.0.3'], problems])
  }
})

test('conflicts, nodes that another group has, and nodes that do not exist are named', () => {
  const [units, , groups] = placeKinds
  assert.ok(units && groups)
  const unit = {
    metadata: { name: 'hall-a', deletionTimestamp: '2026-01-01T00:00:00Z' },
    spec: { nodes: ['n2', 'nosuch'] },
    status: {
      conditions: [{ type: 'Conflict', status: 'True', message: 'label x is set by unit b' }],
    },
  }
  const [row] = placeRows(units, served('g', 'nodeunits', 'NodeUnit'), [unit], nodes)
  assert.deepEqual(row?.problems, ['Conflict: label x is set by unit b'])
  assert.deepEqual(row.missing, ['nosuch'])
  assert.equal(row.isLeaving, true)
  const group = {
    metadata: { name: 'east' },
    status: {
      nodeStatuses: [
        { nodeName: 'n3', selectionStatus: 'Succeeded' },
        { nodeName: 'n4', selectionStatus: 'Failed', selectionStatusReason: 'belongs to west' },
      ],
    },
  }
  const [other] = placeRows(groups, served('g', 'nodegroups', 'NodeGroup'), [group], nodes)
  assert.deepEqual(other?.problems, ['n4: belongs to west'])
})
