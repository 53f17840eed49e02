import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkPolicy } from '@skerry/api'
import { namespace, peer, policy } from '../testing/policy-objects.ts'
import type { PodPeer } from './pod-peer.ts'
import { planPolicies, type IsolatedPod } from './policy-plan.ts'

const namespaces = [namespace('shop', { team: 'shop' }), namespace('bank', { team: 'bank' })]
const web = peer('shop/web', '10.42.0.2', { labels: { app: 'web' }, ports: { http: 8080 } })
const front = peer('shop/front', '10.42.0.3', { labels: { app: 'front' } })
const till = peer('bank/till', '10.42.1.4', {
  labels: { app: 'web' },
  node: 'b',
  ports: { http: 9090 },
})
const agent = peer('shop/agent', '192.0.2.1', { labels: { app: 'web' }, hostNetwork: true })
const ended = peer('shop/ended', '10.42.0.9', { labels: { app: 'web' }, phase: 'Succeeded' })
const onlyWeb = { matchLabels: { app: 'web' } }

function plan(policies: NetworkPolicy[], pods: PodPeer[] = [web, front, till, agent, ended]) {
  return planPolicies({ policies, namespaces, pods }, 'a')
}

function directions(found: readonly IsolatedPod[]): string[] {
  return found.map(({ address, direction }) => `${address} ${direction}`)
}

const anything = { peers: undefined, ports: undefined }
const typeCases: readonly { name: string; spec: NetworkPolicy['spec']; isolated: string[] }[] = [
  { name: 'no types: ingress', spec: { podSelector: onlyWeb }, isolated: ['10.42.0.2 ingress'] },
  {
    name: 'no types, rules of egress: both',
    spec: { podSelector: onlyWeb, egress: [{}] },
    isolated: ['10.42.0.2 egress', '10.42.0.2 ingress'],
  },
  {
    name: 'the empty selector: every pod of the namespace but those in the network of the node',
    spec: { podSelector: {}, policyTypes: ['Egress'] },
    isolated: ['10.42.0.2 egress', '10.42.0.3 egress'],
  },
]
for (const { name, spec, isolated } of typeCases) {
  test(`a policy isolates: ${name}`, () => {
    assert.deepEqual(directions(plan([policy('shop/a', spec)])), isolated)
  })
}

const peerCases: readonly {
  name: string
  peer: NonNullable<NonNullable<NonNullable<NetworkPolicy['spec']>['ingress']>[0]['from']>[0]
  addresses: string[]
}[] = [
  {
    name: 'pods of its namespace',
    peer: { podSelector: {} },
    addresses: ['10.42.0.2', '10.42.0.3'],
  },
  {
    name: 'all pods of namespaces',
    peer: { namespaceSelector: { matchLabels: { team: 'bank' } } },
    addresses: ['10.42.1.4'],
  },
  {
    name: 'both selectors together',
    peer: { namespaceSelector: {}, podSelector: onlyWeb },
    addresses: ['10.42.0.2', '10.42.1.4'],
  },
  { name: 'nobody', peer: { podSelector: { matchLabels: { app: 'none' } } }, addresses: [] },
  { name: 'a block of IPv6', peer: { ipBlock: { cidr: '2001:db8::/32' } }, addresses: [] },
]
for (const { name, peer, addresses } of peerCases) {
  test(`a rule lets in: ${name}`, () => {
    const [found] = plan([policy('shop/a', { podSelector: onlyWeb, ingress: [{ from: [peer] }] })])
    assert.deepEqual(found?.allowed, [{ peers: [{ addresses, except: [] }], ports: undefined }])
  })
}

test('ports are numbers, ranges, names and whole protocols', () => {
  const ports = [
    { port: 80, endPort: 90 },
    { port: 'http' },
    { port: 'none' },
    { protocol: 'SCTP' },
    { protocol: 'UDP', port: 53 },
  ]
  const [found] = plan([policy('shop/a', { podSelector: onlyWeb, ingress: [{ ports }] })])
  assert.deepEqual(found?.allowed[0]?.ports, [
    { protocol: 'tcp', ports: ['80-90'], addresses: undefined },
    { protocol: 'tcp', ports: ['8080'], addresses: undefined },
    { protocol: 'tcp', ports: [], addresses: undefined },
    { protocol: 'sctp', ports: undefined, addresses: undefined },
    { protocol: 'udp', ports: ['53'], addresses: undefined },
  ])
})

test('a named port of egress is that of each peer', () => {
  const egress = [{ ports: [{ port: 'http' }] }]
  const spec = { podSelector: onlyWeb, policyTypes: ['Egress'], egress }
  const [found] = plan([policy('shop/a', spec)])
  assert.deepEqual(found?.allowed[0]?.ports, [
    { protocol: 'tcp', ports: ['8080'], addresses: ['10.42.0.2'] },
    { protocol: 'tcp', ports: ['9090'], addresses: ['10.42.1.4'] },
  ])
})

test('policies of one pod add up; another namespace has no say', () => {
  const found = plan([
    policy('shop/deny', { podSelector: {} }),
    policy('shop/open', { podSelector: onlyWeb, ingress: [{}] }),
    policy('bank/deny', { podSelector: {} }),
  ])
  assert.deepEqual(found, [
    { address: '10.42.0.2', direction: 'ingress', allowed: [anything] },
    { address: '10.42.0.3', direction: 'ingress', allowed: [] },
  ])
})
