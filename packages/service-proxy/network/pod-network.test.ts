import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@skerry/api'
import { overlayMacOf, planPodNetwork } from './pod-network.ts'

const options = { ownName: 'own', clusterCidr: '10.42.0.0/16' }

function node(name: string, address?: string, podCIDR?: string, createdAt?: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, creationTimestamp: createdAt },
    spec: { podCIDR },
    status: { addresses: address === undefined ? [] : [{ type: 'InternalIP', address }] },
  }
}

test('a neighbour is routed directly, a node behind a router through the overlay, an unready one not at all', () => {
  const nodes = [
    node('own', '10.0.0.1', '10.42.0.0/24'),
    node('near', '10.0.0.2', '10.42.1.0/24'),
    node('far', '10.9.0.3', '10.42.2.0/24'),
    node('without-range', '10.0.0.4'),
    node('without-address', undefined, '10.42.3.0/24'),
  ]
  const plan = planPodNetwork(nodes, options, (address) => address.startsWith('10.0.'))
  assert.deepEqual(plan, {
    needsOverlay: true,
    refused: [],
    routes: [
      { podCidr: '10.42.1.0/24', nodeAddress: '10.0.0.2', via: 'host-gw' },
      { podCidr: '10.42.2.0/24', nodeAddress: '10.9.0.3', via: 'vxlan' },
    ],
  })
})

test('a node draws no traffic to itself by claiming a range', () => {
  const old = '2026-01-01T00:00:00Z'
  const young = '2026-02-01T00:00:00Z'
  const at = '10.0.0.66'
  const nodes = [
    node('own', '10.0.0.1', '10.42.0.0/24', young),
    node('near', '10.0.0.2', '10.42.1.0/24', old),
    node('everything', at, '0.0.0.0/0', old),
    node('api-server', at, '192.168.1.10/32', old),
    node('wider', at, '10.0.0.0/8', old),
    node('near-again', at, '10.42.1.0/24', young),
    node('part-of-near', at, '10.42.1.128/25', young),
    node('part-of-own', at, '10.42.0.7/32', old),
    node('around', at, '10.42.0.0/23', old),
    node('other-family', at, 'fd00::/64', old),
    node('nowhere', 'not-an-address', '10.42.9.0/24', old),
  ]
  const { routes, refused } = planPodNetwork(nodes, options, () => true)
  assert.deepEqual(routes, [{ podCidr: '10.42.1.0/24', nodeAddress: '10.0.0.2', via: 'host-gw' }])
  const names = refused.map((each) => each.node).toSorted()
  const foreign = ['api-server', 'everything', 'other-family', 'wider']
  assert.deepEqual(
    names,
    [...foreign, 'around', 'near-again', 'part-of-near', 'part-of-own'].toSorted(),
  )
  const reasons = refused.filter((each) => foreign.includes(each.node)).map((each) => each.reason)
  assert.deepEqual(new Set(reasons), new Set(['it is not within 10.42.0.0/16']))
})

test('two nodes never share an overlay address', () => {
  assert.equal(overlayMacOf('10.0.0.1'), '02:73:0a:00:00:01')
  assert.notEqual(overlayMacOf('10.0.1.0'), overlayMacOf('10.0.0.1'))
})
