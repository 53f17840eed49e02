import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster } from '@skerry/provisioning'
import { describeLines } from './edge-cluster-text.ts'

const digest = (digits: string): string => `sha256:${digits.repeat(32)}`
const steps = [{ name: 'ClaimName', state: 'Done' as const }]

function edge(spec: EdgeCluster['spec'], status: EdgeCluster['status'] = { steps }): EdgeCluster {
  const metadata = { name: 'branch-8', namespace: 'default' }
  return { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster', metadata, spec, status }
}

test('a cluster that is imported is shown with its steps, and without tables of machines', () => {
  const lines = describeLines(edge({ machines: [], import: {} }), 0)
  assert.ok(lines.some((line) => line.startsWith('ClaimName')))
  assert.ok(!lines.some((line) => line.startsWith('ADDRESS')))
})

test('the package is shown that machines have: the one of the object, or of a later job', () => {
  const machines = [{ addresses: ['10.0.0.11'], credentials: { name: 'ssh' } }]
  const own = { digest: digest('0a'), publicKey: '' }
  const shown = (status: EdgeCluster['status']): string | undefined =>
    describeLines(edge({ machines, package: own }, status), 0).find((line) =>
      line.startsWith('Package:'),
    )
  assert.match(shown({ steps }) ?? '', new RegExp(digest('0a')))
  const taken = { digest: digest('0b'), publicKey: '' }
  assert.match(shown({ steps, package: taken }) ?? '', new RegExp(digest('0b')))
})
