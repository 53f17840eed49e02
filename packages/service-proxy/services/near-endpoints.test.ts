import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearEndpoints, topologyKeysOf } from './near-endpoints.ts'
import { service, slice, type EndpointDraft } from '../testing/service-objects.ts'

const nodes = {
  a1: { hall: 'a', 'apps.kubeedge.io/belonging-to': 'g1', 'apps.openyurt.io/nodepool': 'p1' },
  a2: { hall: 'a', 'apps.kubeedge.io/belonging-to': 'g1', 'apps.openyurt.io/nodepool': 'p1' },
  b1: { hall: 'b', 'apps.kubeedge.io/belonging-to': 'g2', 'apps.openyurt.io/nodepool': 'p2' },
  empty: { hall: '' },
  office: {},
}
const everywhere: EndpointDraft[] = Object.keys(nodes).map((node) => ({ address: node, node }))
const openYurt = 'openyurt.io/topologyKeys'
const kubeEdge = 'apps.kubeedge.io/service-topology'

const table: {
  name: string
  on: string
  annotations: Record<string, string>
  endpoints?: EndpointDraft[]
  isHeadless?: boolean
  uses: string[]
}[] = [
  { name: 'no annotation', on: 'a1', annotations: {}, uses: Object.keys(nodes) },
  { name: 'a key', on: 'a1', annotations: { topologyKeys: '["hall"]' }, uses: ['a1', 'a2'] },
  {
    name: 'a key on a node without it',
    on: 'office',
    annotations: { topologyKeys: '["hall"]' },
    uses: [],
  },
  {
    name: 'a key without a value',
    on: 'empty',
    annotations: { topologyKeys: '["hall"]' },
    uses: [],
  },
  {
    name: 'the first key that has an endpoint',
    on: 'a1',
    annotations: { topologyKeys: '["kubernetes.io/hostname","hall"]' },
    uses: ['a1'],
  },
  {
    name: 'a further key if the first has none that serves',
    on: 'a1',
    annotations: { topologyKeys: '["kubernetes.io/hostname","hall"]' },
    endpoints: [
      { address: 'a1', node: 'a1', ready: false },
      { address: 'a2', node: 'a2' },
      { address: 'b1', node: 'b1' },
    ],
    uses: ['a1', 'a2'],
  },
  {
    name: 'all keys for the names of a headless service',
    on: 'a1',
    annotations: { topologyKeys: '["kubernetes.io/hostname","hall"]' },
    isHeadless: true,
    uses: ['a1', 'a2'],
  },
  {
    name: 'everybody if none is near and "*" is there',
    on: 'office',
    annotations: { topologyKeys: '["hall","*"]' },
    uses: Object.keys(nodes),
  },
  {
    name: 'the near ones in spite of "*"',
    on: 'b1',
    annotations: { topologyKeys: '["hall","*"]' },
    uses: ['b1'],
  },
  {
    name: 'a group of KubeEdge',
    on: 'a1',
    annotations: { [kubeEdge]: 'range-nodegroup' },
    uses: ['a1', 'a2'],
  },
  {
    name: 'a pool of OpenYurt',
    on: 'b1',
    annotations: { [openYurt]: 'openyurt.io/nodepool' },
    uses: ['b1'],
  },
  {
    name: 'a node without a pool of OpenYurt',
    on: 'office',
    annotations: { [openYurt]: 'kubernetes.io/zone' },
    uses: ['office'],
  },
  {
    name: 'the node itself, with OpenYurt',
    on: 'a2',
    annotations: { [openYurt]: 'kubernetes.io/hostname' },
    uses: ['a2'],
  },
]

for (const row of table) {
  test(`a service uses: ${row.name}`, () => {
    const subject = service('web', { clusterIP: row.isHeadless ? 'None' : '10.43.0.20' })
    subject.metadata.annotations = row.annotations
    const place = { nodeName: row.on, nodes }
    const endpoints = row.endpoints ?? everywhere
    const { slices, faults } = nearEndpoints([subject], [slice('web', endpoints)], place)
    assert.deepEqual(
      slices.flatMap((each) => (each.endpoints ?? []).flatMap(({ addresses }) => addresses)),
      row.uses,
    )
    assert.deepEqual(faults, [])
  })
}

for (const [annotation, value] of [
  ['topologyKeys', 'hall'],
  ['topologyKeys', '[]'],
  ['topologyKeys', '[1]'],
  [openYurt, 'toString'],
  [kubeEdge, 'range-node'],
] as const) {
  test(`${annotation}: ${value} closes nothing, and is named`, () => {
    const subject = service('web', { clusterIP: '10.43.0.20' })
    subject.metadata.annotations = { [annotation]: value }
    const all = [slice('web', everywhere)]
    const { slices, faults } = nearEndpoints([subject], all, { nodeName: 'a1', nodes })
    assert.deepEqual(slices, all)
    assert.deepEqual(faults, [{ service: 'shop/web', annotation, value }])
  })
}

test('endpoints of other services, and those of the API server, stay', () => {
  const closed = service('web', { clusterIP: '10.43.0.20' })
  const apiServer = service('kubernetes', { clusterIP: '10.43.0.1' })
  apiServer.metadata.namespace = 'default'
  for (const each of [closed, apiServer]) each.metadata.annotations = { topologyKeys: '["hall"]' }
  const ofApiServer = slice('kubernetes', [{ address: 'b1', node: 'b1' }])
  ofApiServer.metadata.namespace = 'default'
  const other = slice('db', [{ address: 'b1', node: 'b1' }])
  const { slices } = nearEndpoints(
    [closed, apiServer],
    [slice('web', [{ address: 'b1', node: 'b1' }]), ofApiServer, other],
    { nodeName: 'a1', nodes },
  )
  const counts = slices.map((each) => [
    each.metadata.labels?.['kubernetes.io/service-name'],
    each.endpoints?.length,
  ])
  assert.deepEqual(Object.fromEntries(counts), { web: 0, kubernetes: 1, db: 1 })
})

test('a snapshot keeps the labels that decide', () => {
  const subject = service('web', {})
  subject.metadata.annotations = { topologyKeys: '["hall","*"]' }
  assert.deepEqual(topologyKeysOf([subject]).has('hall'), true)
  assert.deepEqual(topologyKeysOf([subject]).has('room'), false)
})
