import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoint, EndpointSlice, Node, Service } from '@skerry/api'
import { serviceReach } from './service-reach.ts'

const zone = 'topology.kubernetes.io/zone'

function node(name: string, labels: Record<string, string>): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
}

const nodes = [
  node('n1', { hall: 'a', [zone]: 'north' }),
  node('n2', { hall: 'a', [zone]: 'north' }),
  node('n3', { hall: 'b', [zone]: 'south' }),
  node('n4', { [zone]: 'south' }),
]

function service(
  annotations: Record<string, string> = {},
  spec: Partial<Service['spec']> = {},
): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop', annotations },
    spec: { clusterIP: '10.43.0.7', ports: [{ port: 80 }], ...spec },
  }
}

function slices(...endpoints: Endpoint[]): EndpointSlice[] {
  return [
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'web-1',
        namespace: 'shop',
        labels: { 'kubernetes.io/service-name': 'web' },
      },
      addressType: 'IPv4',
      ports: [{ port: 8080 }],
      endpoints,
    },
  ]
}

const onA: Endpoint = {
  addresses: ['10.42.1.2'],
  nodeName: 'n1',
  targetRef: { kind: 'Pod', name: 'web-a' },
}
const onB: Endpoint = { addresses: ['10.42.3.2'], nodeName: 'n3' }
const both = slices(onA, onB)

/** Returns the nodes of each place with the nodes of the endpoints that they reach. */
function reach(of: Service, from: readonly EndpointSlice[]): [string, string][] {
  const { endpoints, places } = serviceReach(of, from, nodes)
  return places.map(({ nodes: asking, endpoints: reached }) => [
    asking.join(' '),
    reached.map((index) => endpoints[index]?.node).join(' '),
  ])
}

const hinted = (endpoint: Endpoint, name: string): Endpoint => ({
  ...endpoint,
  hints: { forZones: [{ name }] },
})
const table: readonly [string, Service, readonly EndpointSlice[], readonly [string, string][]][] = [
  ['a service without places leads all nodes to all', service(), both, [['n1 n2 n3 n4', 'n1 n3']]],
  [
    'a closed service leads each place to its own, and a node without one to none',
    service({ topologyKeys: '["hall"]' }),
    both,
    [
      ['n1 n2', 'n1'],
      ['n3', 'n3'],
      ['n4', ''],
    ],
  ],
  [
    'an open one leads the others to all',
    service({ topologyKeys: '["hall", "*"]' }),
    both,
    [
      ['n1 n2', 'n1'],
      ['n3', 'n3'],
      ['n4', 'n1 n3'],
    ],
  ],
  [
    'the own node comes first',
    service({ topologyKeys: '["kubernetes.io/hostname", "hall"]' }),
    slices(onA, { addresses: ['10.42.2.2'], nodeName: 'n2' }),
    [
      ['n1', 'n1'],
      ['n2', 'n2'],
      ['n3', ''],
      ['n4', ''],
    ],
  ],
  [
    'hints lead to the own zone',
    service({}, { trafficDistribution: 'PreferSameZone' }),
    slices(hinted(onA, 'north'), hinted(onB, 'south')),
    [
      ['n1 n2', 'n1'],
      ['n3 n4', 'n3'],
    ],
  ],
  [
    'traffic that stays on its node has none elsewhere',
    service({}, { internalTrafficPolicy: 'Local' }),
    both,
    [
      ['n1', 'n1'],
      ['n2 n4', ''],
      ['n3', 'n3'],
    ],
  ],
  [
    'the names of a headless service lead to ready pods alone',
    service({ topologyKeys: '["hall"]' }, { clusterIP: 'None' }),
    slices(onA, { ...onB, conditions: { ready: false } }),
    [
      ['n1 n2', 'n1'],
      ['n3', ''],
      ['n4', ''],
    ],
  ],
]
for (const [title, of, from, expected] of table) {
  test(title, () => assert.deepEqual(reach(of, from), expected))
}

test('the labels of a place, the pods, and an annotation without a meaning are there', () => {
  const { keys, endpoints, places } = serviceReach(
    service({ topologyKeys: '["hall"]' }),
    both,
    nodes,
  )
  assert.deepEqual(keys, ['hall'])
  assert.deepEqual(
    places.map(({ labels }) => labels),
    [{ hall: 'a' }, { hall: 'b' }, {}],
  )
  assert.deepEqual(endpoints[0], { address: '10.42.1.2', node: 'n1', pod: 'web-a', isReady: true })
  const odd = serviceReach(service({ topologyKeys: 'hall' }), both, nodes)
  assert.deepEqual(odd.faults, [{ annotation: 'topologyKeys', value: 'hall' }])
  assert.deepEqual(odd.keys, [])
})
