import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinedNodes, type NodeObject } from './joined-nodes.ts'

function node(name: string, creationTimestamp: string, isReady: boolean): NodeObject {
  return {
    metadata: { name, creationTimestamp },
    status: {
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      addresses: [
        { type: 'Hostname', address: name },
        { type: 'InternalIP', address: '10.0.0.3' },
      ],
    },
  }
}

test('only nodes that came since are listed, the newest first, with their state', () => {
  const nodes = [
    node('edge-01', '2026-01-01T00:00:00Z', true),
    node('edge-02', '2026-01-02T00:00:01Z', true),
    node('edge-03', '2026-01-02T00:00:05Z', false),
  ]
  const found = joinedNodes(nodes, Date.parse('2026-01-02T00:00:01.700Z'))
  assert.deepEqual(
    found.map(({ name, isReady, address }) => [name, isReady, address]),
    [
      ['edge-03', false, '10.0.0.3'],
      ['edge-02', true, '10.0.0.3'],
    ],
  )
})
