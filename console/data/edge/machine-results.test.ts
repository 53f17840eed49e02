import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeClusterObject, EdgeStep } from './edge-cluster.ts'
import { machineResults } from './machine-results.ts'

const step = (
  machine: string,
  state: EdgeStep['state'],
  more: Partial<EdgeStep> = {},
): EdgeStep => ({
  name: 'Preflight',
  machine,
  state,
  ...more,
})

test('each machine has one result, and those that need a person come first', () => {
  const edge: EdgeClusterObject = {
    metadata: { name: 'a', namespace: 'default' },
    spec: { machines: [{ addresses: ['10.0.0.[1-5]'], credentials: { name: 's' } }] },
    status: {
      machines: [
        { address: '10.0.0.1', role: 'Master', node: 'one' },
        { address: '10.0.0.2', role: 'Node' },
        { address: '10.0.0.3', role: 'Node', unknownHostKey: 'SHA256:x' },
        { address: '10.0.0.4', role: 'Node' },
        { address: '10.0.0.5', role: 'Node' },
        { address: '10.0.0.9', role: 'Node' },
      ],
      steps: [
        step('10.0.0.1', 'Done', { message: 'made' }),
        step('10.0.0.2', 'Failed', { message: 'no room' }),
        step('10.0.0.2', 'Waiting'),
        step('10.0.0.3', 'Failed', { message: 'shows a key' }),
        step('10.0.0.4', 'Waiting', { nextTime: '2026-01-01T00:00:00Z' }),
        step('10.0.0.9', 'Running'),
      ],
    },
  }
  assert.deepEqual(
    machineResults(edge).map(({ address, state, message, isLeaving }) => [
      address,
      state,
      message,
      isLeaving,
    ]),
    [
      ['10.0.0.2', 'Failed', 'no room', false],
      ['10.0.0.3', 'Waiting', 'shows a key', false],
      ['10.0.0.4', 'Retrying', '', false],
      ['10.0.0.9', 'Running', '', true],
      ['10.0.0.5', 'Pending', '', false],
      ['10.0.0.1', 'Done', 'made', false],
    ],
  )
})
