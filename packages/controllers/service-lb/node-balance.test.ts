import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Node, Service } from '@skerry/api'
import { balancingNodes } from './balancing-nodes.ts'
import { planNodeBalances } from './node-balance.ts'

interface NodeDraft {
  readonly labels?: Record<string, string>
  readonly used?: string
  readonly ready?: boolean
  readonly pods?: Record<string, string>
}

interface ServiceDraft {
  readonly ports?: readonly string[]
  readonly labels?: Record<string, string>
  readonly spec?: Service['spec']
  /** The nodes of its endpoints. */
  readonly endpoints?: readonly string[]
}

function nodeOf(name: string, at: number, { labels = {}, used, ready = true }: NodeDraft): Node {
  const annotations = { 'skerry.io/used-ports': used ?? '' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, annotations },
    status: {
      addresses: [
        { type: 'Hostname', address: name },
        { type: 'InternalIP', address: `192.168.7.${11 + at}` },
      ],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }],
    },
  }
}

function serviceOf(name: string, at: number, draft: ServiceDraft): Service {
  const ports = (draft.ports ?? ['80/TCP']).map((text, index) => {
    const [port, protocol] = text.split('/')
    return { name: `p${index}`, port: Number(port), protocol }
  })
  const creationTimestamp = `2026-01-0${at + 1}T00:00:00Z`
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop', uid: name, creationTimestamp, labels: draft.labels },
    spec: { type: 'LoadBalancer', ports, ...draft.spec },
  }
}

function sliceOf(nodes: readonly string[]): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {},
    addressType: 'IPv4',
    endpoints: nodes.map((nodeName) => ({
      addresses: ['10.42.0.2'],
      nodeName,
      conditions: { ready: true },
    })),
  }
}

/** Returns the nodes of each service by the last part of their addresses, with what is said about it. */
function planned(
  nodes: Record<string, NodeDraft>,
  services: Record<string, ServiceDraft>,
): Record<string, string> {
  const all = Object.entries(services).map(([name, draft], at) => serviceOf(name, at, draft))
  const hostPorts = new Map(
    Object.entries(nodes).map(([name, { pods = {} }]) => [name, new Map(Object.entries(pods))]),
  )
  const plan = planNodeBalances({
    services: all.toReversed(),
    nodes: balancingNodes(
      Object.entries(nodes).map(([name, draft], at) => nodeOf(name, at, draft)),
    ),
    slicesOf: ({ metadata }) => [sliceOf(services[metadata.name ?? '']?.endpoints ?? [])],
    hostPorts,
  })
  return Object.fromEntries(
    plan.map(({ service, ingress, portFaults, fault }) => [
      service.metadata.name,
      [
        ingress.map(({ ip }) => ip?.split('.')[3]).join(' '),
        ...portFaults,
        ...(fault === undefined ? [] : [fault]),
      ].join('; '),
    ]),
  )
}

const pool = 'svccontroller.k3s.cattle.io/lbpool'
const enabled = 'skerry.io/load-balancer'

const table: readonly {
  readonly name: string
  readonly nodes: Record<string, NodeDraft>
  readonly services: Record<string, ServiceDraft>
  readonly expected: Record<string, string>
}[] = [
  {
    name: 'a service has the addresses of all ready nodes',
    nodes: { a: {}, b: {}, c: { ready: false } },
    services: { web: {} },
    expected: { web: '11 12' },
  },
  {
    name: 'a service without a ready node has none',
    nodes: { a: { ready: false } },
    services: { web: {} },
    expected: { web: '; no node is ready for load balancing' },
  },
  {
    name: 'a node that is excluded takes no part',
    nodes: {
      a: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } },
      b: {},
    },
    services: { web: {} },
    expected: { web: '12' },
  },
  {
    name: 'selected nodes alone take part, if there are any',
    nodes: { a: { labels: { [enabled]: 'true' } }, b: { labels: { [enabled]: 'false' } }, c: {} },
    services: { web: {} },
    expected: { web: '11' },
  },
  {
    name: 'a service of a pool is served by its nodes',
    nodes: { a: { labels: { [pool]: 'gate' } }, b: { labels: { [pool]: 'hall' } }, c: {} },
    services: {
      web: { labels: { [pool]: 'hall' } },
      shop: { labels: { [pool]: 'yard' }, ports: ['81/TCP'] },
    },
    expected: { web: '12', shop: `; no node has the label ${pool}=yard` },
  },
  {
    name: 'traffic that stays on its node comes to nodes with a ready endpoint',
    nodes: { a: {}, b: {} },
    services: {
      web: { spec: { externalTrafficPolicy: 'Local' }, endpoints: ['b'] },
      none: { spec: { externalTrafficPolicy: 'Local' }, ports: ['81/TCP'] },
    },
    expected: { web: '12', none: '; no node has a ready endpoint' },
  },
  {
    name: 'the oldest service has a port, and another protocol is another port',
    nodes: { a: {}, b: {} },
    services: {
      old: { ports: ['80/TCP', '443/TCP'] },
      young: { ports: ['443/TCP', '8443/TCP'] },
      quick: { ports: ['443/UDP'] },
    },
    expected: {
      old: '11 12',
      young:
        '; node a: port 443/tcp: service shop/old has it; node b: port 443/tcp: service shop/old has it; its ports are in use on all nodes',
      quick: '11 12',
    },
  },
  {
    name: 'a service that got no port of a node leaves its other ports to others',
    nodes: { a: { used: '22/tcp' } },
    services: { git: { ports: ['22/TCP', '80/TCP'] }, web: {} },
    expected: {
      git: '; node a: port 22/tcp: a program of the node uses it; its ports are in use on all nodes',
      web: '11',
    },
  },
  {
    name: 'a port that a program or a pod of the node has is never taken from it',
    nodes: { a: { used: '80/tcp,9100/tcp' }, b: { pods: { '80/tcp': 'pod shop/proxy' } }, c: {} },
    services: { web: {} },
    expected: {
      web: '13; node a: port 80/tcp: a program of the node uses it; node b: port 80/tcp: pod shop/proxy has it',
    },
  },
  {
    name: 'loadBalancerIP names one node',
    nodes: { a: {}, b: {} },
    services: {
      web: { spec: { loadBalancerIP: '192.168.7.12' } },
      lost: { spec: { loadBalancerIP: '192.168.7.99' }, ports: ['81/TCP'] },
    },
    expected: { web: '12', lost: '; no node has the address 192.168.7.99' },
  },
]

for (const { name, nodes, services, expected } of table) {
  test(name, () => assert.deepEqual(planned(nodes, services), expected))
}
