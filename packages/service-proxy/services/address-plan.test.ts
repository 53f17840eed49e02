import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Service } from '@skerry/api'
import { planAddresses, type AddressOwners, type AddressPlan } from './address-plan.ts'
import type { UsedPort } from './machine-ports.ts'
import { planServicePorts } from './service-ports.ts'
import { service, slice } from '../testing/service-objects.ts'

const owners: AddressOwners = {
  clusterCidr: '10.42.0.0/16',
  serviceCidr: '10.43.0.0/16',
  ownAddresses: ['10.43.0.10'],
  nodeAddresses: ['192.0.2.1', '192.0.2.2'],
  reservedAddresses: ['192.0.2.3', '192.0.2.53'],
}

const aged = (object: Service, createdAt: string, uid = object.metadata.name ?? ''): Service => ({
  ...object,
  metadata: { ...object.metadata, creationTimestamp: createdAt, uid },
})
const clusterOnly = (name: string, clusterIP: string, createdAt: string): Service =>
  aged(
    service(name, { clusterIP, clusterIPs: [clusterIP], ports: [{ name: 'http', port: 80 }] }),
    createdAt,
  )

const old = '2026-01-01T00:00:00Z'
const young = '2026-02-01T00:00:00Z'
const newest = '2026-03-01T00:00:00Z'

/** The other services; the service under test is older than some of them and younger than others. */
const others: Service[] = [
  clusterOnly('kubernetes', '10.43.0.1', old),
  clusterOnly('dns', '10.43.0.10', old),
  clusterOnly('older', '10.43.0.20', old),
  clusterOnly('newer', '10.43.0.21', newest),
  clusterOnly('elsewhere', '172.30.0.1', newest),
  aged(
    service('contender', {
      clusterIP: '10.43.0.22',
      clusterIPs: ['10.43.0.22'],
      type: 'LoadBalancer',
      externalIPs: ['198.51.100.7'],
      ports: [{ name: 'http', port: 80, nodePort: 30_080 }],
    }),
    old,
  ),
]

interface Draft {
  readonly spec?: Service['spec']
  readonly ingress?: { ip: string; ipMode?: string }
  readonly endpoint?: string
}

/** Every way in which a Service or its slices can name an address. */
const ways: Readonly<Record<string, (address: string) => Draft>> = {
  clusterIP: (address) => ({ spec: { clusterIP: address, clusterIPs: [address] } }),
  'second of clusterIPs': (address) => ({ spec: { clusterIPs: ['10.43.0.30', address] } }),
  externalIPs: (address) => ({ spec: { externalIPs: [address] } }),
  'load balancer': (address) => ({ ingress: { ip: address } }),
  'load balancer, VIP': (address) => ({ ingress: { ip: address, ipMode: 'VIP' } }),
  'load balancer, Proxy': (address) => ({ ingress: { ip: address, ipMode: 'Proxy' } }),
  endpoint: (address) => ({ endpoint: address }),
}

function planWith(
  { spec, ingress, endpoint }: Draft,
  more: readonly EndpointSlice[] = [],
): AddressPlan {
  const base = { clusterIP: '10.43.0.30', clusterIPs: ['10.43.0.30'] }
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]
  const tested = aged(service('tested', { ...base, ports, ...spec }), young)
  const status = ingress ? { loadBalancer: { ingress: [ingress] } } : {}
  const slices = [slice('tested', [{ address: endpoint ?? '10.42.0.2' }]), ...more]
  return planAddresses(
    planServicePorts([{ ...tested, status }, ...others], slices, { nodeName: 'a' }),
    owners,
  )
}

/** Returns the addresses at which a service is served, and its endpoints. */
function addressesOf({ ports }: AddressPlan, name: string): string[] {
  return ports
    .filter((port) => port.service === `shop/${name}`)
    .flatMap(({ clusterIps, externalIps, internal, external }) => [
      ...clusterIps,
      ...externalIps,
      ...[...internal, ...external].map(({ address }) => address),
    ])
}

/** The node that has an address says what it does not serve there; the others let everything pass. */
const ofNodes: readonly string[] = owners.nodeAddresses
const outside = ['externalIPs', 'load balancer', 'load balancer, VIP']
const inside = ['clusterIP', 'second of clusterIPs']
/** Nodes never take the address of a load balancer that is a proxy. */
const nowhere: string[] = []

/** Every type of owned address, and the ways by which a service may have it. */
const kinds: readonly (readonly [kind: string, address: string, allowed: readonly string[]])[] = [
  ['nobody here', '198.51.100.1', [...inside, ...outside, 'endpoint']],
  ['a free one of the service range', '10.43.0.99', [...inside, 'endpoint']],
  ['the API service', '10.43.0.1', ['endpoint']],
  ['the cluster DNS', '10.43.0.10', ['endpoint']],
  ['an older service', '10.43.0.20', ['endpoint']],
  ['a newer service', '10.43.0.21', [...inside, 'endpoint']],
  ['a service of a further range', '172.30.0.1', [...inside, 'endpoint']],
  ["a contender's external address", '198.51.100.7', [...inside, 'endpoint']],
  ['a pod', '10.42.0.9', ['endpoint']],
  ['this node', '192.0.2.1', ['endpoint']],
  ['another node', '192.0.2.2', ['endpoint']],
  ['the API server', '192.0.2.3', ['endpoint']],
  ['a name server of the machine', '192.0.2.53', ['endpoint']],
  ['the machine itself', '127.0.0.1', nowhere],
  ['any address', '0.0.0.0', nowhere],
  ['the metadata of clouds', '169.254.169.254', nowhere],
  ['a group', '224.0.0.1', nowhere],
  ['everybody', '255.255.255.255', nowhere],
  ['a form with leading zeros', '010.43.0.20', nowhere],
  ['a short form', '127.1', nowhere],
  ['a number', '2130706433', nowhere],
  ['a hexadecimal form', '0x7f.0.0.1', nowhere],
  ['IPv4 in IPv6', '::ffff:127.0.0.1', nowhere],
  ['a block', '198.51.100.0/24', nowhere],
  ['words for nft', '198.51.100.1 . tcp', nowhere],
]

for (const [way, draft] of Object.entries(ways)) {
  for (const [kind, address, allowed] of kinds) {
    // These addresses belong to services that come later: the test's own is the older one.
    const expected = allowed.includes(way)
    test(`${way}: ${kind} is ${expected ? 'served' : 'not taken'}`, () => {
      const plan = planWith(draft(address))
      assert.equal(addressesOf(plan, 'tested').includes(address), expected)
      if (way === 'endpoint' || way === 'load balancer, Proxy' || address.includes('::')) return
      if (outside.includes(way) && ofNodes.includes(address)) return
      const refusal = plan.refused.find(
        (each) => each.service === 'shop/tested' && each.address === address,
      )
      assert.equal(refusal === undefined, expected, refusal?.reason ?? 'it is not refused')
    })
  }
}

test('whatever address a service names, nobody else loses theirs', () => {
  const { nodeAddresses, reservedAddresses, ownAddresses } = owners
  const ofMachines = new Set([...nodeAddresses, ...reservedAddresses, ...ownAddresses, '10.42.0.9'])
  for (const [way, draft] of Object.entries(ways)) {
    if (inside.includes(way)) continue
    for (const [kind, address] of kinds) {
      const plan = planWith(draft(address))
      const external = plan.ports.flatMap(({ externalIps }) => externalIps)
      assert.deepEqual(
        external.filter((each) => ofMachines.has(each)),
        [],
        `${way}: ${kind}`,
      )
      for (const { metadata, spec } of others) {
        const kept = addressesOf(plan, metadata.name ?? '')
        const own: string[] = [...(spec?.clusterIPs ?? []), ...(spec?.externalIPs ?? [])]
        assert.deepEqual(
          own.filter((each) => !kept.includes(each)),
          [],
          `${way}: ${kind}`,
        )
      }
    }
  }
})

test('of two services that want one external address and port, the older one always gets it', () => {
  const wanting = (name: string, createdAt: string, uid?: string) =>
    aged(
      service(name, {
        clusterIP: `10.43.1.${name.length}`,
        externalIPs: ['198.51.100.9'],
        ports: [{ name: 'http', port: 80, nodePort: 30_090 }],
      }),
      createdAt,
      uid,
    )
  const table: readonly (readonly [string, readonly Service[], string])[] = [
    ['by age', [wanting('aa', young), wanting('zzz', old)], 'shop/zzz:http'],
    ['by uid', [wanting('aa', old, '2'), wanting('zzz', old, '1')], 'shop/zzz:http'],
  ]
  for (const [name, services, winner] of table) {
    for (const order of [services, services.toReversed()]) {
      const { ports, refused } = planAddresses(
        planServicePorts(order, [], { nodeName: 'a' }),
        owners,
      )
      const holders = ports.filter(({ externalIps }) => externalIps.length > 0)
      assert.deepEqual(
        holders.map((port) => port.name),
        [winner],
        name,
      )
      assert.deepEqual(
        ports.filter(({ nodePort }) => nodePort !== undefined).map((port) => port.name),
        [winner],
      )
      assert.deepEqual(
        refused.map(({ service: loser, address, reason }) => [loser, address, reason]),
        [
          ['shop/aa', '198.51.100.9', `service ${winner} has it`],
          ['shop/aa', 'node port 30090/tcp', `service ${winner} has it`],
        ],
      )
    }
  }
})

/**
 * Returns a service that names an external address in its spec or, with `isStatus`, in the status
 * of its load balancer.
 */
function sharing(
  name: string,
  {
    port,
    createdAt = old,
    isStatus = false,
  }: { port: number; createdAt?: string; isStatus?: boolean },
): Service {
  const [namespace = '', own = ''] = name.split('/')
  const spec = { clusterIP: `10.43.2.${port}`, ports: [{ name: 'http', port }] }
  const made = aged(
    service(own, isStatus ? spec : { ...spec, externalIPs: ['198.51.100.9'] }),
    createdAt,
  )
  const status = isStatus ? { loadBalancer: { ingress: [{ ip: '198.51.100.9' }] } } : {}
  return { ...made, metadata: { ...made.metadata, namespace }, status }
}

test('services may share an external address with different ports', () => {
  const services = [sharing('shop/a', { port: 80 }), sharing('shop/b', { port: 81 })]
  const plan = planAddresses(planServicePorts(services, [], { nodeName: 'a' }), owners)
  assert.deepEqual(plan.refused, [])
})

test('services of several namespaces share an external address by different ports, and the oldest has a port', () => {
  for (const isStatus of [false, true]) {
    const services = [
      sharing('shop/first', { port: 80 }),
      sharing('bank/second', { port: 81, createdAt: young, isStatus }),
      sharing('bank/third', { port: 80, createdAt: newest, isStatus }),
    ]
    for (const order of [services, services.toReversed()]) {
      const { ports, refused } = planAddresses(
        planServicePorts(order, [], { nodeName: 'a' }),
        owners,
      )
      const served = ports.filter(({ externalIps }) => externalIps.length > 0)
      assert.deepEqual(
        served.map(({ service: holder }) => holder),
        ['bank/second', 'shop/first'],
      )
      const reason = 'service shop/first:http has it'
      const external = refused.filter(({ address }) => address === '198.51.100.9')
      assert.deepEqual(external, [{ service: 'bank/third', address: '198.51.100.9', reason }])
    }
  }
})

/** Plans a service with these external addresses on a machine, and returns what it serves there, and why not. */
function onMachine(
  addresses: readonly string[],
  { port = 80, used = [] }: { port?: number; used?: readonly Partial<UsedPort>[] } = {},
): { served: readonly string[]; elsewhere: readonly string[]; refused: readonly string[] } {
  const taken = used.map((each) => ({
    protocol: 'tcp' as const,
    port: 80,
    address: undefined,
    by: 'a program of the machine',
    ...each,
  }))
  const machine = { addresses: new Set(['192.0.2.1', '192.0.2.3']), used: taken }
  const spec = { clusterIP: '10.43.0.30', externalIPs: [...addresses], ports: [{ port }] }
  const services = [aged(service('tested', spec), young), ...others]
  const plan = planAddresses(planServicePorts(services, [], { nodeName: 'a' }), {
    ...owners,
    machine,
  })
  const [tested] = plan.ports.filter((each) => each.service === 'shop/tested')
  const refused = plan.refused.filter((each) => each.service === 'shop/tested')
  return {
    served: tested?.machineIps ?? [],
    elsewhere: tested?.externalIps ?? [],
    refused: refused.map(({ reason }) => reason),
  }
}

test('an address of the machine is served by that machine alone, at ports that nobody there uses', () => {
  const [own = '', other = ''] = owners.nodeAddresses
  const api = '192.0.2.3'
  assert.deepEqual(onMachine([own]), { served: [own], elsewhere: [], refused: [] })
  assert.deepEqual(onMachine([api]).served, [api], 'the API server runs on this machine')
  const reason = 'a program of the machine uses port 80/tcp'
  for (const used of [{}, { address: own }]) {
    assert.deepEqual(onMachine([own], { used: [used] }).served, [])
    assert.deepEqual(onMachine([own], { used: [used] }).refused, [reason])
  }
  const unrelated = [{ port: 81 }, { protocol: 'udp' as const }, { address: api }]
  for (const used of unrelated) assert.deepEqual(onMachine([own], { used: [used] }).served, [own])
  assert.deepEqual(onMachine([own], { port: 30_080 }).refused, ['port 30080/tcp is a node port'])
  assert.deepEqual(onMachine([other]).elsewhere, [], 'traffic to another node is let pass')
  assert.deepEqual(onMachine([other]).refused, [])
})
