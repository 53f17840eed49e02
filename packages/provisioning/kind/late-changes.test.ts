import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster, EdgeClusterSpec } from './edge-cluster.ts'
import { lateChangeTexts } from './late-changes.ts'

const machines = [
  { addresses: ['10.0.0.1'], role: 'Master' as const, credentials: { name: 'ssh' } },
]

function edgeOf(spec: Partial<EdgeClusterSpec>, isMade: boolean): EdgeCluster {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7' },
    spec: { machines, ...spec },
    status: { machines: [{ address: '10.0.0.1', role: 'Master', isMade }] },
  }
}

const hooks = [{ when: 'AfterInstall' as const, configMap: 'hooks', key: 'script' }]
const late: readonly (readonly [Partial<EdgeClusterSpec>, RegExp])[] = [
  [{ hooks }, /^spec\.hooks: machines that are made do not get the change: .*edge-cluster retry/],
  [{ version: '0.2.0' }, /^spec\.version: .*EdgeJob/],
  [{ hubServer: 'https://hub:7443' }, /^spec\.hubServer: /],
  [{ networkInterface: 'eth1' }, /^spec\.networkInterface: /],
]

for (const [spec, text] of late) {
  const [field = ''] = Object.keys(spec)
  test(`a change of ${field} is answered with a warning once a machine is made`, () => {
    const [warning, ...others] = lateChangeTexts(edgeOf(spec, true), edgeOf({}, true))
    assert.match(warning ?? '', text)
    assert.deepEqual(others, [])
    assert.deepEqual(lateChangeTexts(edgeOf(spec, false), edgeOf({}, false)), [])
    assert.deepEqual(lateChangeTexts(edgeOf(spec, true), edgeOf(spec, true)), [])
  })
}

test('fields that reach machines that are made are changed without a warning', () => {
  const next = edgeOf({ apiNames: ['api.example'], files: [], displayName: 'Branch 7' }, true)
  assert.deepEqual(lateChangeTexts(next, edgeOf({}, true)), [])
})
