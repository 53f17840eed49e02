import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@skerry/api'
import { overlayMacOf, planPodNetwork } from './pod-network.ts'

function node(name: string, address?: string, podCIDR?: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
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
  const plan = planPodNetwork(nodes, 'own', (address) => address.startsWith('10.0.'))
  assert.deepEqual(plan, {
    needsOverlay: true,
    routes: [
      { podCidr: '10.42.1.0/24', nodeAddress: '10.0.0.2', via: 'host-gw' },
      { podCidr: '10.42.2.0/24', nodeAddress: '10.9.0.3', via: 'vxlan' },
    ],
  })
})

test('two nodes never share an overlay address', () => {
  assert.equal(overlayMacOf('10.0.0.1'), '02:73:0a:00:00:01')
  assert.notEqual(overlayMacOf('10.0.1.0'), overlayMacOf('10.0.0.1'))
})
