import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster } from './edge-cluster.ts'
import type { EdgeJobSpec } from './edge-job.ts'
import { targetsOf } from './job-targets.ts'

const credentials = { name: 'ssh' }
const edge: EdgeCluster = {
  apiVersion: 'hub.skerry.io/v1alpha1',
  kind: 'EdgeCluster',
  metadata: { name: 'branch-7' },
  spec: {
    machines: [
      { addresses: ['node-a'], credentials, labels: { tier: 'front', shop: '7' } },
      { addresses: ['node-b'], credentials, labels: { tier: 'back' } },
      { addresses: ['master'], credentials, role: 'Master', labels: { tier: 'front' } },
      { addresses: ['witness'], credentials, role: 'Witness' },
    ],
  },
}

const upgrade = { version: '0.2.0' }
const front = { matchLabels: { tier: 'front' } }
const choices: readonly (readonly [what: string, Partial<EdgeJobSpec>, readonly string[]])[] = [
  ['no machines', { upgrade }, ['master', 'node-a', 'node-b']],
  ['a role', { upgrade, machines: { role: 'Node' } }, ['node-a', 'node-b']],
  ['addresses', { upgrade, machines: { addresses: ['node-b', 'witness'] } }, ['node-b']],
  ['labels', { upgrade, machines: { labelSelector: front } }, ['master', 'node-a']],
  ['labels and a role', { upgrade, machines: { labelSelector: front, role: 'Node' } }, ['node-a']],
  ['options of a site', { configure: { site: {} } }, ['master']],
]
for (const [what, spec, expected] of choices) {
  test(`a job that names ${what} is about ${expected.join(', ')}`, () => {
    const targets = targetsOf(edge, { clusters: { names: ['branch-7'] }, ...spec })
    assert.deepEqual(
      targets.map(({ address }) => address),
      expected,
    )
  })
}
