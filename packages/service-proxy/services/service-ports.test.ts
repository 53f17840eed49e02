import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '@skerry/api'
import { planServicePorts } from './service-ports.ts'
import { service, slice, type EndpointDraft } from '../testing/service-objects.ts'

const webSpec = {
  clusterIP: '10.43.0.20',
  clusterIPs: ['10.43.0.20'],
  ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
}

const hall = { forZones: [{ name: 'hall' }] }

const table: {
  name: string
  spec: Service['spec']
  endpoints: EndpointDraft[]
  internal: string[]
  external: string[]
}[] = [
  {
    name: 'ready endpoints take traffic, unready ones do not',
    spec: webSpec,
    endpoints: [{ address: '10.42.0.2' }, { address: '10.42.0.3', ready: false }],
    internal: ['10.42.0.2'],
    external: ['10.42.0.2'],
  },
  {
    name: 'with none ready, those that still serve while terminating do',
    spec: webSpec,
    endpoints: [{ address: '10.42.0.2', ready: false, serving: true }],
    internal: ['10.42.0.2'],
    external: ['10.42.0.2'],
  },
  {
    name: 'externalTrafficPolicy Local keeps outside traffic on the node',
    spec: { ...webSpec, externalTrafficPolicy: 'Local' },
    endpoints: [
      { address: '10.42.0.2', node: 'a' },
      { address: '10.42.1.2', node: 'b' },
    ],
    internal: ['10.42.0.2', '10.42.1.2'],
    external: ['10.42.0.2'],
  },
  {
    name: 'internalTrafficPolicy Local keeps inside traffic on the node',
    spec: { ...webSpec, internalTrafficPolicy: 'Local' },
    endpoints: [{ address: '10.42.1.2', node: 'b' }],
    internal: [],
    external: ['10.42.1.2'],
  },
  {
    name: 'externalTrafficPolicy Local uses an endpoint that ends here rather than none',
    spec: { ...webSpec, externalTrafficPolicy: 'Local' },
    endpoints: [
      { address: '10.42.0.2', node: 'a', ready: false, serving: true },
      { address: '10.42.1.2', node: 'b' },
    ],
    internal: ['10.42.1.2'],
    external: ['10.42.0.2'],
  },
  {
    name: 'hints for this node come before those for its zone',
    spec: webSpec,
    endpoints: [
      { address: '10.42.0.2', hints: { ...hall, forNodes: [{ name: 'a' }] } },
      { address: '10.42.1.2', hints: { ...hall, forNodes: [{ name: 'b' }] } },
    ],
    internal: ['10.42.0.2'],
    external: ['10.42.0.2'],
  },
  {
    name: 'hints for the zone are kept if none is for this node',
    spec: webSpec,
    endpoints: [
      { address: '10.42.1.2', hints: { ...hall, forNodes: [{ name: 'b' }] } },
      { address: '10.42.2.2', hints: { forZones: [{ name: 'yard' }], forNodes: [{ name: 'c' }] } },
    ],
    internal: ['10.42.1.2'],
    external: ['10.42.1.2'],
  },
  {
    name: 'hints for other zones alone mean all endpoints',
    spec: webSpec,
    endpoints: [{ address: '10.42.2.2', hints: { forZones: [{ name: 'yard' }] } }],
    internal: ['10.42.2.2'],
    external: ['10.42.2.2'],
  },
  {
    name: 'hints that an endpoint lacks mean all endpoints',
    spec: webSpec,
    endpoints: [{ address: '10.42.0.2', hints: hall }, { address: '10.42.1.2' }],
    internal: ['10.42.0.2', '10.42.1.2'],
    external: ['10.42.0.2', '10.42.1.2'],
  },
  {
    name: 'an unready endpoint has no hints, and the others keep theirs',
    spec: webSpec,
    endpoints: [
      { address: '10.42.0.2', hints: hall },
      { address: '10.42.0.3', ready: false },
      { address: '10.42.1.2', hints: { forZones: [{ name: 'yard' }] } },
    ],
    internal: ['10.42.0.2'],
    external: ['10.42.0.2'],
  },
  {
    name: 'hints do not change what Local means',
    spec: { ...webSpec, internalTrafficPolicy: 'Local' },
    endpoints: [
      { address: '10.42.0.2', node: 'a', hints: { forZones: [{ name: 'yard' }] } },
      { address: '10.42.1.2', node: 'b', hints: hall },
    ],
    internal: ['10.42.0.2'],
    external: ['10.42.1.2'],
  },
]

for (const row of table) {
  test(row.name, () => {
    const place = { nodeName: 'a', zone: 'hall' }
    const [port] = planServicePorts(
      [service('web', row.spec)],
      [slice('web', row.endpoints)],
      place,
    )
    assert.deepEqual(
      port?.internal.map((backend) => backend.address),
      row.internal,
    )
    assert.deepEqual(
      port?.external.map((backend) => backend.address),
      row.external,
    )
  })
}

test('headless and ExternalName services have no rules', () => {
  const none = [
    service('db', { clusterIP: 'None', ports: [{ port: 80 }] }),
    service('out', { type: 'ExternalName', externalName: 'example.org', ports: [{ port: 80 }] }),
  ]
  assert.deepEqual(planServicePorts(none, [], { nodeName: 'a' }), [])
})

test('an address in two slices is one endpoint', () => {
  const twice = [slice('web', [{ address: '10.42.0.2' }]), slice('web', [{ address: '10.42.0.2' }])]
  const [port] = planServicePorts([service('web', webSpec)], twice, { nodeName: 'a' })
  assert.equal(port?.internal.length, 1)
})
