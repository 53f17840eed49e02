import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster, StepStatus } from '@skerry/provisioning'
import { machineResults, resultLines } from './machine-results.ts'

const step = (name: string, more: Partial<StepStatus>): StepStatus => ({
  name,
  machine: '10.0.0.11',
  state: 'Done',
  ...more,
})

function edgeWith(status: EdgeCluster['status'], metadata = {}): EdgeCluster {
  const credentials = { name: 'ssh' }
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7', ...metadata },
    spec: { machines: [{ addresses: ['10.0.0.[11-12]'], credentials, role: 'Master' }] },
    ...(status === undefined ? {} : { status }),
  }
}

const host = { address: '10.0.0.11', role: 'Master' as const, unknownHostKey: 'SHA256:x' }
const connected = step('Connect', { message: 'root' })
const failed = step('Look', { state: 'Failed', message: 'no disk', findings: ['no disk: buy one'] })
const cases: readonly [string, EdgeCluster['status'], object][] = [
  ['nothing has begun', {}, { state: 'Pending', message: '' }],
  [
    'a step waits',
    { steps: [connected, step('Look', { state: 'Waiting' })] },
    { state: 'Pending', step: 'Look', message: '' },
  ],
  [
    'a step runs',
    { steps: [connected, step('Look', { state: 'Running' })] },
    { state: 'Running', step: 'Look', message: '' },
  ],
  [
    'a step is tried again',
    {
      steps: [
        step('Look', { state: 'Waiting', nextTime: '2026-01-01T00:00:00Z', message: 'lost' }),
      ],
    },
    { state: 'Retrying', step: 'Look', message: 'lost' },
  ],
  [
    'a step failed before others that wait',
    { steps: [connected, failed, step('Install', { state: 'Waiting' })] },
    { state: 'Failed', step: 'Look', message: 'no disk', findings: ['no disk: buy one'] },
  ],
  [
    'nobody has accepted its host key',
    { machines: [host], steps: [step('Connect', { state: 'Failed', message: 'strange' })] },
    { state: 'Waiting', step: 'Connect', message: 'strange' },
  ],
  [
    'a person cancelled it',
    { steps: [step('Look', { state: 'Cancelled' })] },
    { state: 'Cancelled', step: 'Look', message: '' },
  ],
  ['all is done', { steps: [connected], mode: 'Make' }, { state: 'Ready', message: 'root' }],
  [
    'all is checked',
    { steps: [connected, step('Look', { state: 'Skipped' })], mode: 'Check' },
    { state: 'Checked', message: '' },
  ],
]
for (const [what, status, expected] of cases) {
  test(`if ${what}, the machine has one result that says so`, () => {
    const [first, second] = machineResults(edgeWith(status))
    assert.deepEqual(first, { address: '10.0.0.11', role: 'Master', ...expected })
    assert.equal(second?.state, 'Pending')
  })
}

test('a machine of a cluster that goes is clean', () => {
  const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  assert.equal(machineResults(edgeWith({ steps: [connected] }, leaving))[0]?.state, 'Clean')
})

test('each machine has a line, and no machine steers the terminal', () => {
  const machines = [{ address: '10.0.0.11', role: 'Master' as const, node: 'a\u001B[2J' }]
  const lines = resultLines(machineResults(edgeWith({ machines, steps: [failed] })))
  assert.deepEqual(
    lines.map((line) => line.split(/ {3,}/)),
    [
      ['ADDRESS', 'ROLE', 'NODE', 'STATE', 'STEP', 'MESSAGE'],
      ['10.0.0.11', 'Master', 'a [2J', 'Failed', 'Look', 'no disk'],
      ['10.0.0.12', 'Master', '-', 'Pending', '-'],
    ],
  )
})

test('masters and witnesses of a site with an etcd are shown with their members that vote', () => {
  const machines = [
    { address: '10.0.0.11', role: 'Master' as const, node: 'a', member: 'm\u001B1' },
  ]
  const lines = resultLines(machineResults(edgeWith({ machines, steps: [connected] })))
  assert.deepEqual(
    lines.map((line) => line.split(/ {3,}/)),
    [
      ['ADDRESS', 'ROLE', 'NODE', 'MEMBER', 'STATE', 'STEP', 'MESSAGE'],
      ['10.0.0.11', 'Master', 'a', 'm 1', 'Ready', '-', 'root'],
      ['10.0.0.12', 'Master', '-', '-', 'Pending', '-'],
    ],
  )
})
